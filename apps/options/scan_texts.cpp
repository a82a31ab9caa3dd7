// The texts of options that say how a scan is opened.

#include "scan_texts.hpp"

#include <cmath>

#include "../../io/files/text.hpp"
#include "../../io/scans/beams/beam.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../beams/beam.hpp"
#include "command_line.hpp"
#include "values.hpp"

namespace tandem::apps {

namespace {

void parse_angles(const std::string& text, io::OpenOptions& how) {
  how.angles = text;
  if (!text.ends_with(']')) return;  // other brackets belong to the name
  const std::size_t bracket = text.rfind('[');
  if (bracket == std::string::npos || bracket == 0)
    throw UsageError("--angles '" + text + "' is not FILE or FILE[A:B]");
  how.angles = text.substr(0, bracket);
  how.angle_lines = parse_range(text.substr(bracket + 1, text.size() - bracket - 2));
}

/// Takes --geometry, which is a kind of beam or a file with the geometry of each view.
void parse_geometry(const std::string& text, io::OpenOptions& how) {
  how.kind = in_lower_case(text) == io::fan_kind ? io::fan_kind : kind_called(text);
  if (!how.kind.empty()) return;
  const io::GeometryName name = io::geometry_named(text);
  how.geometry = name.path, how.parallel_rays = name.parallel;
}

void parse_arc(const std::string& given, io::OpenOptions& how) {
  const std::string inclusive = ",inclusive";
  std::string text = in_lower_case(given);
  how.arc_inclusive = text.ends_with(inclusive);
  if (how.arc_inclusive) text.resize(text.size() - inclusive.size());
  how.arc_deg = number_in(text);
  if (!how.arc_deg || *how.arc_deg == 0 || std::abs(*how.arc_deg) > 36000)
    throw UsageError("--arc '" + given + "' is not DEG or DEG,inclusive with DEG up to 36000, but not 0");
}

void parse_orientation(const std::string& given, io::OpenOptions& how) {
  const std::optional<io::Orientation> orientation = io::orientation_of(in_lower_case(given));
  if (!orientation)
    throw UsageError("--orient '" + given +
                     "' is not a list of transpose, flip-rows and flip-columns, with a comma between two");
  how.orientation = *orientation;
}

void parse_reversed(const std::string& given, io::ReversedMotion& reversed) {
  for (const std::string& word : parts_of(in_lower_case(given), ',')) {
    if (word != "across-beam" && word != "along-axis" && word != "along-beam")
      throw UsageError("--reverse-motion '" + given +
                       "' is not a list of across-beam, along-axis and along-beam, with a comma between two");
    (word == "across-beam" ? reversed.across : word == "along-axis" ? reversed.up : reversed.along) = true;
  }
}

}  // namespace

void parse_texts(ScanOptions& o) {
  o.how.flats.assign(o.flats.begin(), o.flats.end());
  o.how.darks.assign(o.darks.begin(), o.darks.end());
  o.how.reverse_rotation = o.rotation_direction == "-1";
  if (!o.geometry.empty()) parse_geometry(o.geometry, o.how);
  if (!o.angles.empty()) parse_angles(o.angles, o.how);
  if (!o.arc.empty()) parse_arc(o.arc, o.how);
  if (!o.orient.empty()) parse_orientation(o.orient, o.how);
  if (!o.reversed_motion.empty()) parse_reversed(o.reversed_motion, o.how.reversed_motion);
  if (!o.time.empty() && in_lower_case(o.time) != all_times) o.how.time = whole_in(o.time);
  if (!o.file_type.empty())
    o.how.field_of_view = o.file_type == "standard" ? io::FieldOfView::standard : io::FieldOfView::doubled;
  o.how.view_step = o.views.step;
  o.how.first_view = o.views.first % o.views.step;
}

}  // namespace tandem::apps
