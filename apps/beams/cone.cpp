// Cone beams, and fan beams, which are cone beams of one row on the command line.

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../operators/fbp.hpp"
#include "beam.hpp"

namespace tandem::apps {

namespace {

const FanBeam* fan(const Scan& scan) { return std::get_if<FanBeam>(&scan); }

Scan scan_of(const GeometryOptions& o, Detector detector, std::vector<double> angles) {
  return point_source_scan({detector, std::move(angles), *o.sod_mm, *o.sdd_mm,
                            o.midplane_row.value_or(0.5 * static_cast<double>(detector.rows - 1))});
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

/// Those next to the midplane: near it alone rays are measured twice.
std::vector<Index> rows_for_axis(const Scan& scan, Range selected, Index count) {
  count = std::min(count, selected.size());
  const auto first = static_cast<Index>(
      std::clamp(std::round(point_source_of(scan).midplane_row - 0.5 * static_cast<double>(count - 1)),
                 static_cast<double>(selected.first), static_cast<double>(selected.last - count)));
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k) rows.push_back(first + k);
  return rows;
}

/// If views agree better the other way round, says so: no file and no user is sure of the sense of rotation.
pipeline::AxisEstimate find_axis(const std::vector<float>& lines, const Scan& scan, Index rows,
                                 const pipeline::AxisSearch& search, ProgressLine& progress) {
  ConeBeam some = point_source_of(scan);
  some.detector.rows = rows;
  const auto axis = pipeline::find_axis(lines, some, search);
  for (double& angle : some.angles) angle = -angle;
  double turned = 0;
  try {
    turned = pipeline::find_axis(lines, some, search).agreement;
  } catch (const GeometryError&) {  // then they do not agree
  }
  if (turned > axis.agreement) progress.warn("views agree better in the other --rotation-direction; try it");
  return axis;
}

LinearOperator projector_of(const Scan& scan, const VolumeGrid& grid, const std::string&) {
  return fan(scan) ? projector(*fan(scan), grid) : projector(point_source_of(scan), grid);
}

/// Cells of a detector that is half as wide as it is far away.
LinearOperator small_backprojector(const Scan& scan, Index size, Index rows, Device device) {
  ConeBeam small;
  small.sod = point_source_of(scan).sod, small.sdd = point_source_of(scan).sdd;
  small.midplane_row = 0.5 * static_cast<double>(rows - 1);
  const double pitch = small.sdd / static_cast<double>(2 * size);
  small.detector = {size, rows, pitch, pitch, 0.5 * static_cast<double>(size - 1)};
  for (Index v = 0; v < size; ++v)
    small.angles.push_back(std::numbers::pi * static_cast<double>(v) / static_cast<double>(size));
  const VolumeGrid grid = fitting_grid(small);
  return rows == 1 ? fdk_backprojector(FanBeam{small}, grid, Model::separable_footprint, device)
                   : fdk_backprojector(small, grid, Model::separable_footprint, device);
}

}  // namespace

extern const Beam cone_beam{
    .kind = ConeBeam::kind,
    .rows_are_slices = ConeBeam::rows_are_slices,
    .needs_mm = ConeBeam::needs_mm,
    .arc_deg = 360,
    .options = {"--sod", "--sdd", "--midplane-row"},
    .needed = {"--sod", "--sdd", "--pixel-size"},
    .scan = scan_of,
    .fields = fields,
    .words = words,
    .rows_for_axis = rows_for_axis,
    .find_axis = find_axis,
    .projector = projector_of,
    .small_backprojector = small_backprojector,
};

}  // namespace tandem::apps
