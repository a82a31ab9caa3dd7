#pragma once

#include <fftw3.h>

#include <memory>
#include <mutex>
#include <type_traits>

namespace tandem::kernels::cpu {

struct DestroyPlan {
  void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
};
/// A plan of FFTW. FFTW_ESTIMATE plans alike in every run.
using FftwPlan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, DestroyPlan>;

/// Whoever makes a plan holds this: FFTW makes one at a time in a process.
inline std::mutex& fftw_planner() {
  static std::mutex planner;
  return planner;
}

}  // namespace tandem::kernels::cpu
