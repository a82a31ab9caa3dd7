#include "balls.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "ball_body.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Vector3d;
using Spots = std::span<const std::vector<Spot>>;

/// Angles without jumps of a whole turn, for views in the order in which they were taken.
std::vector<double> unwrapped(std::vector<double> angles) {
  for (std::size_t k = 1; k < angles.size(); ++k)
    angles[k] -= whole_turn * std::round((angles[k] - angles[k - 1]) / whole_turn);
  return angles;
}

std::size_t fewest_views(std::size_t views) { return std::max<std::size_t>(6, views / 10); }

/// The problem with the balls of tracks through many views.
BallProblem problem_of(const std::vector<Track>& all, Spots spots, std::span<const double> angles,
                       const CircularScanner& scanner) {
  BallProblem p{.angles = angles, .sightings = {}, .scanner = scanner, .balls = {}};
  for (const Track& track : all) {
    if (track.size() < fewest_views(spots.size())) continue;
    std::vector<Sighting> seen;
    for (const Stop& stop : track) {
      const Spot& spot = spots[stop.view][stop.spot];
      seen.push_back({stop.view, p.balls.size(), spot.cell, spot.variance});
    }
    p.balls.push_back(triangulated(seen, angles, scanner));
    p.sightings.insert(p.sightings.end(), seen.begin(), seen.end());
  }
  return p;
}

/// A fit of the most important numbers, with the sense of rotation of `angles`.
BallFit rough_fit(const std::vector<Track>& all, Spots spots, std::span<const double> angles,
                  const CircularScanner& scanner) {
  BallProblem p = problem_of(all, spots, angles, scanner);
  constexpr std::size_t fewest = 3;
  require<GeometryError>(p.balls.size() >= fewest, "balls: ", p.balls.size(),
                         " are followed through a tenth of the views or more; at least ", fewest,
                         " are needed: spots that stand out, are round and do not touch each other");
  p.free[axis_bin] = p.free[midplane_row] = p.free[roll] = true;
  BallFit fit = fit_balls(p);
  p.scanner = fit.scanner, p.balls = fit.balls;
  p.free[sdd] = true;
  return fit_balls(p);
}

/// The balls of a fit, where balls that are nearer than the width of their shadows become one.
std::vector<Vector3d> without_doubles(const BallFit& fit, double radius) {
  std::vector<Vector3d> all;
  for (const Vector3d& ball : fit.balls)
    if (std::ranges::none_of(all, [&](const Vector3d& other) { return (ball - other).norm() < radius; }))
      all.push_back(ball);
  std::ranges::sort(all, {}, [](const Vector3d& ball) { return ball.z(); });
  return all;
}

/// The mean radius of balls, mm. The variance across a ball's shadow is a fifth of the square of the radius.
double radius_of(Spots spots, const CircularScanner& scanner) {
  double sum = 0, count = 0;
  for (const auto& view : spots)
    for (const Spot& spot : view) sum += std::sqrt(5 * spot.variance), ++count;
  return sum / count * scanner.row_pitch * scanner.sod / scanner.sdd;
}

/// Finds the sightings of the balls, and drops balls that are seen in few views.
void sight(BallProblem& p, Spots spots, double gate, bool may_drop) {
  p.sightings = sightings(spots, p.angles, p.scanner, p.balls, gate);
  if (!may_drop) return;
  std::vector<std::size_t> count(p.balls.size(), 0), number(p.balls.size(), 0);
  for (const Sighting& seen : p.sightings) ++count[seen.ball];
  std::vector<Vector3d> kept;
  for (std::size_t b = 0; b < p.balls.size(); ++b) {
    number[b] = kept.size();
    if (count[b] >= fewest_views(spots.size())) kept.push_back(p.balls[b]);
  }
  std::erase_if(p.sightings, [&](const Sighting& s) { return count[s.ball] < fewest_views(spots.size()); });
  for (Sighting& seen : p.sightings) seen.ball = number[seen.ball];
  p.balls = std::move(kept);
}

void take(BallProblem& p, const BallFit& fit) { p.scanner = fit.scanner, p.balls = fit.balls; }

double gate_of(const BallFit& fit) { return std::clamp(5 * fit.scatter, 0.5, 10.0); }

