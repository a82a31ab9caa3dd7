#pragma once

#include <span>
#include <string>

namespace tandem::pipeline {

/// Why the axis is hard to find, if that lies in the angles of the views, rad, and what may help: "choose
/// other rows" only where there are `others`. `turn`: that of which views must fill more than the most to
/// tell an axis, half a turn of a parallel beam, or, of a fan, more than half of a whole one.
std::string axis_advice(std::span<const double> angles, double turn, bool others);

}  // namespace tandem::pipeline
