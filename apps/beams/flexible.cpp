// Views of any geometry, which come only from files.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "beam.hpp"

namespace tandem::apps {

namespace {

const FlexibleBeam& flexible(const Scan& scan) { return std::get<FlexibleBeam>(scan); }

nlohmann::json fields_of_flexible(const Scan& scan) {
  const FlexibleBeam& beam = flexible(scan);
  return {{"parallel_rays", beam.parallel},
          {"upright", has_upright_views(beam)},
          {"curved_detector", beam.curved},
          {"magnification", magnification(beam)}};
}

std::string words_of_flexible(const Scan& scan) {
  const FlexibleBeam& beam = flexible(scan);
  std::ostringstream text;
  if (beam.parallel) return "flexible beam, parallel rays";
  double nearest = INFINITY, farthest = 0;
  for (const auto& [source, detector, bin_step, row_step] : beam.views) {
    const double distance = std::hypot(source[0], source[1], source[2]);
    nearest = std::min(nearest, distance), farthest = std::max(farthest, distance);
  }
  text << "flexible beam, " << (has_upright_views(beam) ? "upright detectors, " : "")
       << (beam.curved ? "curved detectors, " : "") << "sources " << nearest << " to " << farthest
       << " mm from the origin (magnified " << magnification(beam) << " times)";
  return text.str();
}

}  // namespace

extern const Beam flexible_beam{
    .kind = FlexibleBeam::kind,
    .rows_are_slices = FlexibleBeam::rows_are_slices,
    .needs_mm = FlexibleBeam::needs_mm,
    .arc_deg = 360,
    .scan = nullptr,
    .fields = fields_of_flexible,
    .words = words_of_flexible,
};

}  // namespace tandem::apps
