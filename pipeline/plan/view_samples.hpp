#pragma once

#include <optional>
#include <vector>

#include "../../core/array.hpp"

namespace tandem::pipeline {

/// Keeps the line integrals of a few views of a scan whose views pass in blocks. When all have passed, these
/// tell about the ends of the detector.
class ViewSamples {
 public:
  static constexpr Index count = 16;
  /// `views`: the number of views of the scan. `rows`: the rows that are kept.
  ViewSamples(Index views, Range rows) : views_(views), rows_(rows) {}
  /// Views count from 0; y: (view, row, bin), on any device.
  void add(Range views, const Array& y);
  /// The line integrals that were kept, (view, row, bin), on the CPU; empty if there are no rows.
  std::optional<Array> all() const;

 private:
  Index views_;
  Range rows_;
  Index kept_ = 0, bins_ = 0;
  std::vector<float> values_;
};

}  // namespace tandem::pipeline
