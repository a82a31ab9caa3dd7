#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "../../core/public.hpp"
#include "../../core/space.hpp"
#include "../detector.hpp"
#include "../view_angles.hpp"
#include "../volume_grid.hpp"

namespace TANDEM_PUBLIC tandem {

/// Parallel rays. bin = axis_bin + (x cos a + y sin a) / bin_pitch for the view angle a in rad. Any angles in
/// any order. Each detector row sees one slice, and that slice alone.
struct ParallelBeam {
  static constexpr std::string_view kind = "parallel";  ///< its name in files and commands
  static constexpr bool rows_are_slices = true;  ///< one slice for each detector row, a problem of its own
  static constexpr bool needs_mm = false;        ///< lengths may be in bins, where nobody knows the pitch
  static constexpr double period = half_turn;    ///< rad, after which views see the same lines again

  Detector detector;
  std::vector<double> angles{};         ///< rad, one for each view
  std::vector<double> row_axis_bins{};  ///< axis bin of each row where they differ; else empty
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const ParallelBeam& scan);

/// Half acquisition: views go all round, and the axis lies so far aside (one side of the detector lacks more
/// than a tenth of the other) that turned by half a turn the detector sees clearly more.
bool half_acquisition(const ParallelBeam& scan);

/// The part of a scan that some rows, views and bins make up; the axis keeps its place in space.
ParallelBeam crop(const ParallelBeam& scan, Range views, Range rows, Range bins);

/// The scan after averaging 2^level x 2^level cells, of one row 1 x 2^level; incomplete cells at the end are
/// dropped. Where no pitch is known (`pitch_known` false) the new bin is the new unit of length.
ParallelBeam bin_down(const ParallelBeam& scan, int level, bool pitch_known);

/// A number that differs between scans that differ; never 0. See Space::key.
std::uint64_t fingerprint(const ParallelBeam& scan);

/// Square voxels of the bin pitch, as many along x and y as there are bins, a slice for each row, centred on
/// the axis. For a half acquisition as many as its field is wide: all that the farther side of the detector
/// sees as it goes round.
VolumeGrid fitting_grid(const ParallelBeam& scan);

/// Projections (view, row, bin) whose rows are independent problems.
Space projection_space(const ParallelBeam& scan, Device device = Device::cpu());

/// The detector on which filtered rows lie: the same.
inline Detector filtered_detector(const ParallelBeam& scan) { return scan.detector; }

/// Rows of the detector that these slices fall on, and slices that these rows see: row k is slice k.
Range rows_met(const ParallelBeam& scan, const VolumeGrid& grid, Range slices);
Range slices_met(const ParallelBeam& scan, const VolumeGrid& grid, Range rows);

/// How near to the axis a ray passes that falls on the detector at a distance (mm) from where the axis does,
/// mm.
double distance_from_axis(const ParallelBeam& scan, double on_detector);

}  // namespace tandem
