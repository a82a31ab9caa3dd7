#include "identity.hpp"

#include <algorithm>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"

namespace tandem::io {

namespace {

std::string shortened(const std::string& text) {
  constexpr std::size_t most = 120;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

}  // namespace

std::string different_making(const std::string& one, const std::string& other) {
  if (one == other || one.empty() || other.empty()) return "";
  return "it is of another scan, or was made with other options (" + other + ", not " + one + ")";
}

void require_same(const Identity& then, const Identity& now, const std::string& where) {
  const auto value_in = [](const Identity& all, const std::string& name) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
    return found == all.end() ? std::string("not given") : found->second;
  };
  for (const Identity& names : {now, then})
    for (const auto& [name, unused] : names)
      require<FileError>(
          value_in(then, name) == value_in(now, name), where, ": " + spelled("resume") + ": ", name, " is ",
          shortened(value_in(now, name)), ", and was ", shortened(value_in(then, name)),
          " in the killed run; give the same again, or leave out " + spelled("resume") + " to begin anew");
}

}  // namespace tandem::io
