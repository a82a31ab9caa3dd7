#pragma once

#include <memory>
#include <vector>

#include "weight_search.hpp"

namespace tandem {

/// The error over the weight, by trials: its logarithm is a straight line over log W between two of them.
/// Beyond them it goes as that of a coarser curve does, if there is one.
class ErrorCurve {
 public:
  explicit ErrorCurve(std::shared_ptr<const ErrorCurve> coarser = {}) : coarser_(std::move(coarser)) {}

  void add(const WeightTrial& trial);
  const std::vector<WeightTrial>& trials() const { return trials_; }  ///< from the smallest weight on
  /// The largest weight whose error cannot be told from the least one: within the standard error of trials,
  /// or within the share `settled`. A coarser curve counts an octave beyond the trials, as far as it
  /// has some itself, but not below them where their own errors rise. @pre there is a trial, and all errors
  /// are positive
  double largest_weight(double settled) const;

 private:
  struct Span {
    double first, last;
  };
  double log_error(double octave) const;
  Span octaves() const;

  std::shared_ptr<const ErrorCurve> coarser_;
  std::vector<WeightTrial> trials_;
};

}  // namespace tandem
