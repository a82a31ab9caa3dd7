// DXchange (De Carlo et al., J. Synchrotron Rad. 21, 2014), as the APS writes it and ScanWriter does.

#include <algorithm>
#include <cmath>
#include <memory>

#include "../../../core/error.hpp"
#include "../../../core/units.hpp"
#include "../../files/text.hpp"
#include "../beams/beam.hpp"
#include "../made_frames.hpp"
#include "../recorded.hpp"
#include "../scan_facts.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

const std::string instrument = "/measurement/instrument/";

/// Fields from the root, as areaDetector and TomoScan of the APS write them.
constexpr Field data_exchange_fields[] = {
    {"exchange/theta", "", Use::obeyed, "angles, in degrees unless @units is another angle"},
    {"process/acquisition/rotation/rotation_step", "", Use::obeyed, "angles, if there is no theta"},
    {"process/acquisition/rotation/rotation_start", "0", Use::obeyed, "angles, if there is no theta"},
    {"process/acquisition/dark_fields/dark_field_value", "0", Use::obeyed, "the dark, if there is no other"},
    {"process/acquisition/flat_fields/flat_field_value", "0", Use::obeyed, "the flat, if there is no other"},
    {"exchange/data_shift_x", "0", Use::obeyed, "views are moved back"},
    {"exchange/data_shift_y", "0", Use::obeyed, "views are moved back"},
    {"measurement/instrument/detection_system/objective/resolution", "", Use::obeyed, "pitch at the sample"},
    {"measurement/instrument/detector/pixel_size_x", "", Use::obeyed, "pitch of bins, if no other is"},
    {"measurement/instrument/detector/pixel_size_y", "", Use::obeyed, "pitch of rows, if no other is"},
    {"measurement/instrument/monochromator/energy", "", Use::obeyed, "energy of the photons"},
    {"measurement/instrument/detector_motor_stack/setup/z", "", Use::obeyed, "from sample to detector"},
    {"measurement/instrument/detector_motor_stack/detector_z", "", Use::obeyed, "the same at SESAME"},
    {"measurement/instrument/detector/exposure_time", "", Use::obeyed, "of views, beside that of flats"},
    {"measurement/instrument/detector/exposure_time_flat", "", Use::obeyed, "counts are divided by it"},
    {"measurement/instrument/detector/brightfield_exposure_time", "", Use::obeyed, "the same"},
    {"process/acquisition/flat_fields/flat_exposure_time", "", Use::obeyed, "the same"},
    {"process/acquisition/flat_fields/different_flat_exposure", "Same", Use::obeyed, "whether these count"},
    {"measurement/instrument/detector/different_flat_exposure", "Same", Use::obeyed, "the same"},
    {"process/acquisition/flat_fields/flat_field_mode", "", Use::obeyed, "when flats were taken"},
    {"defaults/HDF5FrameLocation", "", Use::obeyed, "when flats were taken"},
    {"measurement/instrument/detection_system/objective/magnification", "1", Use::noted,
     "the pitch is taken as it is recorded; if it is that of the camera, give {pixel-size}"},
    {"measurement/instrument/detector/binning_x", "1", Use::noted,
     "the pitch is taken as it is recorded; if it is that of single pixels, give {pixel-size}"},
    {"measurement/instrument/detector/binning_y", "1", Use::noted,
     "the pitch is taken as it is recorded; if it is that of single pixels, give {pixel-size}"},
};

std::unique_ptr<FrameSource> frames_of(const std::shared_ptr<hdf5::DataSet>& data,
                                       const std::optional<std::string>& axes,
                                       std::optional<Index> time = {}) {
  const char* usual = data->shape().size() == 4 ? "time:theta:y:x" : "theta:y:x";
  return hdf5_frames(data, axes.value_or(usual), {}, time);
}

