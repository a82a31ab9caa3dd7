// From the shadows of balls: what they say of a scan.

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "find.hpp"

namespace tandem::calibration {

namespace {

/// The selected part of the scan as a cone beam; its numbers count from the first selected row and bin.
ConeBeam cone_of(const MeasuredFrames& measured) {
  const auto& [scan, views, rows, bins, each, axis_known] = measured;
  require<GeometryError>(axis_of(scan) && rays_cross_slices(scan), "calibrate ", spelled("balls"),
                         ": the scan is a ", kind_of(scan),
                         " beam; balls tell the geometry of a cone beam: give ", spelled("geometry"),
                         " cone, ", spelled("sod"), " and ", spelled("sdd"));
  return crop(point_source_of(scan), views, rows, bins);
}

std::vector<std::vector<Spot>> spots_in(const MeasuredFrames& measured, const Detector& detector) {
  std::vector<std::vector<Spot>> spots(measured.views.size());
  const double size = detector.bin_pitch / detector.row_pitch;
  measured.each([&](std::size_t view, std::span<const float> frame) {
    spots[view] = ball_shadows(frame, detector.rows, detector.bins, size);
  });
  return spots;
}

/// The scanner with cells that count from the first ones of the file.
CircularScanner in_file(CircularScanner scanner, const MeasuredFrames& measured) {
  scanner.axis_bin += measured.bins.first, scanner.midplane_row += measured.rows.first;
  return scanner;
}

/// All views of the file on all of its detector.
Scan views_by(const CircularScanner& scanner, bool reversed, ConeBeam whole) {
  if (reversed)
    for (double& angle : whole.angles) angle = -angle;
  return views_of(scanner, whole.detector, whole.angles);
}

/// Numbers with their uncertainties. A number that was held has none; the pitch is then not there at all.
void add_numbers(Found& all, const BallCalibration& found, CircularScanner scanner) {
  const auto values = numbers_of(scanner);
  for (int n = 0; n < numbers; ++n) {
    const auto number = static_cast<Number>(n);
    Quantity each{std::string(name_of(number))};
    const bool told = std::ranges::none_of(found.not_told,
                                           [&](const auto& not_told) { return not_told.what == each.name; });
    if (number != pitch || told) each.value = {*values[n] * unit_of(number)};
    if (told) each.uncertainty = {found.fit.uncertainty[n] * unit_of(number)};
    all.numbers.push_back(std::move(each));
  }
}

void add_balls(Found& all, const BallFit& fit, const BallCalibration& found) {
  const auto three = [](const Eigen::Vector3d& v) { return Vector3{v.x(), v.y(), v.z()}; };
  for (std::size_t b = 0; b < fit.balls.size(); ++b) {
    FoundBall ball{three(fit.balls[b]), {}, {}};
    if (!fit.ball_uncertainty.empty()) ball.uncertainty = three(fit.ball_uncertainty[b]);
    if (!found.number_in_body.empty()) ball.known_as = found.number_in_body[b].value_or(0);
    all.balls.push_back(ball);
  }
}

std::vector<Miss> misses_of(const BallCalibration& found, const BallFit& fit) {
  std::vector<Miss> all;
  for (std::size_t k = 0; k < fit.residuals.size(); ++k) {
    const Eigen::Vector2d &cell = found.sightings[k].cell, &off = fit.residuals[k];
    all.push_back({{cell.x(), cell.y()}, {off.x(), off.y()}});
  }
  return all;
}

void warn_of_doubts(Found& all, const BallCalibration& found) {
  constexpr double clearly = 1.5, most_left_out = 0.2;
  all.sense = {found.reversed, found.other_sense};
  warn_of_sense(all, clearly, "the balls ");
  const double left_out = 1 - 1.0 * found.sightings.size() / std::max<std::size_t>(1, found.shadows);
  if (left_out > most_left_out)
    all.warnings.push_back("calibrate: " + std::to_string(std::lround(100 * left_out)) +
                           " % of the round spots belong to no ball that was followed");
}

}  // namespace

Found find_by_balls(const MeasuredFrames& measured, const BallKnowledge& known, const How& how) {
  const ConeBeam scan = cone_of(measured);
  const auto spots = spots_in(measured, scan.detector);
  how.watch("fit balls", 0, 1, "fits");
  const BallCalibration found = calibrate_by_balls(spots, scan, known);
  const CircularScanner scanner = in_file(found.fit.scanner, measured);
  Found all{"balls", views_by(scanner, found.reversed, point_source_of(measured.scan))};
  add_numbers(all, found, scanner);
  all.not_told = found.not_told;
  add_balls(all, found.fit, found);
  all.misses = {misses_of(found, found.before), misses_of(found, found.fit)};
  all.facts = {{"shadows", static_cast<Index>(found.shadows)},
               {"shadows_used", std::ssize(found.sightings)},
               {"rms_before_cells", rms_of(all.misses[0])},
               {"rms_cells", rms_of(all.misses[1])},
               {"scatter_cells", found.fit.scatter}};
  warn_of_doubts(all, found);
  return all;
}

}  // namespace tandem::calibration
