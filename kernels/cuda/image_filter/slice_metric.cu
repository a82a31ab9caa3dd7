#include "../../slice_metric.hpp"

#include <algorithm>

#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"
#include "image_transforms.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int metric_threads = 256;
constexpr KeptOnDevices::Key key_of_u{0}, key_of_v{1};

/// Puts slices into images, and zeros beyond. Grid: (bins, rows of an image, images).
__global__ void __launch_bounds__(metric_threads)
    put_in(Image<const float> slices, Images images, Index first) {
  const Index x = Index{blockIdx.x} * metric_threads + threadIdx.x, y = blockIdx.y;
  const Index slice = first + blockIdx.z;
  if (x >= images.bins) return;
  const bool inside = slice < slices.n0 && y < slices.n1 && x < slices.n2;
  images.work[blockIdx.z * images.size + y * images.line + x] = inside ? element(slices, slice, y, x) : 0.0f;
}

/// Grid: (bins, rows of a slice, images).
__global__ void __launch_bounds__(metric_threads) take_out(Images images, Index first, Image<float> slices) {
  const Index x = Index{blockIdx.x} * metric_threads + threadIdx.x, y = blockIdx.y;
  const Index slice = first + blockIdx.z;
  if (slice >= slices.n0 || x >= slices.n2) return;
  element(slices, slice, y, x) = images.work[blockIdx.z * images.size + y * images.line + x];
}

/// Grid: (frequencies of an image, images).
__global__ void __launch_bounds__(metric_threads)
    divide_spectra(const float* __restrict__ u, const float* __restrict__ v,
                   const SliceFactors* __restrict__ factors, Index slices, float scale, Index count,
                   cufftComplex* spectra) {
  const Index k = Index{blockIdx.x} * metric_threads + threadIdx.x;
  if (k >= count || blockIdx.y >= slices) return;
  const float size = __fmul_rn(factors[blockIdx.y].at(u[k], v[k]), scale);
  cufftComplex& value = spectra[blockIdx.y * count + k];
  value = {value.x * size, value.y * size};
}

void apply(const SliceMetric& metric, std::span<const SliceFactors> all, Image<float> slices,
           Stream& stream) {
  note_launch("slice metric");
  const cudaStream_t s = queue(stream);
  const auto kept = [&](const std::vector<float>& values, const KeptOnDevices::Key& key) {
    return metric.kept.use<DeviceTable<float>>(stream, key, [&](const KeptOnDevices::Streams& streams) {
      return DeviceTable<float>(values, streams);
    });
  };
  const auto u = kept(metric.u, key_of_u), v = kept(metric.v, key_of_v);
  const FilterBatch batch(metric.rows, metric.bins, 1);
  const ImageTransforms transforms(metric.rows, metric.bins, batch, stream);
  const Scratch<float> work(batch.images * batch.size, s);
  const Sent<SliceFactors> factors(all, stream);
  const Images images{metric.bins, batch.line, batch.size, work.data()};
  const Image<const float> as_they_came{slices.data, slices.n0, slices.n1, slices.n2, slices.s0, slices.s1};
  const Index count = metric.u.size();
  const float scale = 1.0f / (metric.rows * metric.bins);
  const auto groups = [](Index elements) { return ceil_div<Index>(elements, metric_threads); };
  for (Index first = 0; first < slices.n0; first += batch.images) {
    const Index some = std::min(batch.images, slices.n0 - first);
    put_in<<<grid_of(groups(metric.bins), metric.rows, batch.images), metric_threads, 0, s>>>(as_they_came,
                                                                                              images, first);
    after_launch();
    cufftComplex* spectra = transforms.forward(work.data());
    divide_spectra<<<grid_of(groups(count), batch.images), metric_threads, 0, s>>>(
        u->data(), v->data(), factors.data() + first, some, scale, count, spectra);
    after_launch();
    transforms.backward(spectra);
    take_out<<<grid_of(groups(slices.n2), slices.n1, some), metric_threads, 0, s>>>(images, first, slices);
    after_launch();
  }
}

}  // namespace

const SliceMetricKernels slice_metric_kernels{apply};

}  // namespace tandem::kernels::cuda
