#pragma once

#include <utility>

#include "../core/array.hpp"
#include "../core/public.hpp"
#include "../core/random.hpp"

namespace TANDEM_PUBLIC tandem {

/// An array whose entries are drawn one after another on the host and then copied to the device of the space.
template <class Draw>
Array drawn_array(const Space& space, const Draw& draw) {
  Array a(space.on(Device::cpu()), default_stream(Device::cpu()));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = draw();
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
