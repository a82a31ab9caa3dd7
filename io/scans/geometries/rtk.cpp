// The geometry of RTK (RTKThreeDCircularGeometry, an XML file), with nine numbers for each projection. Its
// frame has the axis along y, and the source along z at angle 0. Here x is x of RTK, y is -z of RTK, and z is
// y of RTK. Its matrices say the same again, and are read if the numbers are missing. Source:
// rtkThreeDCircularProjectionGeometry and its XML reader, RTK 2.7.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "../../../core/error.hpp"
#include "../../../core/units.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../geometry/vector3.hpp"
#include "../../files/text.hpp"
#include "../../files/text_file.hpp"
#include "../../files/xml.hpp"
#include "../settings/key_values.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index longest_rtk = Index{1} << 28;  // bytes: a quarter of a million projections

Vector3 from_rtk(const Vector3& p) { return {p[0], -p[2], p[1]}; }

/// The directions of a detector, from RTK's angles: along its bins, along its rows, and towards the source.
struct Frame {
  Vector3 along, up, towards;
  Vector3 at(double x, double y, double z) const { return x * along + y * up + z * towards; }
};

/// The directions as the rows of Rz(-in plane) Rx(-out of plane) Ry(-gantry), which turns RTK's frame to that
/// of the detector.
Frame frame_at(double gantry, double out_of_plane, double in_plane) {
  const double ca = std::cos(-gantry), sa = std::sin(-gantry), cb = std::cos(-out_of_plane),
               sb = std::sin(-out_of_plane), cc = std::cos(-in_plane), sc = std::sin(-in_plane);
  const Vector3 x{ca, 0, sa}, y{sb * sa, cb, -sb * ca}, z{-cb * sa, sb, cb * ca};
  return {from_rtk(cc * x - sc * y), from_rtk(sc * x + cc * y), from_rtk(z)};
}

/// The texts of XML elements, by their names.
using Elements = std::map<std::string, std::string, std::less<>>;

void add(Elements& all, const pugi::xml_node& element, const std::string& where) {
  if (element.type() != pugi::node_element) return;
  require<FileError>(all.emplace(element.name(), text_of(element)).second, where, ": has ", element.name(),
                     " twice; one is needed");
}

/// A projection. Its own elements have precedence over those of all projections.
struct Projection {
  const Elements &own, &common;
  std::string where;

  double number(std::string_view name) const {
    for (const Elements* each : {&own, &common}) {
      const auto found = each->find(name);
      if (found == each->end()) continue;
      const std::optional<double> value = finite_number(found->second);
      require<FileError>(value.has_value(), where, ": ", name, " = \"", found->second.substr(0, 40),
                         "\"; a finite number is needed");
      return *value;
    }
    return 0;
  }
};

/// The view of a cylindrical detector. It touches the flat one at x = 0, and the source must lie before this
/// line, because else the axis of the cylinder does not pass through the source. x is along the arc.
FlexibleView view_of_cylinder(const Projection& p, const Frame& frame, double radius) {
  const double sid = p.number("SourceToIsocenterDistance"), sdd = p.number("SourceToDetectorDistance");
  constexpr double same = 1e-6;
  require<FileError>(
      std::abs(radius - sdd) <= same * sdd && std::abs(p.number("SourceOffsetX")) <= same * sdd, p.where,
      ": has a cylindrical detector of ", radius, " mm about another line than the source, which is ", sdd,
      " mm away; resample it to a flat one");
  const FlexibleView touching{frame.at(0, p.number("SourceOffsetY"), sid),
                              frame.at(0, p.number("ProjectionOffsetY"), sid - sdd), frame.along, frame.up};
  return moved({.detector = {}, .curved = true}, touching, 0, p.number("ProjectionOffsetX"));
}

FlexibleView view_of(const Projection& p) {
  const Frame frame = frame_at(in_radians(p.number("GantryAngle")), in_radians(p.number("OutOfPlaneAngle")),
                               in_radians(p.number("InPlaneAngle")));
  const double sid = p.number("SourceToIsocenterDistance"), sdd = p.number("SourceToDetectorDistance");
  const double x = p.number("ProjectionOffsetX"), y = p.number("ProjectionOffsetY");
  if (const double radius = p.number("RadiusCylindricalDetector"); radius != 0)
    return view_of_cylinder(p, frame, radius);
  if (sdd == 0) return {-1 * frame.towards, frame.at(x, y, 0), frame.along, frame.up};
  return {frame.at(p.number("SourceOffsetX"), p.number("SourceOffsetY"), sid), frame.at(x, y, sid - sdd),
          frame.along, frame.up};
}

