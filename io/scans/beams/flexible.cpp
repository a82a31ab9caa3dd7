// Views of any geometry, from a file that says so, or from a geometry file that the user gives.

#include <cmath>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/text.hpp"
#include "beam.hpp"

namespace tandem::io {

namespace {

constexpr const char* curved_detector = "curved about the source";  // text of an attribute

/// Refuses options that say what the vectors say already.
void refuse_other_options(const OpenOptions& options, const std::string& where) {
  const auto refuse = [&](bool given, const std::string& option) {
    require<GeometryError>(!given, where, ": says where each view is taken from; leave ", option, " out");
  };
  refuse(!options.angles.empty(), spelled("angles"));
  refuse(options.arc_deg.has_value(), spelled("arc"));
  refuse(options.reverse_rotation, spelled("rotation-direction"));
  refuse(options.sod_mm.has_value(), spelled("sod"));
  refuse(options.sdd_mm.has_value(), spelled("sdd"));
  refuse(options.midplane_row.has_value(), spelled("midplane-row"));
  refuse(options.curved_detector, spelled("curved-detector"));
  refuse(!options.view_shifts.empty(), spelled("view-shifts"));
  refuse(!options.row_shifts.empty(), spelled("view-row-shifts"));
}

/// Forgets what else the file says about axis, angles and shifts.
void forget_recorded(Acquisition& found) {
  found.info.axis_bin.reset(), found.info.axis_note.clear();
  found.info.roll_deg.reset(), found.info.tilt_deg.reset();
  found.info.row_shifts.clear(), found.info.off_circle = {};
}

Scan scan_of_flexible(Acquisition& found, const OpenOptions& options, Detector detector,
                      std::vector<double>&&) {
  require<FileError>(found.views.has_value(),
                     "flexible beam: no vectors; give " + spelled("geometry") + " FILE");
  ViewGeometry given = *std::move(found.views);
  refuse_other_options(options, given.where);
  const Index count = given.views.size();
  require<FileError>(count == found.info.views_stored, given.where, ": ", count, " views for ",
                     found.info.views_stored, " images; one per image is needed");
  const std::optional<double> recorded = found.info.pixel_size_mm;
  Scan scan = scan_of_views(given, detector, recorded, options.pixel_size_mm.has_value());
  found.info.notes.insert(found.info.notes.end(), given.notes.begin(), given.notes.end());
  forget_recorded(found);
  const double pitch = detector_of(scan).bin_pitch;
  if (recorded && std::abs(*recorded - pitch) > 0.01 * pitch)
    found.info.notes.push_back(
        words(given.where, ": bins are ", pitch, " mm wide, the scan records ", *recorded,
              " mm; if the file has another unit than mm, give " + spelled("pixel-size") + " MM"));
  found.info.pixel_size_mm = pitch, found.row_pitch_mm = detector_of(scan).row_pitch;
  found.info.axis_bin = axis_of(scan);
  if (!axis_of(scan)) found.info.field_of_view = options.field_of_view;
  std::vector<Index> taken;
  for (Index view = options.first_view; view < count; view += options.view_step) taken.push_back(view);
  return with_views(std::move(scan), taken);
}

void read_flexible(const hdf5::File& file, const std::string& group, Acquisition& found) {
  const auto vectors = file.find(group + "/vectors");
  if (!vectors || found.kind != FlexibleBeam::kind) return;
  require<FileError>(vectors->shape().size() == 2 && vectors->shape()[1] == 12, vectors->where(),
                     ": is no list of views with 12 numbers each");
  const std::string detector = vectors->text("detector").value_or("");
  require<FileError>(detector.empty() || detector == curved_detector, vectors->where(), ": @detector \"",
                     detector, "\" is unknown; \"", curved_detector, "\" is, or none for a flat one");
  found.views = ViewGeometry{.where = vectors->where(),
                             .views = views_of_numbers(vectors->numbers()),
                             .parallel = vectors->text("rays").value_or("") == "parallel",
                             .curved = !detector.empty()};
}

void take_flexible(const Scan& scan, Acquisition& found) {
  const auto& beam = std::get<FlexibleBeam>(scan);
  found.views = ViewGeometry{.where = "the scan", .views = beam.views, .parallel = beam.parallel};
}

void write_flexible(hdf5::File& file, const std::string& group, const Scan& scan) {
  const auto& beam = std::get<FlexibleBeam>(scan);
  file.write_lines(group + "/vectors", numbers_of(scan), 12, "mm");
  file.set(group + "/vectors", "rays", std::string(beam.parallel ? "parallel" : "from a source"));
  if (beam.curved) file.set(group + "/vectors", "detector", std::string(curved_detector));
}

}  // namespace

void take_views(Acquisition& found, ViewGeometry views) {
  found.kind = FlexibleBeam::kind, found.views = std::move(views);
}

extern const BeamFields flexible_fields{
    .kind = FlexibleBeam::kind,
    .has_angles = false,
    .takes_tilt = false,
    .is_asked_for = [](const OpenOptions& o) { return !o.geometry.empty(); },
    .read = read_flexible,
    .scan = scan_of_flexible,
    .take = take_flexible,
    .write = write_flexible};

}  // namespace tandem::io
