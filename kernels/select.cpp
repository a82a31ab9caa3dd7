// The one place where backends meet.
#include "tandem/core/error.hpp"
#include "tandem/kernels/cpu/parallel.hpp"
#include "tandem/kernels/cpu/ramp.hpp"
#include "tandem/kernels/cpu/vector.hpp"

namespace tandem::kernels {

namespace {

template <class Table>
const Table& select(Device device, const Table& on_cpu) {
  require<DeviceError>(!device.is_cuda(), "device ", device.name(),
                       ": this version has no CUDA kernels yet; use the cpu");
  return on_cpu;
}

}  // namespace

const ParallelKernels& parallel(Device device) {
  static constexpr ParallelKernels on_cpu{cpu::parallel_forward, cpu::parallel_backward};
  return select(device, on_cpu);
}

const RampKernels& ramp(Device device) {
  static constexpr RampKernels on_cpu{cpu::filter_rows};
  return select(device, on_cpu);
}

const VectorKernels& vector(Device device) { return select(device, cpu::vector_kernels); }

}  // namespace tandem::kernels