/// A matrix that takes a point of RTK's frame to (u w, v w, w), where u and v are mm on the detector.
struct Matrix {
  Vector3 u, v, w;
  double u0, v0, w0;
};

Matrix matrix_in(const Projection& p) {
  std::istringstream text(p.own.find("Matrix")->second);
  std::vector<double> numbers;
  for (std::string word; text >> word;) numbers.push_back(finite_number(word).value_or(NAN));
  require<FileError>(
      numbers.size() == 12 && std::ranges::all_of(numbers, [](double n) { return std::isfinite(n); }),
      p.where, ": Matrix has ", numbers.size(), " numbers; 12 finite ones are needed");
  const auto row = [&](std::size_t k) {
    return from_rtk({numbers[4 * k], numbers[4 * k + 1], numbers[4 * k + 2]});
  };
  return {row(0), row(1), row(2), numbers[3], numbers[7], numbers[11]};
}

/// The view of parallel rays. u and v change along the bins and the rows, and the rays are perpendicular to
/// both.
FlexibleView view_of_parallel(const Matrix& m) {
  const Vector3 along = 1 / m.w0 * m.u, up = 1 / m.w0 * m.v;
  return {cross(up, along), -m.u0 / m.w0 * along + -m.v0 / m.w0 * up, along, up};
}

/// The view of a point source. The source is the point with the image (0, 0, 0). From there w grows along the
/// normal of the detector. The parts of u and v that are perpendicular to w have the length of the distance
/// to the detector (Hartley and Zisserman, Multiple View Geometry, 2004, section 6.2).
FlexibleView view_of_source(const Matrix& m, const std::string& where) {
  const double volume = dot(m.w, cross(m.u, m.v));
  const Vector3 source =
      -1 / volume * (m.w0 * cross(m.u, m.v) + m.u0 * cross(m.v, m.w) + m.v0 * cross(m.w, m.u));
  const double scale = std::copysign(1 / length(m.w), -dot(m.w, source));  // the origin is before the source
  const Vector3 away = scale * m.w;
  const double u = dot(scale * m.u, away), v = dot(scale * m.v, away);
  const Vector3 along = scale * m.u - u * away, up = scale * m.v - v * away;
  const double sdd = length(along);
  constexpr double same = 1e-3;
  require<FileError>(std::isfinite(length(source)) && std::abs(length(up) - sdd) <= same * sdd &&
                         std::abs(dot(along, up)) <= same * sdd * sdd,
                     where, ": Matrix is that of no source and a detector with millimetres along both sides");
  return {source, source + sdd * away - u / sdd * along - v / sdd * up, 1 / sdd * along, 1 / sdd * up};
}

bool is_of_parallel_rays(const Matrix& m) { return length(m.w) == 0; }

FlexibleView view_of(const Matrix& m, const std::string& where) {
  FlexibleView view = is_of_parallel_rays(m) ? view_of_parallel(m) : view_of_source(m, where);
  constexpr double same = 1e-3;
  require<FileError>(std::abs(length(view.bin_step) - 1) < same && std::abs(length(view.row_step) - 1) < same,
                     where, ": Matrix is not in millimetres on the detector");
  view.bin_step = 1 / length(view.bin_step) * view.bin_step;
  view.row_step = 1 / length(view.row_step) * view.row_step;
  return view;
}

struct Read {
  FlexibleView view;
  bool parallel, curved;
};

Read read_projection(const Projection& p) {
  const bool curved = p.number("RadiusCylindricalDetector") != 0;
  if (p.own.contains("GantryAngle") || p.common.contains("GantryAngle"))
    return {view_of(p), p.number("SourceToDetectorDistance") == 0, curved};
  require<FileError>(p.own.contains("Matrix"), p.where, ": has no GantryAngle and no Matrix");
  require<FileError>(!curved, p.where,
                     ": has a cylindrical detector, but no GantryAngle, which a matrix does not replace");
  const Matrix matrix = matrix_in(p);
  return {view_of(matrix, p.where), is_of_parallel_rays(matrix), false};
}

