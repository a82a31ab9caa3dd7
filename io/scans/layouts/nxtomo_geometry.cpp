// The geometry of an NXtomo file: pitches, axis, distances, mirrored images.

#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../core/units.hpp"
#include "../../files/text.hpp"
#include "../recorded.hpp"
#include "../scan_facts.hpp"
#include "nxtomo.hpp"

namespace tandem::io {

namespace {

/// The distance from source to sample. NeXus counts along the beam, so it may be below 0.
std::optional<double> source_mm(const hdf5::File& file, const NXtomoPlaces& places,
                                std::vector<std::string>& notes) {
  const std::string path = places.entry + "/instrument/source/distance";
  const std::optional<double> value = recorded_number(file, path, notes);
  if (!value || *value == 0) return std::nullopt;
  const std::string unit = file.data_set(path).text("units").value_or("m");
  const std::optional<double> mm = mm_per(unit);
  if (!mm) notes.push_back(path + " is left out: units = \"" + unit + "\" is no length");
  return mm && std::isfinite(*value * *mm) ? std::optional(std::abs(*value * *mm)) : std::nullopt;
}

void read_axis(const hdf5::File& file, const NXtomoPlaces& places, Index bins, ScanInfo& info) {
  for (const char* name : {"/x_rotation_axis_pixel_position", "/estimated_cor_from_motor"}) {
    if (info.axis_bin) return;
    const std::optional<double> offset = recorded_number(file, places.detector + name, info.notes);
    if (offset) info.axis_bin = 0.5 * (bins - 1) + *offset;
  }
}

/// Reads the field of view. `half_acquisition` of newer files has precedence over `field_of_view` of older
/// ones.
void read_field_of_view(const hdf5::File& file, const NXtomoPlaces& places, ScanInfo& info) {
  const std::optional<hdf5::DataSet> set = file.find(places.detector + "/half_acquisition");
  const std::optional<bool> half = set ? set->flag() : std::nullopt;
  const bool by_name = in_lower_case(file.text(places.detector + "/field_of_view").value_or("")) == "half";
  if (!half.value_or(by_name)) return;
  info.field_of_view = FieldOfView::doubled;
  info.notes.emplace_back(half ? "half_acquisition: a half acquisition"
                               : "field_of_view Half: a half acquisition");
}

/// Whether a detector is turned by half a turn about an axis of its transformations; empty if there is no
/// such axis.
std::optional<bool> half_turn_about(const hdf5::File& file, const NXtomoPlaces& places,
                                    const std::string& axis, std::vector<std::string>& notes) {
  const std::string path = places.detector + "/transformations/" + axis;
  const std::optional<double> angle = recorded_number(file, path, notes);
  if (!angle) return std::nullopt;
  const double degrees =
      *angle * radians_per(file.data_set(path).text("units").value_or("deg"), path) / in_radians(1);
  constexpr double turn = 360, rounding = 1e-3;
  const double off = std::abs(std::remainder(degrees, turn));
  if (off >= rounding && std::abs(off - turn / 2) >= rounding)
    notes.push_back(words(path, " = ", degrees,
                          " deg is left out: only half a turn is turned back; NXtomo does not say which way "
                          "columns run, so the sign of a lean is open: give " +
                              spelled("detector-roll") + ", " + spelled("axis-tilt") + " or " +
                              spelled("geometry") + " FILE"));
  return std::abs(off - turn / 2) < rounding;
}

/// Turns back images that were mirrored on their way to the file, as nabu does. Older files have flags for
/// this. Newer files have transformations. In the frame of the ESRF, rz flips columns and ry flips rows. In
/// the frame of NeXus, ry flips columns and rx flips rows. The frame is known from the version of the file,
/// or from an axis that only one of the frames has.
void read_flips(const hdf5::File& file, const NXtomoPlaces& places, Acquisition& found) {
  std::vector<std::string>& notes = found.info.notes;
  Orientation& turned = found.orientation;
  turned.flip_columns = file.flag(places.detector + "/x_flipped");
  turned.flip_rows = file.flag(places.detector + "/y_flipped");
  const auto rx = half_turn_about(file, places, "rx", notes), ry = half_turn_about(file, places, "ry", notes),
             rz = half_turn_about(file, places, "rz", notes);
  const bool nexus = rx || file.text(places.entry.empty() ? "/" : places.entry, "NeXus_Coordinate_System");
  if (rz) {
    turned.flip_columns |= *rz;
    turned.flip_rows |= ry.value_or(false);
  } else if (nexus) {
    turned.flip_columns |= ry.value_or(false);
    turned.flip_rows |= rx.value_or(false);
  } else if (ry && *ry) {
    notes.emplace_back("transformations/ry without rx or rz is left out: it flips rows or columns; give " +
                       spelled("orient"));
  }
  if (turned.as_stored()) return;
  notes.push_back(std::string("the file says that its images are mirrored: they are turned back, ") +
                  (turned.flip_rows && turned.flip_columns ? "flip-rows,flip-columns"
                   : turned.flip_rows                      ? "flip-rows"
                                                           : "flip-columns") +
                  (turned.flip_columns && found.info.axis_bin
                       ? "; the recorded axis is taken to count in the images as stored"
                       : ""));
}

}  // namespace

NXtomoFrame nxtomo_frame_of(const hdf5::File& file, const NXtomoPlaces& places) {
  const std::string entry = places.entry.empty() ? "/" : places.entry;
  constexpr double first_in_nexus = 2;
  return file.number(entry, "version").value_or(first_in_nexus) < first_in_nexus &&
                 !file.text(entry, "NeXus_Coordinate_System")
             ? NXtomoFrame::esrf
             : NXtomoFrame::nexus;
}

void read_nxtomo_geometry(const hdf5::File& file, const NXtomoPlaces& places, Acquisition& found) {
  ScanInfo& info = found.info;
  const Index bins = found.projections.front()->shape()[2];
  const auto pitch = [&](const std::string& path) { return pitch_mm(file, path, "m", info.notes); };
  const std::string sample = places.entry + "/sample";
  read_axis(file, places, bins, info);
  for (const std::string beam : {"/instrument/beam", "/beam"})
    if (!info.energy_kev)
      info.energy_kev = energy_kev(file, places.entry + beam + "/incident_energy", info.notes);
  info.propagation_mm = length_mm(file, sample + "/propagation_distance", "m", info.notes);
  take_distances({.sod = source_mm(file, places, info.notes),
                  .to_detector = length_mm(file, places.detector + "/distance", "m", info.notes),
                  .bin = pitch(places.detector + "/x_pixel_size"),
                  .row = pitch(places.detector + "/y_pixel_size"),
                  .bin_at_sample = pitch(sample + "/x_pixel_size"),
                  .row_at_sample = pitch(sample + "/y_pixel_size")},
                 found);
  read_field_of_view(file, places, info);
  read_flips(file, places, found);
}

}  // namespace tandem::io
