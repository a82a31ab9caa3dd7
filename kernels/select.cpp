// The one place where backends meet.
#include <type_traits>

#include "../core/device.hpp"
#include "../core/error.hpp"
#include "column_spreads.hpp"
#include "columns.hpp"
#include "counts.hpp"
#include "cpu/helix.hpp"
#include "cpu/tables.hpp"
#include "cuda/fourier.hpp"
#include "cuda/helix.hpp"
#include "cuda/hierarchical.hpp"
#include "cuda/tables.hpp"
#include "fits.hpp"
#include "frames.hpp"
#include "image_filter.hpp"
#include "level.hpp"
#include "metal.hpp"
#include "outliers.hpp"
#include "products.hpp"
#include "slice_metric.hpp"
#include "trial_slices.hpp"
#include "variants.hpp"
#include "voxels.hpp"
#include "wavelets.hpp"
#include "waves.hpp"

namespace tandem::kernels {

namespace {

/// Whether the kernels of CUDA are wanted. @throws DeviceError if they are, and the device cannot run them;
/// for a team, each of whose members runs kernels of its own
bool on_cuda(Device device) {
  require<DeviceError>(device.members() == 1, "kernels run on one device, not on ", device);
  thread_local Device usable = Device::cpu();  // the last one that the driver was asked for
  if (!device.is_cuda()) return false;
  if (device != usable) require_usable(device);  // a build without CUDA has no usable GPU
  usable = device;
  return true;
}

const Backend& backend(Device device) { return backends()[on_cuda(device) ? 1 : 0]; }

template <class Kernels>
const Kernels& select(Device device, const Kernels& cpu, const std::type_identity_t<Kernels>* cuda) {
  return on_cuda(device) ? *cuda : cpu;
}

/// Kernels that only GPUs have; null on the CPU.
template <class Kernels>
const Kernels* only_on_cuda(Device device, const Kernels* cuda) {
  return on_cuda(device) ? cuda : nullptr;
}

#if TANDEM_CUDA
#define TANDEM_ON_CUDA(table) &cuda::table
#else
#define TANDEM_ON_CUDA(table) nullptr
#endif

}  // namespace

Table<ParallelViews> parallel(Device device) { return backend(device).parallel; }

Table<ConeViews> cone(Device device) { return backend(device).cone; }

const ConeVariant& cone(Model model, Device device) {
  const ConeVariant* row = find(cone(device), name_of(model));
  require<GeometryError>(row, "ConeBeam: ", name_of(model), " is a model of parallel beams");
  return *row;
}

Table<FourierViews> fourier(Device device) { return backend(device).fourier; }

Table<FlexibleViews> flexible(Device device) { return backend(device).flexible; }

Table<HierarchicalViews> hierarchical(Device device) { return backend(device).hierarchical; }

WorkingMemory hierarchical_memory(const HierarchicalViews& views, Device device) {
  WorkingMemory (*const memory)(const HierarchicalViews&) =
      on_cuda(device) ? TANDEM_ON_CUDA(hierarchical_memory) : cpu::hierarchical_memory;
  return memory(views);
}

double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device) {
  double (*const memory)(const FourierSizes&, Index, Index, Device) =
      on_cuda(device) ? TANDEM_ON_CUDA(fourier_memory) : cpu::fourier_memory;
  return memory(sizes, views, slices, device);
}

const RampKernels& ramp(Device device) {
  static constexpr RampKernels on_cpu{cpu::filter_rows, cpu::add_circles,
                                      [] { return std::vector<std::string>{"filter"}; }};
  return select(device, on_cpu, TANDEM_ON_CUDA(ramp_kernels));
}

#define TANDEM_ON_BOTH(Kernels, name, table) \
  const Kernels& name(Device device) { return select(device, cpu::table, TANDEM_ON_CUDA(table)); }
TANDEM_ON_BOTH(VectorKernels, vector, vector_kernels)
TANDEM_ON_BOTH(DifferenceKernels, differences, difference_kernels)
TANDEM_ON_BOTH(LevelKernels, level, level_kernels)
TANDEM_ON_BOTH(MetalKernels, metal, metal_kernels)
TANDEM_ON_BOTH(HelixKernels, helix, helix_kernels)
TANDEM_ON_BOTH(SliceMetricKernels, slice_metrics, slice_metric_kernels)
TANDEM_ON_BOTH(TrialKernels, trial_slices, trial_kernels)

#define TANDEM_ONLY_ON_CUDA(Kernels, name, table) \
  const Kernels* name(Device device) { return only_on_cuda<Kernels>(device, TANDEM_ON_CUDA(table)); }
TANDEM_ONLY_ON_CUDA(VoxelKernels, voxels, voxel_kernels)
TANDEM_ONLY_ON_CUDA(CountsKernels, counts, counts_kernels)
TANDEM_ONLY_ON_CUDA(OutlierKernels, outliers, outlier_kernels)
TANDEM_ONLY_ON_CUDA(ColumnKernels, columns, column_kernels)
TANDEM_ONLY_ON_CUDA(SpreadKernels, column_spreads, spread_kernels)
TANDEM_ONLY_ON_CUDA(FitKernels, fits, fit_kernels)
TANDEM_ONLY_ON_CUDA(FrameKernels, frames, frame_kernels)
TANDEM_ONLY_ON_CUDA(ImageFilterKernels, image_filters, image_filter_kernels)
TANDEM_ONLY_ON_CUDA(ProductKernels, products, product_kernels)
TANDEM_ONLY_ON_CUDA(WaveKernels, waves, wave_kernels)
TANDEM_ONLY_ON_CUDA(WaveletKernels, wavelets, wavelet_kernels)

}  // namespace tandem::kernels
