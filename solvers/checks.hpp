#pragma once

#include <span>
#include <string>

#include "../core/array.hpp"

namespace tandem {

// Checks of the numbers that solvers get, before they begin.

/// @throws GeometryError if an element is negative or not finite. `scratch` has the space of `data`.
void require_none_negative(const Array& data, Array& scratch, const std::string& what, Stream& stream);

/// Checks weights of a regulariser. @throws SpaceError unless there is one, or one for each block;
/// GeometryError if one is negative or not finite
void require_weights(std::span<const float> weights, Index blocks, const std::string& solver);

/// @throws GeometryError unless 0 < relaxation < 2
void require_relaxation(float relaxation, const std::string& solver);

}  // namespace tandem
