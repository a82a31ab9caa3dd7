#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::pipeline {

/// What passes through a station. A station moves bytes, or computes updates (a voxel times a view).
struct Load {
  double slices = 0, bytes = 0, updates = 0;
};

/// What a station has done so far, all workers together.
struct StationState {
  std::string name;
  Load done;
  double seconds = 0;         ///< working time until now, with the work that has not ended
  double rate = 0, best = 0;  ///< updates or bytes per second of work: of the last chunk, and the highest
  int working = 0;            ///< workers that are at work here now
  int waiting = -1;           ///< chunks that wait in front of the station; -1: it has no queue
};

/// How a solver goes on some slices: |b - Ax| relative to the start, after some of its iterations.
struct ResidualCurve {
  Range slices;
  std::vector<int> iterations;
  std::vector<double> residuals;
};

/// The stations of a run for people who watch it. Stations write here once or a few times per chunk; any
/// thread may write and read.
class StationBoard {
 public:
  struct Snapshot {
    double slices = 0;                   ///< number of slices to be made
    std::vector<StationState> stations;  ///< in the order in which they began
    std::vector<ResidualCurve> curves;   ///< curves of the chunks that began last, the newest at the end
  };
  Snapshot snapshot() const;

  void expect(double slices);
  /// Notes that a chunk begins to wait in front of a station (1), or waits no more (-1).
  void queue(const std::string& station, int change);
  /// Adds a residual. Iteration 0 begins a new curve. Long curves keep every 2nd point, then every 4th, ...
  void residual(Range slices, int iteration, double relative);

  /// Work of one worker on one chunk at one station.
  struct Shift {
    std::size_t station = 0;
    double begun = 0;
    Load done = {};
  };
  /// Begins a shift. `now` is by `seconds_now`, here and below.
  Shift begin(const std::string& station, double now);
  /// Notes all that was done since the shift began. Calls may come from several threads, in any order.
  void reached(Shift& shift, const Load& done, double now);
  void end(Shift& shift, const Load& done, double now);

 private:
  std::size_t named(const std::string& station);
  void add(Shift& shift, const Load& done, double now, bool counts_as_best);

  struct Station {
    StationState state;
    double begun = 0;  ///< sum of the starting times of the shifts that have not ended
  };
  struct Curve {
    ResidualCurve shown;
    int step = 1;
  };
  mutable std::mutex mutex_;
  double slices_ = 0;
  std::vector<Station> stations_;
  std::vector<Curve> curves_;
};

}  // namespace tandem::pipeline
