// Cone beams, and fan beams, which are cone beams of one row on the command line.

#include <sstream>
#include <utility>

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
};

}  // namespace tandem::apps
