#pragma once

#include <set>
#include <string>

namespace tandem::kernels {

/// Notes the name of a kernel that is launched. Every table lists the `names` of its kernels, so that a check
/// can tell which of them it has not reached. If the size of a problem chooses between forms of a kernel,
/// each form has its own name. All threads share one list.
void note_launch(const std::string& kernel);
std::set<std::string> launched();  ///< the names noted since the last `forget_launches`
void forget_launches();

}  // namespace tandem::kernels
