#pragma once

#include "../core/profile.hpp"
#include "../solvers/run.hpp"

namespace tandem::pipeline {

/// Adds the seconds that it lives to `into`. In profiles it is a range with this name.
class Stopwatch {
 public:
  Stopwatch(const char* name, double& into) : range_(name), into_(into), start_(seconds_now()) {}
  ~Stopwatch() { into_ += seconds_now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  ProfileRange range_;
  double& into_;
  double start_;
};

}  // namespace tandem::pipeline
