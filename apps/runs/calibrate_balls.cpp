#include "calibrate.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "frames.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::BallCalibration, calibration::Number;
using nlohmann::json;

std::vector<std::vector<calibration::Spot>> spots_in(io::ScanReader& reader, const ScanOptions& o,
                                                     const Detector& detector, ProgressLine& progress) {
  std::vector<std::vector<calibration::Spot>> spots(select(o, reader.info()).views.size());
  const double size = detector.bin_pitch / detector.row_pitch;
  for_each_frame(reader, o, progress, [&](std::size_t view, std::span<const float> frame) {
    spots[view] = calibration::ball_shadows(frame, detector.rows, detector.bins, size);
  });
  return spots;
}

/// The selected part of the scan as a cone beam; its numbers count from the first selected row and bin.
ConeBeam cone_of(const io::ScanReader& reader, const ScanOptions& o) {
  const Scan& scan = reader.info().scan;
  require<GeometryError>(
      axis_of(scan) && rays_cross_slices(scan), "calibrate --balls: the scan is a ", kind_of(scan),
      " beam; balls tell the geometry of a cone beam: give --geometry cone, --sod and --sdd");
  const Selection s = select(o, reader.info());
  return crop(point_source_of(scan), s.views, s.rows, s.bins);
}

double value_of(const BallCalibration& found, Number number) {
  calibration::CircularScanner scanner = found.fit.scanner;
  return *calibration::numbers_of(scanner)[static_cast<std::size_t>(number)] * calibration::unit_of(number);
}

/// The first selected cell in the file, for the numbers that count cells.
double first_cell(const Selection& s, Number number) {
  return number == calibration::axis_bin       ? s.bins.first
         : number == calibration::midplane_row ? s.rows.first
                                               : 0;
}

bool is_told(const BallCalibration& found, std::string_view name) {
  return std::ranges::none_of(found.not_told, [&](const auto& each) { return each.what == name; });
}

/// Numbers with their uncertainties. A number that was held has none; the pitch is then not there at all.
void add_numbers(Calibrated& all, const BallCalibration& found, const Selection& s) {
  for (int n = 0; n < calibration::numbers; ++n) {
    const auto number = static_cast<Number>(n);
    const std::string name(calibration::name_of(number));
    const double value = value_of(found, number) + first_cell(s, number),
                 uncertainty = found.fit.uncertainty[n] * calibration::unit_of(number);
    const bool told = is_told(found, name);
    const std::string padded = name + std::string(14 - name.size(), ' ');
    if (number == calibration::pitch && !told) {
      all.report[name] = nullptr;
      continue;
    }
    all.report[name] = {{"value", value}, {"uncertainty", told ? json(uncertainty) : json(nullptr)}};
    all.lines.push_back(padded +
                        (told ? with_uncertainty(value, uncertainty) : rounded(value) + "  (as given)"));
  }
}

json balls_of(const BallCalibration& found) {
  json balls = json::array();
  const auto three = [](const Eigen::Vector3d& v) { return json{v.x(), v.y(), v.z()}; };
  for (std::size_t b = 0; b < found.fit.balls.size(); ++b) {
    json ball = {{"place_mm", three(found.fit.balls[b])}};
    if (!found.fit.ball_uncertainty.empty()) ball["uncertainty_mm"] = three(found.fit.ball_uncertainty[b]);
    if (!found.number_in_body.empty()) ball["known_as"] = found.number_in_body[b].value_or(0);
    balls.push_back(ball);
  }
  return balls;
}

/// All views of the file on all of its detector.
Scan views_by(const BallCalibration& found, ConeBeam whole, const Selection& s) {
  calibration::CircularScanner scanner = found.fit.scanner;
  scanner.axis_bin += s.bins.first, scanner.midplane_row += s.rows.first;
  if (found.reversed)
    for (double& angle : whole.angles) angle = -angle;
  return calibration::views_of(scanner, whole.detector, whole.angles);
}

double rms(const std::vector<Eigen::Vector2d>& residuals) {
  double sum = 0;
  for (const Eigen::Vector2d& r : residuals) sum += r.squaredNorm();
  return std::sqrt(sum / (2 * residuals.size()));
}

void draw_line(io::Picture& picture, const Eigen::Vector2d& from, const Eigen::Vector2d& to, float grey) {
  const double steps = std::ceil((to - from).lpNorm<Eigen::Infinity>()) + 1;
  for (double k = 0; k <= steps; ++k) {
    const Eigen::Vector2d at = from + k / steps * (to - from);
    const Index x = std::lround(at.x()), y = std::lround(at.y());
    if (0 <= x && x < picture.width && 0 <= y && y < picture.height)
      picture.grey[y * picture.width + x] = grey;
  }
}

