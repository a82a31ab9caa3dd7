#pragma once

#include "../../core/instruction_set.hpp"

/// The function, compiled for the set of instructions that was chosen (core/instruction_set.hpp).
#define TANDEM_DISPATCH(function) (choose_instruction_set(), HWY_DYNAMIC_DISPATCH(function))
