#pragma once

#include <span>

#include "../core/space.hpp"

namespace tandem::calibration {

/// The attenuation of a round body with these line integrals (line, bin), 1/mm; the bins are `bin_mm` wide at
/// the axis. The squares of its line integrals are a parabola, p^2 = 4 mu^2 (R^2 - s^2), wherever its centre
/// lies, so a part of the body is enough. The median over lines bears holes and dense parts. If most lines
/// bend the other way, it is the attenuation of a disc as wide as the lines that has their mean; at most 0 if
/// this is. Lines of air do not count.
double attenuation_of_round(std::span<const float> line_integrals, Index bins, double bin_mm);

}  // namespace tandem::calibration
