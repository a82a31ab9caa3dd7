#pragma once

#include "../solvers/run.hpp"

namespace tandem::pipeline {

/// Adds the seconds that it lives.
class Stopwatch {
 public:
  explicit Stopwatch(double& into) : into_(into), start_(seconds_now()) {}
  ~Stopwatch() { into_ += seconds_now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& into_;
  double start_;
};

}  // namespace tandem::pipeline
