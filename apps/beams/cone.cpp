// Cone beams, and fan beams, which are cone beams of one row on the command line.

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "beam.hpp"

namespace tandem::apps {

namespace {

Scan cone_scan(const GeometryOptions& o, Detector detector, std::vector<double> angles) {
  return point_source_scan({detector, std::move(angles), *o.sod_mm, *o.sdd_mm,
                            o.midplane_row.value_or(0.5 * (detector.rows - 1))});
}

nlohmann::json fields(const Scan& scan) {
  const ConeBeam& s = point_source_of(scan);
  return {{"sod_mm", s.sod}, {"sdd_mm", s.sdd}, {"midplane_row", s.midplane_row}};
}

std::string words(const Scan& scan) {
  const ConeBeam& s = point_source_of(scan);
  std::ostringstream text;
  text << (s.detector.rows == 1 ? "fan" : "cone") << " beam, source to axis " << s.sod << " mm, to detector "
       << s.sdd << " mm (magnified " << s.magnification() << " times), midplane at row " << s.midplane_row;
  return text.str();
}

/// The rows next to the midplane, since only near it rays are measured twice.
std::vector<Index> rows_for_cone_axis(const Scan& scan, Range selected, Index count) {
  count = std::min(count, selected.size());
  const auto first =
      floor_index(std::clamp<double>(std::round(point_source_of(scan).midplane_row - 0.5 * (count - 1)),
                                     selected.first, selected.last - count));
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k) rows.push_back(first + k);
  return rows;
}

/// Finds the axis. If views agree better with the other sense of rotation, it says so, since files and users
/// may be wrong about it.
pipeline::AxisEstimate find_cone_axis(const std::vector<float>& lines, const Scan& scan, Index rows,
                                      const pipeline::AxisSearch& search, ProgressLine& progress) {
  ConeBeam some = point_source_of(scan);
  some.detector.rows = rows;
  const auto axis = pipeline::find_axis(lines, some, search);
  for (double& angle : some.angles) angle = -angle;
  double turned = 0;
  try {
    turned = pipeline::find_axis(lines, some, search).agreement;
  } catch (const GeometryError&) {  // then the views do not agree
  }
  if (turned > axis.agreement) progress.warn("views agree better in the other --rotation-direction; try it");
  return axis;
}

}  // namespace

extern const Beam cone_beam{
    .kind = ConeBeam::kind,
    .rows_are_slices = ConeBeam::rows_are_slices,
    .needs_mm = ConeBeam::needs_mm,
    .arc_deg = 360,
    .options = {"--sod", "--sdd", "--midplane-row", "--curved-detector"},
    .needed = {"--sod", "--sdd", "--pixel-size"},
    .models = {"separable_footprint", "hierarchical"},
    .scan = cone_scan,
    .fields = fields,
    .words = words,
    .rows_for_axis = rows_for_cone_axis,
    .find_axis = find_cone_axis,
};

}  // namespace tandem::apps
