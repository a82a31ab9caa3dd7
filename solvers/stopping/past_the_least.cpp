#include "past_the_least.hpp"

#include <memory>
#include <utility>

namespace tandem {

/// Makes the rule. It keeps the last iteration and its numbers.
StopRule past_the_least(std::string name, std::function<std::vector<double>(const Progress&)> measure) {
  const auto kept = std::make_shared<std::vector<double>>();
  const auto holds = [measure = std::move(measure), kept, before = std::make_shared<std::vector<double>>()](
                         const Progress& now, std::size_t block) {
    if (kept->empty() || kept->front() != now.iteration) {
      std::vector<double> numbers = measure(now);
      numbers.insert(numbers.begin(), now.iteration);
      *before = std::exchange(*kept, std::move(numbers));
    }
    return !before->empty() && (*kept)[block + 1] > (*before)[block + 1];
  };
  return {std::move(name), holds, {}, kept};
}

}  // namespace tandem
