#pragma once

#include <gtest/gtest.h>

#include <string>

#include "../../core/instruction_set.hpp"

namespace tandem {

/// Calls body with each set of instructions that kernels are compiled for and this processor has.
template <class Body>
void with_each_instruction_set(const Body& body) {
  const std::string before = instruction_set();
  for (const std::string& name : instruction_sets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, name);
    use_instruction_set(name);
    body();
  }
  use_instruction_set(before);
}

}  // namespace tandem
