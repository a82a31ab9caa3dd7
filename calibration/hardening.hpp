#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../geometry/scan.hpp"
#include "whole_turn.hpp"

namespace tandem::calibration {

/// What the projections of a scan tell about the hardening of the beam.
enum class BeamVerdict {
  none,                ///< they agree as they are, and attenuations are flat where the sample is
  hardened,            ///< they agree once they are corrected
  hardened_by_slopes,  ///< moments are blind, but attenuations fall towards the middle of one material
  ambiguous,           ///< a correction helps, but does not explain all
  inconsistent,        ///< they do not agree, and hardening is not the cause
  not_known            ///< they cannot tell
};
std::string_view name_of(BeamVerdict verdict);

/// Which hardening was found, and how well it explains the projections. A measured line integral is q(p) =
/// -ln(w exp(-a p) + (1 - w) exp(-b p)) with w a + (1 - w) b = 1: two energies, of which the harder half of
/// the beam has b times the attenuation of a thin layer. 1 is one energy. w is 0.3.
struct Hardening {
  BeamVerdict verdict = BeamVerdict::not_known;
  std::string_view why_not{};  ///< a few words, if it is not known
  double b = 1;                ///< the best one by moments, or by slopes if moments are blind
  /// `ViewMoments::misfit`: as measured, for the best b, and what noise alone makes of it.
  double before = 0, after = 0, noise = 0;
  std::optional<double> b_by_slopes{};
  bool drifts = false;               ///< whether the beam does: the rest holds once air is level in all views
  bool has_metal = false;            ///< whether slices have voxels much denser than the main material
  Index voxels_inside = 0;           ///< voxels whose slopes were measured
  double scale_uncertainty = 0;      ///< a share: half of the change if w is 0.5, but at least 0.005
  double largest_change = 0;         ///< the share by which the correction raises the largest line integral
  std::vector<double> polynomial{};  ///< the correction; empty: {1}
  double straight_from = 0;          ///< the line integral from which on it goes on as a straight line

  bool is_corrected() const {
    return verdict == BeamVerdict::hardened || verdict == BeamVerdict::hardened_by_slopes;
  }
};

/// The rows that tell the hardening: two near the midplane of a cone beam, else five that are spread over the
/// selected ones. Empty if rays of the rows near the midplane rise by more than two rows on their way.
std::vector<Index> rows_for_hardening(const Scan& scan, Range selected);

/// Slices take some filtered back-projections.
enum class HardeningBy { moments, moments_and_slices };

/// Finds the hardening from line integrals (view, row, bin) of `rows_for_hardening`.
/// The moments of the projections need no volume; of a round body they say nothing, wherever it lies. There
/// the slopes inside one material tell. Method and limits: docs/preprocessing.md.
Hardening find_hardening(std::span<const float> lines, const Scan& scan, Index rows, HardeningBy means,
                         LinesOf made_of = LinesOf::cells);

/// Lines (view, row, bin) of which the air at the ends is zero in each view. In a half acquisition that is
/// the farther end.
std::vector<float> with_level_air(std::span<const float> lines, const Scan& scan, Index rows);

constexpr double soft_share = 0.3, other_share = 0.5;  ///< w; the difference is the uncertainty of the scale
constexpr double lowest_b = 0.4;
constexpr double beyond = 1.1;  ///< how far curves are fitted, over the largest line integral

// The limits of verdicts were chosen on 33 scans of an outside simulator (docs/preprocessing.md).
constexpr double least_misfit = 0.15, large_noise = 3, least_rise = 0.005;
constexpr double least_scale = 0.005;  ///< what scans showed where the curves agreed

/// A number between two others where a function is least, searched in steps and then between neighbours.
struct Least {
  double at, value;
};
Least least_of(const std::function<double(double)>& f, double low, double high);

/// By how much the correction by b raises a large line integral, as a share.
double rise_of(double b, double largest);

/// The polynomial that turns measured line integrals, up to a tenth more than the largest one, into those of
/// one energy.
std::vector<double> hardening_polynomial(double b, double w, double largest);

}  // namespace tandem::calibration