void read_geometry(const hdf5::File& file, Acquisition& acquisition) {
  ScanInfo& info = acquisition.info;
  const std::string kind = file.text(instrument + "tandem/kind").value_or("parallel");
  const BeamFields* beam = find_beam_fields(kind);
  std::vector<std::string> known;
  for (const BeamFields& each : beam_fields()) known.push_back('"' + std::string(each.kind) + '"');
  require<FileError>(beam, file.name(), ": ", instrument, "tandem/kind: \"", kind, "\"; ",
                     alternatives(known), " is needed");
  acquisition.kind = beam->kind;
  // the APS writes the pitch of the camera, and also the pitch at the sample, which differs by the objective
  info.pixel_size_mm = pitch_mm(file, instrument + "detection_system/objective/resolution", "um", info.notes);
  if (!info.pixel_size_mm) {
    info.pixel_size_mm = pitch_mm(file, instrument + "detector/pixel_size_x", "", info.notes);
    acquisition.row_pitch_mm = pitch_mm(file, instrument + "detector/pixel_size_y", "", info.notes);
  }
  info.energy_kev = energy_kev(file, instrument + "monochromator/energy", info.notes);
  for (const char* key : {"detector_motor_stack/setup/z", "detector_motor_stack/detector_z"})
    if (!info.propagation_mm) info.propagation_mm = length_mm(file, instrument + key, "mm", info.notes);
  info.axis_bin = recorded_number(file, instrument + "tandem/axis_bin", info.notes);
  for (const BeamFields& each : beam_fields()) each.read(file, instrument + "tandem", acquisition);
}

/// Reads times of exposure. TomoScan has an exposure time for views and one for flats. The second one counts
/// only if `different_flat_exposure` begins with "diff".
void read_exposures(const hdf5::File& file, Index views, Index flats, ScanInfo& info) {
  const std::string flat_fields = "/process/acquisition/flat_fields/", detector = instrument + "detector/";
  const auto differ = [&](const std::string& group) {
    return in_lower_case(file.text(group + "different_flat_exposure").value_or("")).starts_with("diff");
  };
  const std::optional<double> of_views = recorded_number(file, detector + "exposure_time", info.notes);
  if (!of_views || !(differ(flat_fields) || differ(detector))) return;
  for (const std::string& path : {detector + "exposure_time_flat", flat_fields + "flat_exposure_time",
                                  detector + "brightfield_exposure_time"})
    if (const auto of_flats = recorded_number(file, path, info.notes))
      return take_exposures(
          {path, std::vector<double>(views, *of_views), std::vector<double>(flats, *of_flats), {}}, info);
}

/// The shift of the image of each view towards higher bins or rows, in cells of the given pitch. The file has
/// pixels, unless the unit is a length. Empty if the file does not say it, or says that nothing moves.
std::vector<double> shifts_in(const hdf5::File& file, const char* path, std::optional<double> pitch_mm,
                              Index views, std::vector<std::string>& notes) {
  const std::optional<hdf5::DataSet> set = file.find(path);
  if (!set) return {};
  const std::string unit = in_lower_case(set->text("units").value_or(""));
  const std::optional<double> mm = mm_per(unit);
  const bool in_cells = unit.empty() || unit.starts_with("pixel") || unit == "px";
  std::vector<double> shifts = set->numbers();
  const bool known = std::ssize(shifts) == views && (in_cells || (mm && pitch_mm)) &&
                     std::ranges::all_of(shifts, [](double shift) { return std::isfinite(shift); });
  if (!known) {
    notes.push_back(std::string(path) + " is left out: a finite number for each of the " +
                    std::to_string(views) +
                    " views is needed, in pixels or, with a pitch, in a unit of length");
    return {};
  }
  if (std::ranges::all_of(shifts, [](double shift) { return shift == 0; })) return {};
  if (!in_cells)
    for (double& shift : shifts) shift *= *mm / *pitch_mm;
  notes.push_back(std::string(path) + " is taken away: the images of the views are moved");
  return shifts;
}

void read_shifts(const hdf5::File& file, Index views, Acquisition& found) {
  const std::optional<double> bin = found.info.pixel_size_mm,
                              row = found.row_pitch_mm ? found.row_pitch_mm : bin;
  found.bin_shifts = shifts_in(file, "/exchange/data_shift_x", bin, views, found.info.notes);
  found.row_shifts = shifts_in(file, "/exchange/data_shift_y", row, views, found.info.notes);
}

FrameSources data_exchange_frames(const hdf5::File& file, FrameKind kind) {
  FrameSources sources;
  const std::string path = kind == FrameKind::flat ? "/exchange/data_white" : "/exchange/data_dark";
  if (file.has(path))
    sources.push_back(
        frames_of(std::make_shared<hdf5::DataSet>(file.data_set(path)), axes_named(file, path)));
  return sources;
}

