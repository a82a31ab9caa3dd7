#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "../outcome.hpp"
#include "../progress.hpp"
#include "method.hpp"

namespace tandem::pipeline {

/// What a method works with, and where it notes what it did.
struct Work {
  const Plan& plan;
  Watch& watch;
  Outcome& outcome;
  bool any_external = false;  ///< see io::VolumeReader, of an initial volume
  double start = 0;           ///< of the whole run, in `seconds_now`

  Array moved_to(Device device, Array array);
  void count_updates(const Problem& problem, double applications);
};

/// F and B for chunk after chunk. F is made once for chunks that are alike.
class FilteredBackProjection {
 public:
  explicit FilteredBackProjection(Work& work) : work_(work) {}
  Array filtered(const Problem& problem, const Array& y);
  /// B of filtered data; some progress on its way.
  Array back_projected(const Problem& problem, const Array& filtered, Range slices);

 private:
  Work& work_;
  std::optional<LinearOperator> filter_;
};

}  // namespace tandem::pipeline
