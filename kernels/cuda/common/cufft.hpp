#pragma once

#include <cufft.h>

#include <source_location>

#include "../../../core/error.hpp"

namespace tandem::kernels::cuda {

/// The functions of cuFFT that are used here. The library is not linked: it has 200 MB, and most commands do
/// not need it.
struct Cufft {
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftSetAutoAllocation) set_auto_allocation = nullptr;
  decltype(&cufftMakePlanMany) make_plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftSetWorkArea) set_work_area = nullptr;
  decltype(&cufftExecC2C) exec_c2c = nullptr;
  decltype(&cufftExecR2C) exec_r2c = nullptr;
  decltype(&cufftExecC2R) exec_c2r = nullptr;
};

/// Loads cuFFT when it is first asked for: the one that the process has, or that the system finds; else that
/// of the package nvidia-cufft beside the Python package; else that of the toolkit of the build. @throws
/// DeviceError naming the package if there is none
const Cufft& cufft();

/// Turns a failed call into a DeviceError that has the place of the call.
inline void check(cufftResult status, const std::source_location at = std::source_location::current()) {
  require<DeviceError>(status == CUFFT_SUCCESS, "cuFFT: error ", status, " in ", at.function_name());
}

}  // namespace tandem::kernels::cuda
