#include <utility>

#include "beam.hpp"

namespace tandem::apps {

namespace {

const ParallelBeam& parallel(const Scan& scan) { return std::get<ParallelBeam>(scan); }

Scan parallel_scan(const GeometryOptions&, Detector detector, std::vector<double> angles) {
  return ParallelBeam{detector, std::move(angles)};
}

}  // namespace

extern const Beam parallel_beam{
    .kind = ParallelBeam::kind,
    .rows_are_slices = ParallelBeam::rows_are_slices,
    .needs_mm = ParallelBeam::needs_mm,
    .arc_deg = 180,
    .models = {"pixel_driven", "joseph", "fourier"},
    .scan = parallel_scan,
    .fields = [](const Scan& scan) -> nlohmann::json {
      return {{"view_shifts", !parallel(scan).view_shift_bins.empty()}};
    },
    .words = [](const Scan& scan) -> std::string {
      return parallel(scan).view_shift_bins.empty() ? "parallel beam" : "parallel beam, shifted views";
    },
};

}  // namespace tandem::apps
