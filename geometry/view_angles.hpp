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

/// The weight of each view in an integral over an arc: half the gap to its two neighbours modulo that arc, in
/// rad. They sum to the arc; a repeated end view shares the weight of its twin.
std::vector<double> view_weights(std::span<const double> angles, double arc = half_turn);

/// The widest gap between views modulo an arc, in rad.
double widest_gap(std::span<const double> angles, double arc = half_turn);

/// The angles of some of the views. @throws GeometryError for an empty range, or one that reaches outside
std::vector<double> crop(const std::vector<double>& angles, Range views);

/// @throws GeometryError, which begins with `scan`, where there are no views, or an angle is not finite.
void validate_angles(std::string_view scan, const std::vector<double>& angles);

}  // namespace tandem
