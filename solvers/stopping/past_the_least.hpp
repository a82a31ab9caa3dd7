#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../run.hpp"

namespace tandem {

/// A rule that holds a step after the measure, one number a block, has been least for the first time.
StopRule past_the_least(std::string name, std::function<std::vector<double>(const Progress&)> measure);

}  // namespace tandem