/// Takes a recorded number of counts for the darks or flats of TomoScan, if there are no such frames.
void take_value(const hdf5::File& file, const std::string& path, FrameSources& frames, Acquisition& found) {
  std::vector<std::string>& notes = found.info.notes;
  const std::optional<double> value = frames.empty() ? recorded_number(file, path, notes) : std::nullopt;
  if (!value || *value == 0) return;
  const FrameSource& views = *found.projections.front();
  if (*value < 0 || views.type() == PixelType::float32) {
    notes.push_back(words(path, " = ", *value, " is left out: ",
                          *value < 0 ? "a number of counts is needed" : "the views may be no counts"));
    return;
  }
  frames.push_back(constant_frame(file.name() + ": " + path, static_cast<float>(*value), views.shape()[1],
                                  views.shape()[2]));
  notes.push_back(words(path, " = ", *value, " is taken for such a frame, since there is none"));
}

/// Takes angles from the steps that were planned, if there are no others, or compares both.
void read_steps(const hdf5::File& file, Index views, Acquisition& found) {
  const std::string group = "/process/acquisition/rotation/";
  std::vector<std::string>& notes = found.info.notes;
  const std::optional<double> step = recorded_number(file, group + "rotation_step", notes);
  if (!step || *step == 0) return;
  const double start = recorded_number(file, group + "rotation_start", notes).value_or(0);
  if (!file.has("/exchange/theta")) {
    for (Index k = 0; k < views; ++k) found.angles.push_back(in_radians(start + k * *step));
    notes.push_back(words(found.angles_where, ": missing; the angles are those of ", group,
                          "rotation_start and rotation_step, ", *step, " degrees"));
    return;
  }
  if (found.angles.empty()) return;
  const auto [least, most] = std::ranges::minmax(found.angles);
  const double planned = std::abs(*step) * (std::ssize(found.angles) - 1), arc = in_degrees(most - least);
  if (std::abs(arc - planned) > std::abs(*step))
    notes.push_back(words(group, "rotation_step = ", *step, " is left out: it would be an arc of ", planned,
                          " degrees, and ", found.angles_where, " has ", arc));
}

std::optional<Acquisition> find_data_exchange(const hdf5::File& file, const OpenOptions& options) {
  if (!file.has("/exchange/data")) return std::nullopt;
  Acquisition acquisition;
  const std::string path = "/exchange/data";
  const std::optional<std::string> axes = axes_named(file, path);
  const auto data = std::make_shared<hdf5::DataSet>(file.data_set(path));
  acquisition.projections.push_back(frames_of(data, axes, options.time));
  note_absolute_link(file, path, acquisition.info.notes);
  if (data->shape().size() == 4) acquisition.times = data->shape()[0];
  acquisition.can_grow =
      !acquisition.times && data->can_grow() && axes.value_or("theta").starts_with("theta");
  acquisition.planned_views = data->most_slices();
  acquisition.flats = data_exchange_frames(file, FrameKind::flat);
  acquisition.darks = data_exchange_frames(file, FrameKind::dark);

  acquisition.angles_where = file.name() + ": /exchange/theta";
  if (file.has("/exchange/theta")) {
    const hdf5::DataSet theta = file.data_set("/exchange/theta");
    acquisition.angles = theta.numbers();
    if (const auto angles = theta.most_slices()) acquisition.planned_views = angles;
    const std::optional<std::string> unit = theta.text("units");
    const double factor = radians_per(unit.value_or("deg"), theta.where());
    acquisition.angles_have_unit = unit.has_value();
    for (double& angle : acquisition.angles) angle *= factor;
  }
  const Index views = acquisition.projections.front()->shape()[0],
              flats = acquisition.flats.empty() ? 0 : acquisition.flats.front()->shape()[0];
  if (flats > 0) acquisition.info.times = frame_times(file, views, flats);
  read_steps(file, views, acquisition);
  read_geometry(file, acquisition);
  read_exposures(file, views, flats, acquisition.info);
  heed(data_exchange_fields, file.name(), values_in(file, ""), acquisition.info.notes);
  read_shifts(file, views, acquisition);
  const std::string taken = "/process/acquisition/";
  if (options.darks.empty())
    take_value(file, taken + "dark_fields/dark_field_value", acquisition.darks, acquisition);
  if (options.flats.empty())
    take_value(file, taken + "flat_fields/flat_field_value", acquisition.flats, acquisition);
  return acquisition;
}

}  // namespace

Layout data_exchange_layout() {
  return {.name = "DXchange",
          .needed = {"/exchange/data (DXchange)", "/exchange/data_white", "/exchange/data_dark"},
          .fields = data_exchange_fields,
          .find = find_data_exchange,
          .frames = data_exchange_frames};
}

}  // namespace tandem::io
