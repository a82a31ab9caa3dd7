// Scans that CIL wrote (NEXUSDataWriter): entry1/tomo_entry with a group `config`. CIL turns the sample by an
// angle, so that source and detector go the other way (CIL 26, convert_geometry_to_astra_vec_3D.py). Its
// lengths have no unit, and are taken as mm.

#include <cmath>
#include <memory>

#include "../../../core/error.hpp"
#include "../../../geometry/vector3.hpp"
#include "../cone_vectors.hpp"
#include "../recorded.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

const std::string entry = "/entry1/tomo_entry/", config = entry + "config/";

/// Fields below the entry; attributes are written after an @.
constexpr Field cil_fields[] = {
    {"config/source/position", "", Use::obeyed, "a cone beam, or a fan"},
    {"config/ray/direction", "", Use::obeyed, "of a parallel beam"},
    {"config/detector/position", "", Use::obeyed, "axis and midplane"},
    {"config/detector/direction_x", "", Use::obeyed, "which way columns count"},
    {"config/detector/direction_y", "", Use::obeyed, "which way rows count"},
    {"config/rotation_axis/position", "", Use::obeyed, "the axis"},
    {"config/rotation_axis/direction", "", Use::obeyed, "the axis; it becomes z"},
    {"config/angles", "", Use::obeyed, "the angle of each view"},
    {"config/angles@angle_unit", "degree", Use::obeyed, "degree or radian"},
    {"config/angles@initial_angle", "0", Use::obeyed, "added to all angles"},
    {"data/data@pixel_size_h", "", Use::obeyed, "pitch of columns"},
    {"data/data@pixel_size_v", "", Use::obeyed, "pitch of rows"},
    {"data/data@panel_origin", "bottom-left", Use::obeyed, "where the first pixel lies"},
    {"data/data@dim0", "", Use::obeyed, "what an axis is: channel ({time}), angle, vertical, horizontal"},
    {"data/data@scale", "", Use::refused, "data that were packed"},
    {"data/data@data_type", "AcquisitionData", Use::refused, "ImageData: a volume"},
};

/// A point of two or three numbers; the third one is 0 in a geometry of one plane.
Vector3 point_at(const hdf5::File& file, const std::string& path) {
  const hdf5::DataSet set = file.data_set(path);
  require<FileError>(set.size() == 2 || set.size() == 3, set.where(), ": has ", set.size(),
                     " numbers; x, y and z are needed");
  const std::vector<double> all = set.numbers();
  const Vector3 point{all[0], all[1], all.size() > 2 ? all[2] : 0};
  for (const double number : point)
    require<FileError>(std::isfinite(number), set.where(), ": has a number that is not finite");
  return point;
}

double pitch_of(const hdf5::DataSet& data, const char* attribute, double otherwise) {
  const double pitch = data.number(attribute).value_or(otherwise);
  require<FileError>(pitch > 0 && std::isfinite(pitch), data.where(), ": ", attribute, " = ", pitch,
                     "; a number above 0 is needed");
  return pitch;
}

/// The axes in the words of hdf5_frames, from the names that CIL gives them.
std::string axes_of(const hdf5::DataSet& data) {
  std::string axes;
  for (std::size_t k = 0; k < data.shape().size(); ++k) {
    const std::string label = data.text("dim" + std::to_string(k)).value_or("no name");
    if (k > 0) axes += ':';
    if (label == "angle")
      axes += "theta";
    else if (label == "vertical")
      axes += 'y';
    else if (label == "horizontal")
      axes += 'x';
    else
      axes += label;
  }
  return axes;
}

/// The directions and the positions of columns and rows of the detector before the scan begins.
FlexibleView first_view(const hdf5::File& file, const hdf5::DataSet& data) {
  const double h = pitch_of(data, "pixel_size_h", 1), v = pitch_of(data, "pixel_size_v", h);
  const std::string origin = data.text("panel_origin").value_or("bottom-left");
  const bool right = origin.find("right") != std::string::npos, top = origin.find("top") != std::string::npos;
  FlexibleView view{};
  view.bin_step = (right ? -h : h) * point_at(file, config + "detector/direction_x");
  view.row_step = {0, 0, v};
  if (file.has(config + "detector/direction_y"))
    view.row_step = v * point_at(file, config + "detector/direction_y");
  if (top) view.row_step = -1 * view.row_step;
  view.detector = point_at(file, config + "detector/position");
  view.source = {0, 1, 0};  // direction of parallel rays, unless the file gives another one
  if (file.has(config + "source/position")) view.source = point_at(file, config + "source/position");
  if (file.has(config + "ray/direction")) view.source = point_at(file, config + "ray/direction");
  return view;
}

bool has_source(const hdf5::File& file) { return file.has(config + "source/position"); }

/// Turns a point by the smallest rotation that makes a direction of length 1 the z axis (Rodrigues' formula).
Vector3 upright(const Vector3& p, const Vector3& axis) {
  const Vector3 about = cross(axis, {0, 0, 1});
  const double sine = length(about);
  if (sine == 0) return axis[2] > 0 ? p : Vector3{p[0], -p[1], -p[2]};
  const Vector3 n = 1 / sine * about;
  return axis[2] * p + sine * cross(n, p) + (1 - axis[2]) * dot(n, p) * n;
}

