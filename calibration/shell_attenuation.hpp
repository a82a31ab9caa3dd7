#pragma once

#include <optional>
#include <vector>

#include "../geometry/beams/flexible.hpp"
#include "../geometry/disc.hpp"

namespace tandem::calibration {

/// The attenuation of a shell, from rays that run within it.
struct ShellAttenuation {
  double value = 0;  ///< 1/mm, or 1/bin
  double doubt = 0;  ///< the share of it by which an edge that errs changes it
  Index rays = 0;
  std::optional<double>
      change{};  ///< its ratio to that of rays in the outer half, if enough of them run there
};

/// Line integrals (view, row, bin) of some rows over the chords of a cylinder: the median over rays that run
/// within the shell, in its inner half, where edges are far and chords long. Rows that the object does not
/// reach do not count. @throws GeometryError if too few rays run there, or if they have no attenuation
ShellAttenuation attenuation_of_shell(const std::vector<float>& lines, const FlexibleBeam& scan,
                                      const std::vector<Index>& rows, const Disc& disc, double shell);

}  // namespace tandem::calibration
