#pragma once

#include <span>
#include <string>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

// What solvers ask of their numbers, before they begin.

/// @throws GeometryError if an element is negative or not finite. `scratch` is of its space.
void require_none_negative(const Array& data, Array& scratch, const std::string& what, Stream& stream);

/// Weights of a regulariser. @throws SpaceError unless there is one, or one for each block; GeometryError if
/// one is negative or not finite
void require_weights(std::span<const float> weights, Index blocks, const std::string& solver);

}  // namespace tandem
