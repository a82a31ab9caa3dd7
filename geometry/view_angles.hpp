#pragma once

#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../core/range.hpp"

namespace TANDEM_PUBLIC tandem {

/// Arcs, in rad.
constexpr double half_turn = std::numbers::pi, whole_turn = 2 * half_turn;

/// The weight of each view in an integral over an arc, in rad: half the gap to its two neighbours, modulo
/// that arc. The weights sum to the arc. If the first view is repeated at the end, the two share its weight.
std::vector<double> view_weights(std::span<const double> angles, double arc = half_turn);

/// The widest gap between neighbouring views, modulo an arc, in rad.
double widest_gap(std::span<const double> angles, double arc = half_turn);

/// The angles of a range of views. @throws GeometryError if the range is empty or reaches outside
std::vector<double> crop(const std::vector<double>& angles, Range views);

/// @throws GeometryError if there are no views or an angle is not finite; its text begins with `scan`.
void validate_angles(std::string_view scan, const std::vector<double>& angles);

}  // namespace tandem
