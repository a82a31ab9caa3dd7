#pragma once

#include <set>
#include <string>

namespace tandem::kernels {

/// What ran, by name: whoever launches a kernel says so, and every table lists the `names` of its own, so
/// that a check can tell which of them it has not reached. Variants of a kernel have names of their own where
/// the sizes of a problem choose between them. For all threads.
void note_launch(const std::string& kernel);
std::set<std::string> launched();  ///< since the last `forget_launches`
void forget_launches();

}  // namespace tandem::kernels
