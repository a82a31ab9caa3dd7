#pragma once

#include <string>
#include <vector>

#include "../plan/recipe.hpp"

namespace tandem::pipeline {

/// Bytes that this process holds when nothing is read yet, and what libraries take later on.
double held_with_libraries(bool on_gpus);

/// Bytes that this process may hold in all, by the recipe or by what the machine has to spare.
double host_budget(const Recipe& recipe);
/// Bytes that every one of the GPUs among the devices can give; without a GPU, the host.
double device_budget(const std::vector<Device>& devices, const Recipe& recipe);

/// "1.25 GiB"
std::string in_gib(double bytes);

}  // namespace tandem::pipeline
