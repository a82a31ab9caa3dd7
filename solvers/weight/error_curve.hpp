#pragma once

#include <memory>
#include <vector>

#include "weight_search.hpp"

namespace tandem {

/// The error as a function of the weight, from trials. Between two trials its logarithm is a straight line
/// over log W. Beyond them it changes like a coarser curve, if there is one.
class ErrorCurve {
 public:
  explicit ErrorCurve(std::shared_ptr<const ErrorCurve> coarser = {}) : coarser_(std::move(coarser)) {}

  void add(const WeightTrial& trial);
  const std::vector<WeightTrial>& trials() const { return trials_; }  ///< in ascending order of weights
  /// The largest weight whose error is not significantly above the least error: within the standard error of
  /// trials, or within the share `settled`. A coarser curve is used up to an octave beyond the trials, within
  /// its own trials, but not below if errors rise there. @pre there is a trial, and all errors are positive
  double largest_weight(double settled) const;

 private:
  struct Span {
    double first, last;
  };
  double log_error(double octave) const;
  Span octaves() const;
  std::vector<double> corners() const;  ///< octaves of all trials, also of coarser curves

  std::shared_ptr<const ErrorCurve> coarser_;
  std::vector<WeightTrial> trials_;
};

}  // namespace tandem
