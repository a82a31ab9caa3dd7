#pragma once

#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../core/space.hpp"

namespace TANDEM_PUBLIC tandem {

/// Arcs, in rad.
constexpr double half_turn = std::numbers::pi, whole_turn = 2 * half_turn;

/// The weight of each view in an integral over a circle of angles, rad: half the gap to its two neighbours,
/// modulo the period. Views at one angle, as the first and the last of a whole turn, share their weight. All
/// weights together are the period, unless views leave more than a sixth of it open.
///
/// A gap is a hole if it is wider than 15 degrees and 3.5 of the usual steps (their median). The views at a
/// hole weigh their own steps. A hole of up to a sixth of the period is shared among the views up to two
/// widths beside it, the more the nearer; no view stands for what lies in a wider one. So no weight is many
/// times its neighbours'. These limits were chosen by measurement (docs/kernels.md).
std::vector<double> view_weights(std::span<const double> angles, double period = half_turn);

/// The widest gap between neighbouring views, modulo a period, rad.
double widest_gap(std::span<const double> angles, double period = half_turn);

/// Whether views go all round: they leave no more than a sixth of the turn open, or are few in equal steps.
bool all_round(std::span<const double> angles);

/// Whether angles look like radians that were taken for degrees: with the step behind the last one they fill
/// half a turn or a turn of radians, 3.14 or 6.28 degrees.
bool look_like_radians(std::span<const double> angles);

/// The places of angles in their order modulo a period; equal ones keep their order.
std::vector<Index> order_of_angles(std::span<const double> angles, double period);

/// The numbers of some views, in their order: all[views[0]], all[views[1]], ...
std::vector<double> chosen(const std::vector<double>& all, std::span<const Index> views);

/// The angles of a range of views. @throws GeometryError if the range is empty or reaches outside
std::vector<double> crop(const std::vector<double>& angles, Range views);

/// @throws GeometryError if there are no views or an angle is not finite; its text begins with `scan`.
void validate_angles(std::string_view scan, const std::vector<double>& angles);

}  // namespace tandem
