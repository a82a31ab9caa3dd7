#include <cmath>
#include <utility>

#include "../../operators/algebra.hpp"
#include "../../operators/ramp_filter.hpp"
#include "../../pipeline/plan/row_axes.hpp"
#include "beam.hpp"

namespace tandem::apps {

namespace {

const ParallelBeam& parallel(const Scan& scan) { return std::get<ParallelBeam>(scan); }

Scan scan_of(const GeometryOptions&, Detector detector, std::vector<double> angles) {
  return ParallelBeam{detector, std::move(angles)};
}

pipeline::AxisEstimate find_axis(const std::vector<float>& lines, const Scan& scan, Index rows,
                                 const pipeline::AxisSearch& search, ProgressLine&) {
  return pipeline::find_axis(lines, angles_of(scan), rows, detector_of(scan).bins, search);
}

std::vector<Index> rows_for_axis(const Scan&, Range selected, Index count) {
  return spread_rows(selected, std::min(count, selected.size()));
}

/// The projector has all rows on one axis. From there they are moved to their own axes, so they must be as
/// long as all of the volume is wide.
LinearOperator projector_of(const Scan& scan, const VolumeGrid& grid, const std::string& model) {
  const ParallelBeam& beam = parallel(scan);
  if (beam.row_axis_bins.empty()) return projector(beam, grid, model_named(model));
  const auto reach = [&](std::size_t k) {
    return std::abs(grid.centre[k]) + 0.5 * static_cast<double>(grid.size[k]) * grid.pitch[k];
  };
  const ParallelBeam wide =
      pipeline::widened(beam, 1 + std::hypot(reach(0), reach(1)) / beam.detector.bin_pitch);
  return adjoint(align_rows(beam, wide, Padding::none)) * projector(wide, grid, model_named(model));
}

}  // namespace

extern const Beam parallel_beam{
    .kind = ParallelBeam::kind,
    .rows_are_slices = ParallelBeam::rows_are_slices,
    .needs_mm = ParallelBeam::needs_mm,
    .arc_deg = 180,
    .models = {"pixel_driven", "joseph", "fourier"},
    .scan = scan_of,
    .fields = [](const Scan& scan) -> nlohmann::json {
      return {{"view_shifts", !parallel(scan).view_shift_bins.empty()}};
    },
    .words = [](const Scan& scan) -> std::string {
      return parallel(scan).view_shift_bins.empty() ? "parallel beam" : "parallel beam, shifted views";
    },
    .rows_for_axis = rows_for_axis,
    .find_axis = find_axis,
    .projector = projector_of,
};

}  // namespace tandem::apps
