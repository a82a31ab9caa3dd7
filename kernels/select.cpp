// The one place where backends meet.
#include <type_traits>

#include "../core/device.hpp"
#include "../core/error.hpp"
#include "cpu/cone_hats.hpp"
#include "cpu/parallel.hpp"
#include "cpu/ramp.hpp"
#include "cpu/separable_footprint.hpp"
#include "cpu/vector.hpp"
#include "cuda/tables.hpp"

namespace tandem::kernels {

namespace {

template <class Table>
const Table& select(Device device, const Table& on_cpu, const std::type_identity_t<Table>* on_cuda) {
  thread_local Device usable = Device::cpu();  // the last that the driver was asked for
  if (!device.is_cuda()) return on_cpu;
  if (device != usable) require_usable(device);  // of which a build without CUDA has none
  usable = device;
  return *on_cuda;
}

#if TANDEM_CUDA
#define TANDEM_ON_CUDA(table) &cuda::table
#else
#define TANDEM_ON_CUDA(table) nullptr
#endif

}  // namespace

const ParallelKernels& parallel(Device device) {
  static constexpr OfferedExecution only{{Variant::standard, Precision::float32}, true};
  static constexpr ParallelKernels on_cpu{cpu::parallel_forward,
                                          cpu::parallel_backward,
                                          [](Device) { return std::span(&only, 1); },
                                          [](Execution wanted, Pairing, const ParallelViews&, Shape, Device) {
                                            if (wanted.variant == Variant::automatic)
                                              wanted.variant = only.how.variant;
                                            require<DeviceError>(wanted == only.how, "device cpu: no ",
                                                                 name_of(wanted), "; it has ",
                                                                 name_of(only.how));
                                            return only.how;
                                          },
                                          cpu::working_memory,
                                          cpu::parallel_names};
  return select(device, on_cpu, TANDEM_ON_CUDA(parallel_kernels));
}

const ConeKernels& cone(Model model, Device device) {
  switch (model) {
    case Model::joseph:
      return select(device, cpu::cone_joseph_kernels, TANDEM_ON_CUDA(cone_joseph_kernels));
    case Model::pixel_driven:
      return select(device, cpu::cone_pixel_driven_kernels, TANDEM_ON_CUDA(cone_pixel_driven_kernels));
    default:
      return select(device, cpu::separable_footprint_kernels, TANDEM_ON_CUDA(separable_footprint_kernels));
  }
}

const RampKernels& ramp(Device device) {
  static constexpr RampKernels on_cpu{cpu::filter_rows, [] { return std::vector<std::string>{"filter"}; }};
  return select(device, on_cpu, TANDEM_ON_CUDA(ramp_kernels));
}

const VectorKernels& vector(Device device) {
  return select(device, cpu::vector_kernels, TANDEM_ON_CUDA(vector_kernels));
}

}  // namespace tandem::kernels
