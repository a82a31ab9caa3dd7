#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../core/parallel.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "../pipeline/methods/method.hpp"

namespace tandem::bench {

/// An array of numbers that are uniform in [-0.3, 0.7), as in other measurements of this kind.
inline Array input(const Space& space) {
  const Random random(7);
  Array a(space.on(Device::cpu()));
  constexpr Index piece = 1 << 16;
  parallel_for((a.size() + piece - 1) / piece, [&](Index p) {
    Random own = random.at(p);
    for (Index i = p * piece; i < std::min(a.size(), (p + 1) * piece); ++i)
      a.data()[i] = static_cast<float>(own.uniform()) - 0.3f;
  });
  return on_device(std::move(a), space.device());
}

/// The methods that iterate, or those of them with these names.
inline std::vector<const tandem::pipeline::Method*> methods_to_time(const std::vector<std::string>& names) {
  std::vector<const tandem::pipeline::Method*> chosen;
  for (const tandem::pipeline::Method& method : tandem::pipeline::methods())
    if (method.iterates() && (names.empty() || std::ranges::count(names, method.name)))
      chosen.push_back(&method);
  return chosen;
}

/// A copy of the data for this method, clamped at zero if the method cannot take negative data.
inline Array data_for(const tandem::pipeline::Method& method, const Array& data) {
  Array own = data.clone();
  if (method.kind.only_positive) clamp_below(own, 0, default_stream(own.space().device()));
  return own;
}

}  // namespace tandem::bench
