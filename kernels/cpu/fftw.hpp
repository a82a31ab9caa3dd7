#pragma once

#include <fftw3.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

namespace tandem::kernels::cpu {

struct DestroyPlan {
  void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
};
/// A plan of FFTW. FFTW_ESTIMATE plans alike in every run.
using FftwPlan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, DestroyPlan>;

/// Whoever makes a plan holds this: FFTW makes one at a time in a process. It ends the process where it gets
/// no memory, so there must be some for it. @throws std::bad_alloc
class FftwPlanner {
 public:
  FftwPlanner() : lock_(mutex()) { ::operator delete(::operator new(enough)); }

 private:
  static constexpr std::size_t enough = 16 << 20;  // bytes: FFTW_ESTIMATE takes less than one MiB
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
};

}  // namespace tandem::kernels::cpu
