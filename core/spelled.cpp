#include "spelled.hpp"

#include <algorithm>
#include <atomic>

namespace tandem {

namespace {

std::atomic<Spelling> written_with{Spelling::dashes};

}  // namespace

void spell_options_with(Spelling spelling) { written_with = spelling; }

std::string spelled(std::string_view option) {
  std::string name(option);
  if (written_with == Spelling::dashes) return "--" + name;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string with_spelled(std::string_view text) {
  std::string all;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
    const std::size_t close = std::min(text.find('}', open), text.size());
    all += std::string(text.substr(0, open)) + spelled(text.substr(open + 1, close - open - 1));
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  return all + std::string(text);
}

}  // namespace tandem
