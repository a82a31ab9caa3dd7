#pragma once

#include <string>

#include "plan.hpp"

namespace tandem::pipeline {

/// The kernels that a job needs and no GPU has: "projector for a curved detector". Empty: GPUs have all.
std::string lacking_on_gpus(const Job& job, const Recipe& recipe);

}  // namespace tandem::pipeline
