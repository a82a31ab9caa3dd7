#include "scan_report.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/units.hpp"
#include "../beams/beam.hpp"
#include "../runs/lines.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

/// In degrees, as the file has them: without the rounding of the way to radians and back.
double degrees_of(double radians) {
  constexpr double parts = 1e9;
  return std::round(parts * in_degrees(radians)) / parts;
}

/// Null for a scan whose views have no angles.
json angles_json(const Scan& scan) {
  const std::optional<double> period = period_of(scan);
  if (!period) return nullptr;
  const std::vector<double>& angles = angles_of(scan);
  const auto [first, last] = std::minmax_element(angles.begin(), angles.end());
  return {{"lowest", degrees_of(*first)},
          {"highest", degrees_of(*last)},
          {"widest_gap", degrees_of(widest_gap(angles, *period))},
          {"modulo", degrees_of(*period)}};
}

}  // namespace

json geometry_json(const Scan& scan) {
  const Detector& d = detector_of(scan);
  json all = {{"kind", kind_of(scan)},
              {"views", views_of(scan)},
              {"rows", d.rows},
              {"bins", d.bins},
              {"half_acquisition", half_acquisition(scan)}};
  all.update(beam_of(scan).fields(scan));
  return all;
}

std::string words_of_size(const Scan& scan) {
  const Detector& d = detector_of(scan);
  return counted(views_of(scan), "view") + " x " + counted(d.rows, "row") + " x " + counted(d.bins, "bin");
}

std::string words_of(const Scan& scan) {
  return beam_of(scan).words(scan) + (half_acquisition(scan) ? ", half acquisition" : "");
}

json scan_report(const io::ScanInfo& info, const ScanOptions& o) {
  json geometry = geometry_json(info.scan);
  if (info.off_circle.curved) geometry["curved_detector"] = true;
  geometry["axis_bin"] = or_null(info.axis_bin);
  geometry["pixel_size_mm"] = or_null(info.pixel_size_mm);
  geometry["row_pitch_mm"] = info.pixel_size_mm ? json(detector_of(info.scan).row_pitch) : json(nullptr);
  geometry["detector_roll_deg"] = or_null(info.roll_deg);
  geometry["axis_tilt_deg"] = or_null(info.tilt_deg);
  json notes = notes_of(info, o);
  if (!info.axis_note.empty()) notes.push_back(info.axis_note);
  return {{"kind", "scan"},
          {"format", info.format},
          {"type", io::name_of(info.type)},
          {"geometry", geometry},
          {"angles_deg", angles_json(info.scan)},
          {"energy_kev", or_null(info.energy_kev)},
          {"propagation_mm", or_null(info.propagation_mm)},
          {"flats", info.flats},
          {"flat_sets", info.times.flats.empty() ? json(nullptr) : json(pipeline::flat_sets(info).size())},
          {"monitor", !info.monitor.views.empty()},
          {"darks", info.darks},
          {"notes", notes}};
}

}  // namespace tandem::apps
