#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../plan/recipe.hpp"

namespace tandem::pipeline {

/// The bytes that this process holds before anything is read, with what libraries take later.
double held_with_libraries(bool on_gpus);

/// The bytes that this process may hold in all: those of the recipe, or what the machine has to spare.
double host_budget(const Recipe& recipe);
/// The bytes that each GPU among the devices can give; those of the host, if there is no GPU.
double device_budget(const std::vector<Device>& devices, const Recipe& recipe);

/// The bytes in words, such as "1.25 GiB".
std::string in_gib(double bytes);

}  // namespace tandem::pipeline
