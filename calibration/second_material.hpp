#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../counts/hardening_polynomial.hpp"
#include "hardening.hpp"

namespace tandem::calibration {

/// What the projections tell about a second, denser material in a hardened beam. Let g be the line integral
/// that the curve of b corrects for the main material, and s that of the dense voxels of a first volume. Then
/// p = g + d1 g s + d2 s^2, with d1 and d2 from 0 on.
struct SecondMaterial {
  std::string_view why_not{"is not looked for"};  ///< a few words; empty: it is told
  double b = 1;                                   ///< as in `Hardening`, but beside a second material
  pipeline::DenserMaterial denser{};
  /// `ViewMoments::misfit`: as measured, with the best curve of one material, with two materials, and what
  /// noise alone makes of it.
  double before = 0, one = 0, two = 0, noise = 0;
  bool drifts = false;               ///< whether the beam does: the rest holds once air is level in all views
  double largest_share = 0;          ///< share of s that is added in rays through most of what is dense
  double scale_uncertainty = 0;      ///< as in `Hardening`
  std::vector<double> polynomial{};  ///< the correction for the main material
  double straight_from = 0;          ///< the line integral from which on it goes on as a straight line

  bool is_told() const { return why_not.empty(); }
};

/// Finds b, d1 and d2 where the moments of the projections agree best: for each b, d1 and d2 by least
/// squares. `lines` are line integrals (view, row, bin) of `rows_for_hardening`, and `dense` those of the
/// dense voxels alone, by the projector of the scan, in the same rays. `one` is what `find_hardening` found
/// in `lines`. Method and limits: calibration/README.md.
SecondMaterial find_second_material(std::span<const float> lines, std::span<const float> dense,
                                    const Scan& scan, Index rows, const Hardening& one,
                                    LinesOf made_of = LinesOf::cells);

/// A few words on what speaks against what was found; empty: nothing. `largest` is the largest line integral.
std::string_view what_speaks_against(const SecondMaterial& found, double largest);

}  // namespace tandem::calibration
