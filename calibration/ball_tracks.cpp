#include "ball_tracks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::calibration {

namespace {

using Eigen::Vector2d;

/// A track that is being followed.
struct Walk {
  Track track;
  Vector2d before, last;  ///< its last two places from the centre; each may be a predicted one
  int missed = 0;
};

/// A pair of a walk, or a ball, and a spot.
struct Pair {
  double distance;
  std::size_t who, spot;
};

/// Pairs in the order of distance, with each walk and each spot once.
std::vector<Pair> nearest_pairs(std::vector<Pair> all, std::size_t walks, std::size_t spots) {
  std::ranges::sort(all, {}, &Pair::distance);
  std::vector<char> walk_taken(walks, 0), spot_taken(spots, 0);
  std::vector<Pair> chosen;
  for (const Pair& pair : all) {
    if (walk_taken[pair.who] || spot_taken[pair.spot]) continue;
    walk_taken[pair.who] = spot_taken[pair.spot] = 1;
    chosen.push_back(pair);
  }
  return chosen;
}

template <class Distance>
std::vector<Pair> pairs_within(std::size_t walks, std::size_t spots, double gate, const Distance& distance) {
  std::vector<Pair> all;
  for (std::size_t w = 0; w < walks; ++w)
    for (std::size_t s = 0; s < spots; ++s)
      if (const double apart = distance(w, s); apart < gate) all.push_back({apart, w, s});
  return nearest_pairs(std::move(all), walks, spots);
}

/// The largest distances of a spot from its prediction, and in the step from the first view in which it is
/// seen. `reach` is the largest distance from the axis, in bins.
struct Bounds {
  double gate, step, rise;
  Bounds(double angle, double reach)
      : gate(2 + 0.3 * angle * angle * reach), step(2 + 1.3 * angle * reach), rise(2 + 0.3 * angle * reach) {}
};

class Follower {
 public:
  Follower(std::span<const std::vector<Spot>> spots, const Vector2d& centre, double reach)
      : spots_(spots), centre_(centre), reach_(reach) {}

  void step(std::size_t view, double angle) {
    const Bounds bounds(angle, reach_);
    std::vector<Vector2d> places;
    for (const Spot& spot : spots_[view]) places.emplace_back(spot.cell - centre_);
    std::vector<char> taken(places.size(), 0);
    std::vector<Vector2d> predicted;
    for (const Walk& walk : walks_) predicted.emplace_back(2 * std::cos(angle) * walk.last - walk.before);
    for (std::size_t w = 0; w < walks_.size(); ++w)  // rows hardly move
      predicted[w].y() = 2 * walks_[w].last.y() - walks_[w].before.y();
    std::vector<char> seen(walks_.size(), 0);
    for (const Pair& pair : pairs_within(walks_.size(), places.size(), bounds.gate,
                                         [&](auto w, auto s) { return (places[s] - predicted[w]).norm(); })) {
      taken[pair.spot] = seen[pair.who] = 1;
      Walk& walk = walks_[pair.who];
      walk.before = walk.last, walk.last = places[pair.spot], walk.missed = 0;
      walk.track.push_back({view, pair.spot});
    }
    coast(seen, predicted);
    begin(view, places, taken, bounds);
  }

  std::vector<Track> all() {
    for (Walk& walk : walks_) ended_.push_back(std::move(walk.track));
    std::erase_if(ended_, [](const Track& track) { return track.size() < 4; });
    return std::move(ended_);
  }

 private:
  /// Lets walks without a spot go on as predicted, or end.
  void coast(const std::vector<char>& seen, const std::vector<Vector2d>& predicted) {
    std::vector<Walk> going;
    for (std::size_t w = 0; w < walks_.size(); ++w) {
      Walk& walk = walks_[w];
      if (!seen[w]) walk.before = walk.last, walk.last = predicted[w], ++walk.missed;
      if (walk.missed > 1)
        ended_.push_back(std::move(walk.track));
      else
        going.push_back(std::move(walk));
    }
    walks_ = std::move(going);
  }

  /// Begins walks with pairs of spots in the view before and in this one that no walk has.
  void begin(std::size_t view, const std::vector<Vector2d>& places, const std::vector<char>& taken,
             const Bounds& bounds) {
    const auto apart = [&](std::size_t f, std::size_t s) {
      const Vector2d off = places[s] - free_[f].place;
      return taken[s] || std::abs(off.x()) > bounds.step ? std::numeric_limits<double>::infinity()
                                                         : std::abs(off.y()) + 0.05 * std::abs(off.x());
    };
    std::vector<char> used = taken;
    for (const Pair& pair : pairs_within(free_.size(), places.size(), bounds.rise, apart)) {
      used[pair.spot] = 1;
      walks_.push_back({{free_[pair.who].stop, {view, pair.spot}}, free_[pair.who].place, places[pair.spot]});
    }
    free_.clear();
    for (std::size_t s = 0; s < places.size(); ++s)
      if (!used[s]) free_.push_back({{view, s}, places[s]});
  }

  struct Free {
    Stop stop;
    Vector2d place;
  };
  std::span<const std::vector<Spot>> spots_;
  Vector2d centre_;
  double reach_;
  std::vector<Walk> walks_;
  std::vector<Free> free_;
  std::vector<Track> ended_;
};

}  // namespace

std::vector<Track> tracks(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                          const Vector2d& centre) {
  double reach = 0;
  for (const auto& view : spots)
    for (const Spot& spot : view) reach = std::max(reach, std::abs(spot.cell.x() - centre.x()));
  Follower follower(spots, centre, reach);
  for (std::size_t k = 0; k < spots.size(); ++k)
    follower.step(k, k == 0 ? 0 : std::abs(angles[k] - angles[k - 1]));
  return follower.all();
}

std::vector<Sighting> sightings(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                                const CircularScanner& scanner, std::span<const Eigen::Vector3d> balls,
                                double gate) {
  std::vector<Sighting> seen;
  const Foot nearest = foot(scanner);
  for (std::size_t view = 0; view < spots.size(); ++view) {
    std::vector<Vector2d> predicted;
    for (const Eigen::Vector3d& ball : balls) predicted.push_back(shadow(scanner, angles[view], ball).cell);
    const auto apart = [&](std::size_t b, std::size_t s) {
      return (spots[view][s].cell - moved_out(scanner, nearest, predicted[b], spots[view][s].variance))
          .norm();
    };
    for (const Pair& pair : pairs_within(balls.size(), spots[view].size(), gate, apart))
      seen.push_back({view, pair.who, spots[view][pair.spot].cell, spots[view][pair.spot].variance});
  }
  return seen;
}

}  // namespace tandem::calibration