/// Notes elements that bear on nothing here, such as the jaws of a collimator.
void note_others(const Elements& all, const std::string& where, std::set<std::string>& noted,
                 std::vector<std::string>& notes) {
  for (const auto& [name, text] : all)
    if (!is_among(name,
                  "SourceToIsocenterDistance SourceToDetectorDistance GantryAngle OutOfPlaneAngle "
                  "InPlaneAngle ProjectionOffsetX ProjectionOffsetY SourceOffsetX SourceOffsetY "
                  "RadiusCylindricalDetector Matrix") &&
        noted.insert(name).second)
      notes.push_back(where + ": " + name + " is left out: it is no place of source or detector");
}

/// The element with all projections. Version 3 has what version 2 has, and cylindrical detectors.
pugi::xml_node geometry_in(const pugi::xml_document& tree, const std::string& where) {
  const pugi::xml_node root = tree.child("RTKThreeDCircularGeometry");
  require<FileError>(!root.empty(), where, ": has no RTKThreeDCircularGeometry; a geometry of RTK is needed");
  const std::string version = root.attribute("version").as_string("3");
  require<FileError>(version == "2" || version == "3", where, ": version = \"", version,
                     "\"; 2 or 3 is needed, as RTK reads");
  return root;
}

ViewGeometry read_rtk(const fs::path& path) {
  const std::string name = path.string();
  const pugi::xml_document tree = xml_in(text_of_regular_file(path, "a geometry of RTK", longest_rtk), name);
  ViewGeometry found{.where = name, .unit_steps = true};
  found.notes.push_back(name + ": is taken for images whose middle is at (0, 0) of the detector");
  Elements common;
  std::set<std::string> noted;
  for (const pugi::xml_node& each : geometry_in(tree, name).children()) {
    if (std::string_view(each.name()) != "Projection") {
      add(common, each, name);
      continue;
    }
    const std::string where = name + ": projection " + std::to_string(found.views.size());
    Elements own;
    for (const pugi::xml_node& element : each.children()) add(own, element, where);
    note_others(own, where, noted, found.notes);
    const auto [view, parallel, curved] = read_projection({own, common, where});
    require<FileError>(
        found.views.empty() || (found.parallel == parallel && found.curved == curved), where,
        ": has parallel rays or a cylindrical detector and others do not, or the other way round");
    found.parallel = parallel, found.curved = curved;
    found.views.push_back(view);
  }
  note_others(common, name, noted, found.notes);
  return found;
}

bool is_rtk(const fs::path& path) { return in_lower_case(path.extension().string()) == ".xml"; }

constexpr double square = 1e-6;  // sine of an angle

/// @throws GeometryError unless bins and rows are at right angles, as RTK has them
Frame frame_of(const FlexibleView& view, std::size_t number) {
  const Vector3 along = 1 / length(view.bin_step) * view.bin_step,
                up = 1 / length(view.row_step) * view.row_step;
  require<GeometryError>(
      std::abs(dot(along, up)) <= square, "RTK geometry: view ", number,
      ": bins and rows are not at right angles, which RTK does not know; give another format");
  return {along, up, cross(along, up)};
}

/// A view of a curved detector as RTK writes it. The cylinder touches the flat detector where the source lies
/// before it, and lengths along the arc are those on the flat detector.
FlexibleView on_flat_detector(const FlexibleView& view) {
  const double pitch = length(view.bin_step), row = length(view.row_step);
  const Vector3 up = 1 / row * view.row_step, ray = view.detector - view.source,
                away = ray - dot(ray, up) * up;
  const double radius = length(away),
               turn = std::atan(radius * dot(view.source, view.bin_step) / (pitch * dot(view.source, away)));
  FlexibleView touching = moved({.detector = {}, .curved = true}, view, 0, turn * radius / pitch);
  touching.detector = touching.detector - turn * radius / pitch * touching.bin_step;
  return touching;
}

