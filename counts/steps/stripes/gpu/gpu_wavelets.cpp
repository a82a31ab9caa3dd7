#include <algorithm>
#include <utility>

#include "../fourier_wavelet.hpp"
#include "gpu_sinograms.hpp"

namespace tandem::pipeline::stripes {

namespace {

using kernels::Lines;

/// Planes (plane, row, column) on a GPU.
Array planes_of(Shape n, Stream& stream) { return Array(Space(n, Blocks::whole, stream.device()), stream); }

class GpuWavelets {
 public:
  GpuWavelets(const FourierWavelet& how, Stream& stream)
      : how_(how),
        filters_(filters_of(*how.wavelet)),
        stream_(stream),
        wavelets_(*kernels::wavelets(stream.device())),
        waves_(*kernels::waves(stream.device())) {}

  /// Planes without stripes, from this level of the transform on. All memory goes back as early as it can.
  Array without_stripes(Array planes, Index level) const {
    if (level == how_.levels) return planes;
    const auto [count, rows, columns] = planes.space().shape();
    Halves along_rows = split(std::move(planes), Lines::rows);
    auto [low_low, high_low] = split(std::move(along_rows.low), Lines::columns);
    auto [low_high, high_high] = split(std::move(along_rows.high), Lines::columns);
    const Image<float> band = image(VectorView(low_high));
    waves_.take_out(steady_waves(band.n1, how_.sigma), band, nullptr, stream_);
    low_low = without_stripes(std::move(low_low), level + 1);
    Array low = join({std::move(low_low), std::move(high_low)}, Lines::columns, rows);
    Array high = join({std::move(low_high), std::move(high_high)}, Lines::columns, rows);
    return join({std::move(low), std::move(high)}, Lines::rows, columns);
  }

 private:
  struct Halves {
    Array low, high;
  };

  Halves split(Array planes, Lines lines) const {
    Shape n = planes.space().shape();
    Index& length = n[lines == Lines::rows ? 2 : 1];
    length = kernels::half_of(length, filters_.taps);
    Halves halves{planes_of(n, stream_), planes_of(n, stream_)};
    wavelets_.split(filters_, lines, image(ConstVectorView(planes)), image(VectorView(halves.low)),
                    image(VectorView(halves.high)), stream_);
    return halves;
  }

  /// Lines of so many elements.
  Array join(Halves halves, Lines lines, Index length) const {
    Shape n = halves.low.space().shape();
    n[lines == Lines::rows ? 2 : 1] = length;
    Array planes = planes_of(n, stream_);
    wavelets_.join(filters_, lines, image(ConstVectorView(halves.low)), image(ConstVectorView(halves.high)),
                   image(VectorView(planes)), stream_);
    return planes;
  }

  FourierWavelet how_;
  kernels::WaveletFilters filters_;
  Stream& stream_;
  const kernels::WaveletKernels& wavelets_;
  const kernels::WaveKernels& waves_;
};

}  // namespace

void remove_on_gpu(const Image<float>& sinograms, const FourierWavelet& how, Stream& stream) {
  const Index zeros = how.zeros(sinograms.n1), before = zeros / 2;
  const auto move_rows = kernels::wavelets(stream.device())->move_rows;
  Array wide = planes_of({sinograms.n0, sinograms.n1 + zeros, sinograms.n2}, stream);
  move_rows(read_only(sinograms), -before, image(VectorView(wide)), stream);
  wide = GpuWavelets(how, stream).without_stripes(std::move(wide), 0);
  move_rows(image(ConstVectorView(wide)), before, sinograms, stream);
}

/// Each level holds its bands, of which one becomes the plane of the next level, and as much for halves.
double gpu_bytes_a_row(const FourierWavelet& how, Index views, Index bins) {
  const int taps = filters_of(*how.wavelet).taps;
  Index rows = views + how.zeros(views), columns = bins;
  double held = 0, most = 0;
  for (Index level = 0; level < how.levels; ++level) {
    const Index half_rows = kernels::half_of(rows, taps), half_columns = kernels::half_of(columns, taps);
    const double band = double{sizeof(float)} * (half_rows * half_columns),
                 half = double{sizeof(float)} * (rows * half_columns),
                 plane = double{sizeof(float)} * (rows * columns);
    const double waves = kernels::wave_bytes(steady_waves(half_rows, how.sigma), half_columns);
    most = std::max(most, held + 2 * half + std::max(plane, 4 * band));
    most = std::max(most, held + 4 * band + waves);
    held += 3 * band;
    rows = half_rows, columns = half_columns;
  }
  return most;
}

}  // namespace tandem::pipeline::stripes
