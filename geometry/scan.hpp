#pragma once

#include <cstdint>
#include <numbers>
#include <span>
#include <variant>
#include <vector>

#include "../core/public.hpp"
#include "../core/range.hpp"

namespace TANDEM_PUBLIC tandem {

/// A flat detector. A cell is (row, bin); positions count from 0 at cell centres, fractions allowed.
struct Detector {
  Index bins = 0, rows = 1;
  double bin_pitch = 1, row_pitch = 1;  ///< mm; 1 where nobody knows it: lengths are then in bins
  double axis_bin = 0;                  ///< where the rotation axis falls; centred: (bins - 1) / 2
};

/// Parallel rays. bin = axis_bin + (x cos a + y sin a) / bin_pitch for the view angle a in rad. Any angles in
/// any order.
struct ParallelBeam {
  Detector detector;
  std::vector<double> angles{};         ///< rad, one for each view
  std::vector<double> row_axis_bins{};  ///< axis bin of each row where they differ; else empty
};

/// A point source on a circle at sod (sin a, -cos a, 0) for the view angle a in rad, and a flat detector at
/// the distance sdd from it, bins along (cos a, sin a, 0), rows along z. A point at t = x cos a + y sin a and
/// d = sod - x sin a + y cos a falls on bin = axis_bin + sdd t / (d bin_pitch) and on
/// row = midplane_row + sdd z / (d row_pitch): these two are the principal point. One row is a fan beam.
struct ConeBeam {
  Detector detector;
  std::vector<double> angles{};
  double sod = 0, sdd = 0;  ///< mm
  double midplane_row = 0;  ///< centred: (rows - 1) / 2
  double magnification() const { return sdd / sod; }
};

/// A scan of either kind. What both have is asked here, by reference.
using Scan = std::variant<ParallelBeam, ConeBeam>;
const Detector& detector_of(const Scan& scan);
Detector& detector_of(Scan& scan);
const std::vector<double>& angles_of(const Scan& scan);
std::vector<double>& angles_of(Scan& scan);

/// @throws GeometryError naming the field, its value and its unit.
void validate(const ParallelBeam& scan);
void validate(const ConeBeam& scan);
void validate(const Scan& scan);

/// After what arc, in rad, views see the same again: half a turn of a parallel beam, a whole one of a cone.
constexpr double half_turn = std::numbers::pi, whole_turn = 2 * half_turn;

/// The weight of each view in an integral over an arc: half the gap to its two neighbours modulo that arc, in
/// rad. They sum to the arc; a repeated end view shares the weight of its twin.
std::vector<double> view_weights(std::span<const double> angles, double arc = half_turn);

/// The widest gap between views modulo an arc, in rad.
double widest_gap(std::span<const double> angles, double arc = half_turn);

/// How far a detector reaches from the axis to the middle of its last bin, bins; negative for a side that it
/// does not have. `direction`: 1 where the farther side is the one of high bins, else -1.
struct Sides {
  double farther, nearer;
  int direction;
};
Sides sides(const Detector& detector);

/// Half acquisition: views go all round, and the axis lies so far aside (one side of the detector lacks more
/// than a tenth of the other) that turned by half a turn the detector sees clearly more.
bool half_acquisition(const ParallelBeam& scan);
bool half_acquisition(const ConeBeam& scan);
bool half_acquisition(const Scan& scan);

/// What each ray counts in FDK, (view, bin), rad: the view's share of the orbit, halved since a circle sees
/// every line twice, and where rays are not seen twice, what makes up for it. All rows of the detector are
/// alike.
///
/// An arc: Parker 1982, with the arc's own excess over half a turn in the place of the fan angle.
///
/// A circle whose detector reaches farther on one side of the axis: rays are halved but for those beyond the
/// end of its nearer side, after Wang 2002. His weight rises along all that is seen from both sides, which
/// adds a fifth of noise and lets values bend where opposite views differ. Here it rises in a band beside
/// that end, as a squared sine: 16 bins, or what the rim of the field moves in two views if that is more,
/// and no more than there is. Chosen by measurement (docs/kernels.md). A ray and its opposite count one.
std::vector<float> ray_shares(const ConeBeam& scan);

/// The scan with bins added on the side where its detector reaches less far from the axis, until both are
/// alike: filtered rows go on there, where rays were seen from the other side alone. Itself for an arc.
ConeBeam symmetric(const ConeBeam& scan);

/// How much an arc falls short of half a turn and the fan, in rad; 0 for a circle or an arc that is long
/// enough.
double missing_arc(const ConeBeam& scan);

/// The part of a scan that some rows, views and bins make up; the axis keeps its place in space.
ParallelBeam crop(const ParallelBeam& scan, Range views, Range rows, Range bins);
ConeBeam crop(const ConeBeam& scan, Range views, Range rows, Range bins);
ConeBeam crop(const ConeBeam& scan, Range views, Range rows);  ///< all bins
Scan crop(const Scan& scan, Range views, Range rows, Range bins);

/// How many rows become one: 2^level, but one row alone stays as it is.
constexpr Index rows_together(Index rows, int level) { return rows == 1 ? 1 : Index{1} << level; }

/// The scan after averaging 2^level x 2^level cells, of one row 1 x 2^level; incomplete cells at the end are
/// dropped. Where no pitch is known (`pitch_known` false) the new bin is the new unit of length; a cone
/// beam's always is.
ParallelBeam bin_down(const ParallelBeam& scan, int level, bool pitch_known);
ConeBeam bin_down(const ConeBeam& scan, int level);
Scan bin_down(const Scan& scan, int level, bool pitch_known);

/// A number that differs between scans that differ; never 0. See Space::key.
std::uint64_t fingerprint(const ParallelBeam& scan);
std::uint64_t fingerprint(const ConeBeam& scan);

}  // namespace tandem