void write_projection(std::ostream& to, const FlexibleView& view, bool parallel, std::size_t number) {
  const Frame frame = frame_of(view, number);
  const auto write = [&](const char* name, double value) {
    to << "    <" << name << '>' << value << "</" << name << ">\n";
  };
  // the angles of this frame; RTK's y is z here, and its z is -y
  const double sin_out = frame.towards[2];
  write("GantryAngle", in_degrees(std::atan2(frame.towards[0], -frame.towards[1])));
  write("OutOfPlaneAngle", in_degrees(-std::asin(std::clamp(sin_out, -1.0, 1.0))));
  write("InPlaneAngle", in_degrees(std::atan2(frame.along[2], frame.up[2])));
  if (parallel) {
    const double aslant = length(cross(frame.towards, view.source)) / length(view.source);
    require<GeometryError>(aslant <= square, "RTK geometry: view ", number,
                           ": parallel rays do not meet the detector squarely, as RTK has them; give another "
                           "format");
    write("SourceToIsocenterDistance", 1000);
  } else {
    write("SourceToIsocenterDistance", dot(view.source, frame.towards));
    write("SourceToDetectorDistance", dot(view.source - view.detector, frame.towards));
    write("SourceOffsetX", dot(view.source, frame.along));
    write("SourceOffsetY", dot(view.source, frame.up));
  }
  write("ProjectionOffsetX", dot(view.detector, frame.along));
  write("ProjectionOffsetY", dot(view.detector, frame.up));
}

/// The matrix that takes a point of RTK's frame to millimetres on the detector, times a factor.
void write_matrix(std::ostream& to, const FlexibleView& view, bool parallel, std::size_t number) {
  const Frame frame = frame_of(view, number);
  const auto rtk = [](const Vector3& p) { return std::array{p[0], p[2], -p[1]}; };
  const double x = dot(view.detector, frame.along), y = dot(view.detector, frame.up);
  std::array<std::array<double, 4>, 3> rows{};
  const auto fill = [&](std::size_t row, const Vector3& normal, double constant) {
    const auto turned = rtk(normal);
    std::copy(turned.begin(), turned.end(), rows[row].begin());
    rows[row][3] = constant;
  };
  if (parallel) {
    fill(0, frame.along, -x), fill(1, frame.up, -y), fill(2, {0, 0, 0}, 1);
  } else {
    const double sid = dot(view.source, frame.towards), sdd = dot(view.source - view.detector, frame.towards);
    for (const auto& [row, way, middle] : {std::tuple{0, frame.along, x}, std::tuple{1, frame.up, y}}) {
      const double source = dot(view.source, way);
      const Vector3 normal = -sdd * way + (source - middle) * frame.towards;
      fill(row, normal, sdd * source - (source - middle) * sid);
    }
    fill(2, frame.towards, -sid);
  }
  to << "    <Matrix>\n";
  for (const auto& row : rows)
    to << "      " << row[0] << ' ' << row[1] << ' ' << row[2] << ' ' << row[3] << '\n';
  to << "    </Matrix>\n";
}

/// The radius of the cylinder, since RTK has one for all views.
double radius_of(const std::vector<FlexibleView>& views) {
  const auto of = [](const FlexibleView& v) {
    return length(cross(v.detector - v.source, v.row_step)) / length(v.row_step);
  };
  constexpr double same = 1e-6;
  const double radius = of(views.front());
  for (std::size_t k = 0; k < views.size(); ++k)
    require<GeometryError>(
        std::abs(of(views[k]) - radius) <= same * radius, "RTK geometry: view ", k,
        ": its curved detector has another radius than that of view 0; RTK has one for all");
  return radius;
}

std::string rtk_text(const Scan& scan) {
  const auto free = as_free_views(scan);
  std::ostringstream text;
  text.precision(17);
  text << "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<!-- tandem geometry "
          "-->\n<RTKThreeDCircularGeometry version=\"3\">\n";
  if (free.curved)
    text << "  <RadiusCylindricalDetector>" << radius_of(free.views) << "</RadiusCylindricalDetector>\n";
  for (std::size_t k = 0; k < free.views.size(); ++k) {
    const FlexibleView view = free.curved ? on_flat_detector(free.views[k]) : free.views[k];
    text << "  <Projection>\n";
    write_projection(text, view, free.parallel, k);
    write_matrix(text, view, free.parallel, k);
    text << "  </Projection>\n";
  }
  text << "</RTKThreeDCircularGeometry>\n";
  return text.str();
}

}  // namespace

extern const GeometryFormat rtk_geometry{"RTK", "*.xml", is_rtk, read_rtk, rtk_text, true};

}  // namespace tandem::io
