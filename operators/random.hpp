#pragma once

#include <utility>

#include "../core/array.hpp"
#include "../core/public.hpp"
#include "../core/random.hpp"

namespace TANDEM_PUBLIC tandem {

/// Draws the entries of a vector one after another. For a portion it draws the entries of all ranks, and
/// keeps its own. Returns the end of the entries.
template <class Draw>
float* draw_entries(const Space& space, const Draw& draw, float* to) {
  if (space.parts() > 1) {
    for (int i = 0; i < space.parts(); ++i) to = draw_entries(space.part(i), draw, to);
    return to;
  }
  const Index bins = space.shape()[2], own_lines = space.size() / bins, lines = space.whole().size() / bins;
  for (Index line = 0, own = 0; line < lines; ++line) {
    const bool is_own = own < own_lines && space.line_in_whole(own) == line;
    for (Index bin = 0; bin < bins; ++bin) {
      const float value = draw();
      if (is_own) *to++ = value;
    }
    own += is_own;
  }
  return to;
}

/// An array whose entries are drawn one after another on the host and then copied to the device of the space.
template <class Draw>
Array drawn_array(const Space& space, const Draw& draw) {
  Array a(space.on(Device::cpu()), default_stream(Device::cpu()));
  draw_entries(space, draw, a.data());
  return on_device(std::move(a), space.device());
}

/// An array of independent entries, uniform in [0, 1].
inline Array uniform_array(const Space& space, Random& random) {
  return drawn_array(space, [&] { return static_cast<float>(random.uniform()); });
}

/// An array of independent entries, -1 or 1.
inline Array sign_array(const Space& space, Random& random) {
  return drawn_array(space, [&] { return random.bits() >> 63 ? 1.0f : -1.0f; });
}

/// Fills x with entries -1 or 1 that are the same in every block, so that a result for one block does not
/// depend on the other blocks.
void fill_with_signs(VectorView x, std::uint64_t seed, Stream& stream);

}  // namespace tandem