/// Keeps the balls that the body has, and puts them where the body has them.
std::vector<std::optional<std::size_t>> lay_body(BallProblem& p, std::span<const Vector3d> body) {
  const BodyMatch match = match_body(p.balls, body);
  std::vector<std::optional<std::size_t>> numbers_in_body;
  std::vector<Vector3d> places;
  for (const auto& number : match.number)
    if (number) numbers_in_body.push_back(number), places.push_back(match.places[*number]);
  p.balls = std::move(places), p.rigid = true;
  p.scanner.sod /= match.scale;
  return numbers_in_body;
}

/// Fits only the places, for a given scanner.
BallFit fit_places(BallProblem p, const CircularScanner& scanner) {
  p.scanner = scanner, p.rigid = false, p.lengths.clear(), p.free.fill(false);
  return fit_balls(p);
}

void check_lengths(const std::vector<KnownLength>& lengths, std::size_t balls) {
  for (const KnownLength& length : lengths)
    require<GeometryError>(std::max(length.first, length.second) < balls, "balls: a length from ball ",
                           length.first, " to ", length.second, ", but ", balls,
                           " balls were found; numbers count upwards from 0");
}

/// Scales scanner and balls so that the first known length holds.
void scale_to(BallProblem& p) {
  if (p.lengths.empty()) return;
  const KnownLength& first = p.lengths.front();
  const double factor = first.mm / (p.balls[first.first] - p.balls[first.second]).norm();
  p.scanner.sod *= factor;
  for (Vector3d& ball : p.balls) ball *= factor;
}

bool holds(const std::vector<Number>& all, Number number) {
  return std::ranges::find(all, number) != all.end();
}

std::vector<NotTold> not_told_by(const BallKnowledge& known, const BallFit& fit) {
  std::vector<NotTold> all;
  const bool pitch_tried = !known.places.empty() || known.lengths.size() > 1;
  if ((known.lengths.empty() && known.places.empty()) || holds(fit.unknown, sod))
    all.push_back(
        {"sod_mm",
         "the scale: a scan that is larger in all lengths looks the same, so sod is as it was given; "
         "a known length between two balls tells it"});
  if (!pitch_tried || holds(fit.unknown, pitch))
    all.push_back(
        {"pitch_deg",
         "the pitch of the detector: balls at other places look the same without it; known places, or "
         "two lengths at different heights, tell it"});
  for (const Number number : {yaw, sdd, midplane_row, roll, axis_bin})
    if (holds(fit.unknown, number))
      all.push_back({std::string(name_of(number)), "other numbers and places of balls make up for it"});
  return all;
}

}  // namespace

BallCalibration calibrate_by_balls(Spots spots, const ConeBeam& scan, const BallKnowledge& known) {
  BallCalibration all;
  for (const auto& view : spots) all.shadows += view.size();
  const std::vector<double> forward = unwrapped(scan.angles);
  std::vector<double> backward = forward;
  for (double& angle : backward) angle = -angle;
  const CircularScanner given = nominal(scan);
  const std::vector<Track> followed = tracks(spots, forward, {given.axis_bin, given.midplane_row});
  const std::array rough{rough_fit(followed, spots, forward, given),
                         rough_fit(followed, spots, backward, given)};
  all.reversed = rough[1].scatter < rough[0].scatter;
  const BallFit& first = rough[all.reversed ? 1 : 0];
  all.other_sense = rough[all.reversed ? 0 : 1].scatter / std::max(1e-9, first.scatter);
  all.angles = all.reversed ? backward : forward;

  BallProblem p{.angles = all.angles, .sightings = {}, .scanner = first.scanner, .balls = {}};
  p.balls = without_doubles(first, radius_of(spots, first.scanner));
  p.free.fill(true), p.free[sod] = p.free[pitch] = false;
  sight(p, spots, gate_of(first), true);
  all.fit = fit_balls(p);
  take(p, all.fit);
  if (!known.places.empty()) {
    all.number_in_body = lay_body(p, known.places);
    p.free[sod] = p.free[pitch] = true;
  } else {
    check_lengths(known.lengths, p.balls.size());
    p.lengths = known.lengths;
    scale_to(p);
    p.free[sod] = !p.lengths.empty(), p.free[pitch] = p.lengths.size() > 1;
  }
  sight(p, spots, gate_of(all.fit), known.lengths.empty() && known.places.empty());
  all.fit = fit_balls(p);
  all.sightings = p.sightings;
  all.before = fit_places(p, given);
  all.not_told = not_told_by(known, all.fit);
  return all;
}

}  // namespace tandem::calibration
