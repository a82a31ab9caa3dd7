// Sinograms laid out for filters, and what comes of these: (row, view, bin).

#include "../../fits.hpp"

#include "../../launches.hpp"
#include "../common/elements.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) mirror_views(Image<const float> from, Image<float> to) {
  for_own_elements(to, [&](Index row, Index view, Index bin) {
    element(to, row, view, bin) = element(from, row, mirrored(view, from.n1), bin);
  });
}

__global__ void __launch_bounds__(threads)
    put_margin(Image<const float> from, const float* __restrict__ means, Index margin, Image<float> to) {
  for_own_elements(to, [&](Index row, Index view, Index bin) {
    const Index v = view - margin, b = min(max(bin - margin, Index{0}), from.n2 - 1);
    const float value = 0 <= v && v < from.n1 ? element(from, row, v, b) : means[row * from.n2 + b];
    element(to, row, view, bin) = sign_of(view + bin) * value;
  });
}

__global__ void __launch_bounds__(threads)
    cut_margin(Image<const float> from, Index margin, Image<float> to) {
  for_own_elements(to, [&](Index row, Index view, Index bin) {
    element(to, row, view, bin) = sign_of(view + bin) * element(from, row, view + margin, bin + margin);
  });
}

__global__ void __launch_bounds__(threads) divide_by_fit(Image<const float> fitted, Image<const float> even,
                                                         const double* __restrict__ scales, Image<float> y) {
  for_own_elements(y, [&](Index row, Index view, Index bin) {
    const float fit = element(fitted, row, view, bin);
    if (fit == 0) return;
    const double ratio = element(y, row, view, bin) / fit;
    const double by = scales[row] * element(even, row, view, bin);
    element(y, row, view, bin) = static_cast<float>(ratio * by);
  });
}

void mirror(Image<const float> sinograms, Image<float> longer, Stream& stream) {
  note_launch("mirror views");
  mirror_views<<<blocks_of_elements(longer, threads), threads, 0, queue(stream)>>>(sinograms, longer);
  after_launch();
}

void widen(Image<const float> sinograms, std::span<const float> means, Index margin, Image<float> wide,
           Stream& stream) {
  note_launch("margins of sinograms");
  const Sent<float> there(means, stream);
  put_margin<<<blocks_of_elements(wide, threads), threads, 0, queue(stream)>>>(sinograms, there.data(),
                                                                               margin, wide);
  after_launch();
}

void narrow(Image<const float> wide, Index margin, Image<float> sinograms, Stream& stream) {
  note_launch("without margins");
  cut_margin<<<blocks_of_elements(sinograms, threads), threads, 0, queue(stream)>>>(wide, margin, sinograms);
  after_launch();
}

void divide(Image<const float> fitted, Image<const float> even, std::span<const double> scales,
            Image<float> y, Stream& stream) {
  note_launch("divide by fits");
  const Sent<double> there(scales, stream);
  divide_by_fit<<<blocks_of_elements(y, threads), threads, 0, queue(stream)>>>(fitted, even, there.data(), y);
  after_launch();
}

}  // namespace

const FitKernels fit_kernels{mirror, widen, narrow, divide};

}  // namespace tandem::kernels::cuda
