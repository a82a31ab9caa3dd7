#include "station_board.hpp"

#include <algorithm>

#include "../../solvers/run.hpp"

namespace tandem::pipeline {

namespace {

constexpr std::size_t most_curves = 8, most_points = 256;
constexpr double telling_s = 0.5;  // a shift that has taken so long gives a rate before it ends

}  // namespace

StationBoard::Snapshot StationBoard::snapshot() const {
  const std::lock_guard lock(mutex_);
  const double now = seconds_now();
  Snapshot seen{slices_, {}, {}};
  for (const Station& station : stations_) {
    seen.stations.push_back(station.state);
    seen.stations.back().seconds += station.state.working * now - station.begun;
  }
  for (const Curve& curve : curves_) seen.curves.push_back(curve.shown);
  return seen;
}

void StationBoard::expect(double slices) {
  const std::lock_guard lock(mutex_);
  slices_ = slices;
}

std::size_t StationBoard::named(const std::string& station) {
  const auto found = std::find_if(stations_.begin(), stations_.end(),
                                  [&](const Station& s) { return s.state.name == station; });
  const std::size_t place = found - stations_.begin();
  if (found == stations_.end()) stations_.emplace_back().state.name = station;
  return place;
}

void StationBoard::queue(const std::string& station, int change) {
  const std::lock_guard lock(mutex_);
  int& waiting = stations_[named(station)].state.waiting;
  waiting = std::max(0, waiting) + change;
}

void StationBoard::residual(Range slices, int iteration, double relative) {
  const std::lock_guard lock(mutex_);
  auto curve =
      std::find_if(curves_.begin(), curves_.end(), [&](const Curve& c) { return c.shown.slices == slices; });
  if (curve == curves_.end()) {
    if (curves_.size() == most_curves) curves_.erase(curves_.begin());
    curve = curves_.insert(curves_.end(), Curve{.shown = {slices, {}, {}}});
  }
  auto& [range, iterations, residuals] = curve->shown;
  if (iteration % curve->step != 0) return;
  iterations.push_back(iteration);
  residuals.push_back(relative);
  if (iterations.size() < most_points) return;
  for (std::size_t k = 0; 2 * k < iterations.size(); ++k)
    iterations[k] = iterations[2 * k], residuals[k] = residuals[2 * k];
  iterations.resize((iterations.size() + 1) / 2);
  residuals.resize(iterations.size());
  curve->step *= 2;
}

StationBoard::Shift StationBoard::begin(const std::string& station, double now) {
  const std::lock_guard lock(mutex_);
  const Shift shift{named(station), now};
  Station& at = stations_[shift.station];
  ++at.state.working;
  at.begun += shift.begun;
  return shift;
}

void StationBoard::reached(Shift& shift, const Load& done, double now) {
  const std::lock_guard lock(mutex_);
  add(shift, done, now, now - shift.begun > telling_s);
}

void StationBoard::end(Shift& shift, const Load& done, double now) {
  const std::lock_guard lock(mutex_);
  add(shift, done, now, true);
  Station& at = stations_[shift.station];
  --at.state.working;
  at.begun -= shift.begun;
  at.state.seconds += now - shift.begun;
}

void StationBoard::add(Shift& shift, const Load& done, double now, bool counts_as_best) {
  StationState& state = stations_[shift.station].state;
  const auto grow = [](double& sum, double& before, double after) {
    sum += std::max(0.0, after - before);
    before = std::max(before, after);
  };
  grow(state.done.slices, shift.done.slices, done.slices);
  grow(state.done.bytes, shift.done.bytes, done.bytes);
  grow(state.done.updates, shift.done.updates, done.updates);
  const double amount = shift.done.updates > 0 ? shift.done.updates : shift.done.bytes;
  if (!(amount > 0) || !(now > shift.begun)) return;
  state.rate = amount / (now - shift.begun);
  if (counts_as_best) state.best = std::max(state.best, state.rate);
}

}  // namespace tandem::pipeline
