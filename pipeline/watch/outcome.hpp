#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../../calibration/hardening.hpp"
#include "../../core/comm.hpp"
#include "../../counts/open_ends.hpp"
#include "../../counts/preprocess.hpp"
#include "../../io/png.hpp"
#include "beam_rows.hpp"
#include "curves.hpp"
#include "quality.hpp"
#include "value_range.hpp"

namespace tandem::pipeline {

/// Seconds of each station, and of the whole run. `search` comes before the others. `transfer` is to a GPU
/// and back. The seconds of several workers are added up.
struct Seconds {
  double total = 0, search = 0, read = 0, preprocess = 0, transfer = 0, filter = 0, backproject = 0,
         iterate = 0, write = 0;
  double finish = 0;  ///< from `total` until the volume is on the disk and has its name; set by the caller

  /// Adds the seconds of a worker.
  void operator+=(const Seconds& worker) {
    preprocess += worker.preprocess;
    transfer += worker.transfer;
    filter += worker.filter;
    backproject += worker.backproject;
    iterate += worker.iterate;
  }
};

/// How a solver went on some slices.
struct Iterated {
  Range slices;
  int iterations = 0;                   ///< the most iterations of a slice
  std::vector<int> slice_iterations;    ///< one per slice
  std::vector<std::string> stopped_by;  ///< one per slice
  std::vector<double> squares;          ///< |b - Ax|^2 over these slices, after each iteration
  CurveSums curves = {};                ///< if they are wanted
  double noise = 0;                     ///< the norm of the noise, if a stopping rule needs it
  double data = 0, below_zero = 0;      ///< the sizes of all data, and of the data that were clamped at zero
  std::vector<int> fitted_noise = {};   ///< the last steps of each slice, which fitted noise; if watched
  double voxels = 0, between = 0;       ///< if there are levels; `between`: see `Outcome`, not yet a share
};

/// How a scan was followed.
struct Followed {
  Index views = 0, of = 0;  ///< views that came, and views that were planned
  Index again = 0;          ///< views that were read again, because their weights came out differently
  double last_view = 0;     ///< when the last view was seen, by `seconds_now`
};

/// How the weight of total variation was looked for.
struct Searched {
  int trials = 0;
  Index slices = 0;
  double updates = 0, seconds = 0;  ///< updates are counted as in `Outcome`

  void operator+=(const Searched& other) {
    trials += other.trials, slices += other.slices, updates += other.updates;
  }
};

/// The outcome of a reconstruction, for the report. Stations that work at the same time write different parts
/// of it.
struct Outcome {
  Seconds seconds;
  Index slices = 0;        ///< slices that workers made
  double updates = 0;      ///< voxels times views, for every application of A and of At
  double left_to_cpu = 0;  ///< slices whose data a GPU should have prepared and could not
  Findings findings;
  int iterations = 0;                   ///< the most iterations of a slice
  std::vector<int> slice_iterations;    ///< one per slice; empty if the method does not iterate
  std::vector<std::string> stopped_by;  ///< one per slice
  std::vector<int> fitted_noise;        ///< as in `Iterated`
  /// How far voxels are from the nearer of two levels: the mean of 4 (x - low) (high - x) / (high - low)^2,
  /// which is 1 if all are midway. Set if there are levels.
  std::optional<double> between_levels;
  std::vector<double> residuals;      ///< |b - Ax| over all slices, relative to the start
  Curves curves;                      ///< curves of a solver, if they are wanted
  std::optional<Quality> quality;     ///< how the volume compares with the truth, if there is one
  std::vector<io::Picture> middle;    ///< the slices through the middle: along z, y, x
  calibration::Hardening beam;        ///< what the projections tell of the beam
  std::vector<std::string> warnings;  ///< warnings that only the data could tell; the plan has others

  std::optional<ValueRange> range;  ///< the range of integers, if it had to be found
  Searched searched;                ///< the search before the first slice (`look_ahead`)
  double range_seconds = 0;         ///< the part of `seconds.total` in which `range` was found

  std::optional<Followed> followed;  ///< set if the scan was being written

  std::vector<double> weights;     ///< weights of total variation, if they had to be found
  std::vector<Iterated> iterated;  ///< one per chunk; `Method::conclude` makes the numbers above from these

  /// Adds a search that came before all the rest.
  void begin_with(const Searched& before) {
    searched = before;
    seconds.search = before.seconds;
    seconds.total += before.seconds;
  }

  /// Calls `each` with every member that workers and ranks add up. With several outcomes it gets the same
  /// member of each.
  template <class Each, class... Outcomes>
  static void for_each_sum(const Each& each, Outcomes&... of) {
    each(of.seconds...), each(of.slices...), each(of.updates...), each(of.left_to_cpu...);
    each(of.searched...), each(of.weights...), each(of.iterated...);
  }

  /// Adds the outcome of another worker, or of another rank.
  void add(const Outcome& other) {
    for_each_sum([](auto& sum, const auto& more) { add_to(sum, more); }, *this, other);
    if (other.followed) followed = other.followed;
    add_to(warnings, other.warnings);
  }

 private:
  template <class T>
  static void add_to(T& sum, const T& more) {
    sum += more;
  }
  template <class T>
  static void add_to(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  template <class T>
  static void add_to(std::optional<T>& sum, const std::optional<T>& more) {
    if (more) sum ? * sum += *more : void(sum = more);
  }
};

/// Collective. The first rank gets what all ranks did and found, and the others keep their own.
void add_ranks(const Comm& ranks, Outcome& outcome, Findings& findings, OpenEnds& ends,
               std::optional<BeamRows>& beam);

}  // namespace tandem::pipeline
