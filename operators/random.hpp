#pragma once

#include <utility>

#include "../core/array.hpp"
#include "../core/public.hpp"
#include "../core/random.hpp"

namespace TANDEM_PUBLIC tandem {

/// Entries drawn one after another on the host, then put where the space is.
template <class Draw>
Array drawn_array(const Space& space, const Draw& draw) {
  Array a(space.on(Device::cpu()), default_stream(Device::cpu()));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = draw();
  return space.device().is_cuda() ? on_device(a, space.device()) : std::move(a);
}

/// Entries in [0, 1], independent and uniform.
inline Array uniform_array(const Space& space, Random& random) {
  return drawn_array(space, [&] { return static_cast<float>(random.uniform()); });
}

/// Entries -1 or 1, independent.
inline Array sign_array(const Space& space, Random& random) {
  return drawn_array(space, [&] { return random.bits() >> 63 ? 1.0f : -1.0f; });
}

/// Fills x with the same, alike in every block: what they say of a block does not depend on the others.
void fill_with_signs(VectorView x, std::uint64_t seed, Stream& stream);

}  // namespace tandem