/// Where shadows fell, as dots, and by how much the fit misses them, as lines `larger` times as long.
io::Picture residual_plot(const BallCalibration& found, const std::vector<Eigen::Vector2d>& residuals,
                          const Detector& d, const std::string& title) {
  constexpr double side = 480, length = 24;  // pixels; a line of the root mean square residual
  const double scale = side / std::max(d.bins, d.rows), size = rms(residuals),
               larger = size > 0 ? length / (size * scale) : 1;
  const auto pixels = [&](Index cells) { return std::lround(scale * cells); };
  io::Picture picture{pixels(d.bins), pixels(d.rows), {}, {}};
  picture.grey.assign(picture.width * picture.height, 1.0F);
  const auto place = [&](const Eigen::Vector2d& cell) -> Eigen::Vector2d {
    return scale * (cell + Eigen::Vector2d{0.5, 0.5});
  };
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    const Eigen::Vector2d from = place(found.sightings[k].cell);
    draw_line(picture, from, from - larger * scale * residuals[k], 0.55F);
  }
  for (const calibration::Sighting& seen : found.sightings)
    for (const double off : {-1.0, 0.0, 1.0})
      draw_line(picture, place(seen.cell) + Eigen::Vector2d{-1, off},
                place(seen.cell) + Eigen::Vector2d{1, off}, 0);
  picture.captions = {title + ": off by " + rounded(std::round(1e4 * size) / 1e4) + " cells rms",
                      "lines: " + rounded(std::round(larger)) + " times as long"};
  return picture;
}

void add_findings(Calibrated& all, const BallCalibration& found) {
  json not_told = json::array();
  for (const auto& [what, why] : found.not_told) {
    not_told.push_back({{"what", what}, {"why", why}});
    all.lines.push_back("not told      " + what + ": " + why);
  }
  const double before = rms(found.before.residuals), after = rms(found.fit.residuals);
  all.report.update({{"method", "balls"},
                     {"not_told", not_told},
                     {"balls", balls_of(found)},
                     {"shadows", found.shadows},
                     {"shadows_used", found.sightings.size()},
                     {"rms_before_cells", before},
                     {"rms_cells", after},
                     {"scatter_cells", found.fit.scatter},
                     {"rotation", found.reversed ? "against the angles" : "along the angles"},
                     {"other_rotation_fits_worse_by", found.other_sense}});
  all.lines.push_back("balls         " + counted(found.fit.balls.size(), "ball") + ", " +
                      counted(found.sightings.size(), "shadow") + " off by " +
                      rounded(std::round(1e4 * after) / 1e4) +
                      " cells rms; before: " + rounded(std::round(1e3 * before) / 1e3));
}

void warn_of_doubts(const BallCalibration& found, ProgressLine& progress) {
  constexpr double clearly = 1.5, most_left_out = 0.2;
  if (found.other_sense < clearly)
    progress.warn("calibrate: views go round one way or the other: both fit the balls nearly as well");
  else if (found.reversed)
    progress.warn(
        "calibrate: the sample turns against the angles of the scan; the file that is written has it right, "
        "and --rotation-direction -1 tells other commands");
  const double left_out = 1 - 1.0 * found.sightings.size() / std::max<std::size_t>(1, found.shadows);
  if (left_out > most_left_out)
    progress.warn("calibrate: " + rounded(std::round(100 * left_out)) +
                  " % of the round spots belong to no ball that was followed");
}

}  // namespace

Calibrated calibrate_on_balls(io::ScanReader& reader, const ScanOptions& o,
                              const calibration::BallKnowledge& known, ProgressLine& progress) {
  const ConeBeam scan = cone_of(reader, o);
  const auto spots = spots_in(reader, o, scan.detector, progress);
  progress("fit balls", 0, 1, "fits");
  const BallCalibration found = calibration::calibrate_by_balls(spots, scan, known);
  const Selection selected = select(o, reader.info());
  Calibrated all{views_by(found, point_source_of(reader.info().scan), selected), json::object(), {}, {}, {}};
  add_numbers(all, found, selected);
  add_findings(all, found);
  all.pictures = {residual_plot(found, found.before.residuals, scan.detector, "as the scan says"),
                  residual_plot(found, found.fit.residuals, scan.detector, "calibrated")};
  warn_of_doubts(found, progress);
  return all;
}

}  // namespace tandem::apps
