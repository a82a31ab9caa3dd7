#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../run.hpp"

namespace tandem {

/// A rule that holds one step after the first minimum of a measure, which has one number per block.
StopRule past_the_least(std::string name, std::function<std::vector<double>(const Progress&)> measure);

}  // namespace tandem
