#include "../slice_metric.hpp"

#include <algorithm>
#include <complex>

#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "image_transform.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

void apply_to_slice(const SliceMetric& metric, const SliceFactors& factors, const Image<float>& slices,
                    Index slice) {
  const Images one{1, metric.rows, metric.bins};
  std::vector<float> image(metric.rows * metric.bins);
  std::vector<std::complex<float>> spectrum(metric.u.size());
  const auto for_each_line = [&](auto&& copy) {
    for (Index y = 0; y < slices.n1; ++y) copy(image.data() + y * metric.bins, &slices(slice, y, 0));
  };
  for_each_line([&](float* here, const float* there) { std::copy_n(there, slices.n2, here); });
  transform_images(one, image.data(), spectrum.data());
  const float scale = 1.0f / (metric.rows * metric.bins);
  for (std::size_t k = 0; k < spectrum.size(); ++k)
    spectrum[k] *= factors.at(metric.u[k], metric.v[k]) * scale;
  transform_back(one, spectrum.data(), image.data());
  for_each_line([&](const float* here, float* there) { std::copy_n(here, slices.n2, there); });
}

void apply(const SliceMetric& metric, std::span<const SliceFactors> factors, Image<float> slices, Stream&) {
  note_launch("slice metric");
  parallel_for(slices.n0, [&](Index slice) { apply_to_slice(metric, factors[slice], slices, slice); });
}

}  // namespace

const SliceMetricKernels slice_metric_kernels{apply};

}  // namespace tandem::kernels::cpu