/// The view in a frame whose z axis is the rotation axis. Heights keep their origin, unless the axis leans:
/// then they count from its position.
FlexibleView about_axis(const hdf5::File& file, FlexibleView view) {
  Vector3 middle = point_at(file, config + "rotation_axis/position"), axis{0, 0, 1};
  if (file.has(config + "rotation_axis/direction")) axis = point_at(file, config + "rotation_axis/direction");
  require<FileError>(length(axis) > 0, file.name(), ": ", config,
                     "rotation_axis/direction has no length; a direction is needed");
  axis = 1 / length(axis) * axis;
  constexpr double upright_already = 1e-4;
  const bool leans = std::hypot(axis[0], axis[1]) > upright_already * axis[2];
  if (!leans) middle[2] = 0;
  view.detector = view.detector - middle;
  if (has_source(file)) view.source = view.source - middle;
  if (leans)
    for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
      *each = upright(*each, axis);
  return view;
}

/// Whether parallel rays and the columns of the detector are perpendicular to the axis and to one another. In
/// a geometry of one plane they are.
bool is_level(const FlexibleView& view) {
  constexpr double square = 1e-4;
  const double pitch = length(view.bin_step), ray = length(view.source);
  return pitch > 0 && ray > 0 && std::abs(view.bin_step[2]) <= square * pitch &&
         std::abs(view.source[2]) <= square * ray &&
         std::abs(dot(view.source, view.bin_step)) <= square * ray * pitch &&
         std::hypot(view.row_step[0], view.row_step[1]) <= square * length(view.row_step);
}

/// Completes a parallel beam. Its bins grow along (cos a, sin a), so the angle is that of the columns.
void complete_parallel(const hdf5::File& file, const FlexibleView& view, const std::vector<double>& turns,
                       const Shape& frame, Acquisition& found) {
  const double pitch = length(view.bin_step);
  if (!is_level(view)) {
    found.info.notes.push_back(file.name() + ": " + config +
                               ": rays, columns and axis are not square to one another, as in laminography: "
                               "each view keeps its own place");
    ViewGeometry views{.where = file.name() + ": " + config, .parallel = true};
    for (const double turn : turns) views.views.push_back(turned(view, turn));
    return take_views(found, std::move(views));
  }
  const double start = std::atan2(view.bin_step[1], view.bin_step[0]);
  for (const double turn : turns) found.angles.push_back(start + turn);
  const double along = view.detector[0] * std::cos(start) + view.detector[1] * std::sin(start);
  found.info.axis_bin = 0.5 * (frame[2] - 1) - along / pitch;
  found.info.pixel_size_mm = pitch;
  found.row_pitch_mm = std::abs(view.row_step[2]) > 0 ? std::abs(view.row_step[2]) : pitch;
}

std::optional<Acquisition> find_cil(const hdf5::File& file, const OpenOptions& options) {
  const std::optional<hdf5::DataSet> set = file.find(entry + "data/data");
  const std::string type = set ? set->text("data_type").value_or("") : "";
  require<FileError>(
      type != "ImageData", file.name(),
      ": holds a volume of CIL (ImageData), not a scan; tandem project makes a scan of a volume");
  if (type != "AcquisitionData" || !file.has(config + "angles")) return std::nullopt;
  require<FileError>(!set->number("scale"), set->where(),
                     ": is packed with a scale and an offset; write it again with compression=0");

  Acquisition found;
  found.info.notes.emplace_back("the lengths of CIL have no unit; they are taken as mm");
  const auto data = std::make_shared<hdf5::DataSet>(file.data_set(entry + "data/data"));
  note_absolute_link(file, entry + "data/data", found.info.notes);
  const std::string axes = axes_of(*data);
  if (axes.starts_with("channel:")) found.times = data->shape()[0];
  found.projections.push_back(hdf5_frames(data, axes, {}, options.time));
  const hdf5::DataSet angles = file.data_set(config + "angles");
  found.angles_where = angles.where();
  const double unit = radians_per(angles.text("angle_unit").value_or("degree"), angles.where());
  const double initial = angles.number("initial_angle").value_or(0);
  std::vector<double> turns = angles.numbers();
  for (double& turn : turns) turn = -unit * (initial + turn);

  const Shape& frame = found.projections.front()->shape();
  const FlexibleView view = about_axis(file, first_view(file, *data));
  if (!has_source(file)) {
    complete_parallel(file, view, turns, frame, found);
    return found;
  }
  std::vector<FlexibleView> views;
  for (const double turn : turns) views.push_back(turned(view, turn));
  require<FileError>(!views.empty(), angles.where(), ": has no angles");
  complete_circle(views, file.name() + ": " + config, frame, found);
  return found;
}

}  // namespace

Layout cil_layout() {
  return {.name = "CIL", .needed = {"a scan of CIL"}, .fields = cil_fields, .find = find_cil};
}

}  // namespace tandem::io
