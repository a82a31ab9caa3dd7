#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "../outcome.hpp"
#include "../progress.hpp"
#include "method.hpp"

namespace tandem::pipeline {

/// What a method works with, and where it writes down what it did.
struct Work {
  const Plan& plan;
  Watch& watch;
  Outcome& outcome;
  bool any_external = false;  ///< see io::VolumeReader, for an initial volume
  double start = 0;           ///< when the whole run began, by `seconds_now`

  Array moved_to(Device device, Array array);
  void count_updates(const Problem& problem, double applications);
};

/// F and B for one chunk after another. F is made once for chunks that are alike.
class FilteredBackProjection {
 public:
  explicit FilteredBackProjection(Work& work) : work_(work) {}
  Array filtered(const Problem& problem, const Array& y);
  /// B applied to filtered data; it reports progress on the way.
  Array back_projected(const Problem& problem, const Array& filtered, Range slices);

 private:
  Work& work_;
  std::optional<LinearOperator> filter_;
};

}  // namespace tandem::pipeline
