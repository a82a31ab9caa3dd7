#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "../../core/range.hpp"

namespace tandem::pipeline {

/// What passes through a station. A station moves bytes, or computes updates (a voxel times a view).
struct Load {
  double slices = 0, bytes = 0, updates = 0;
};

/// What a station has done so far, all workers together.
struct StationState {
  std::string name;
  Load done;
  double seconds = 0;         ///< of work until now, also of work that has not ended
  double rate = 0, best = 0;  ///< updates or bytes in a second of work: of the chunk at last, and the fastest
  int working = 0;            ///< workers that are at it now
  int waiting = -1;  ///< chunks that wait in front of it; -1: it takes what the station before has done
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
    double slices = 0;                   ///< that are to be made
    std::vector<StationState> stations;  ///< in the order in which they began
    std::vector<ResidualCurve> curves;   ///< of the chunks that began last, the newest at the end
  };
  Snapshot snapshot() const;

  void expect(double slices);
  /// A chunk comes to wait in front of a station (1), or waits no more (-1).
  void queue(const std::string& station, int change);
  /// One more residual. Iteration 0 begins a new curve. Long curves keep every 2nd point, then every 4th, ...
  void residual(Range slices, int iteration, double relative);

  /// Work of one worker on one chunk at one station.
  struct Shift {
    std::size_t station = 0;
    double begun = 0;
    Load done = {};
  };
  /// `now` is by `seconds_now`, also below.
  Shift begin(const std::string& station, double now);
  /// All that was done since the shift began. It may come from several threads, in any order.
  void reached(Shift& shift, const Load& done, double now);
  void end(Shift& shift, const Load& done, double now);

 private:
  std::size_t named(const std::string& station);
  void add(Shift& shift, const Load& done, double now, bool counts_as_best);

  struct Station {
    StationState state;
    double begun = 0;  ///< sum of the times when shifts began that have not ended
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
