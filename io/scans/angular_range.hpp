#pragma once

// Angles through which a scan turns more than once. Used only within io/.

#include <string>
#include <vector>

#include "scan_reader.hpp"

namespace tandem::io {

/// The angles of some views, rad, in rising order; empty if one of them is not finite.
class AngularRange {
 public:
  explicit AngularRange(std::vector<double> angles);
  bool empty() const { return angles_.empty(); }
  /// Whether both turn through the same angles. They do not if views of one lie evenly between those of the
  /// other, or if the end of one is the beginning of the other.
  bool repeats(const AngularRange& other) const;
  /// Whether these angles reach as far as those of the other, within half a step.
  bool covers(const AngularRange& other) const;
  std::string in_degrees() const;  ///< "0 to 179 degrees"

 private:
  double step() const;
  std::vector<double> between(double first, double last) const;
  std::vector<double> angles_;
};

/// The views between which the angles go back, one range for each turn.
std::vector<Range> angular_ranges_of(const std::vector<double>& angles);

}  // namespace tandem::io
