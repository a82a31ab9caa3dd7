// The sums of columns of sinograms with some waves. A thread has a column and adds up some of the waves over
// its views, in the order of the CPU. Then a thread has some views of a column and adds up the waves.
// Neighbouring threads have neighbouring bins.

#include "../../waves.hpp"

#include "../../columns.hpp"
#include "../../launches.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128, waves_a_thread = 4, views_a_thread = 8;

/// The tables of waves on the device.
struct Table {
  Index length, beside, count;
  const Turn* turns;
  const Index* halves;
  const double* weights;
};

/// Grid: (bins, groups of waves, sinograms). `sums`: (sinogram, wave, bin).
__global__ void __launch_bounds__(threads) add_over_views(Image<const float> y, Table waves, WaveSums* sums) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x;
  const Index first = Index{blockIdx.y} * waves_a_thread, row = blockIdx.z;
  if (bin >= y.n2) return;
  WaveSums own[waves_a_thread];
  Index halves[waves_a_thread], at[waves_a_thread] = {};
#pragma unroll
  for (int i = 0; i < waves_a_thread; ++i) halves[i] = first + i < waves.count ? waves.halves[first + i] : 0;
  for (Index j = 0; j < waves.length; ++j) {
    const double value = element(y, row, mirrored(j - waves.beside, y.n1), bin);
#pragma unroll
    for (int i = 0; i < waves_a_thread; ++i) {
      own[i].add(value, waves.turns[at[i]]);
      at[i] = next_turn(at[i], halves[i], waves.length);
    }
  }
#pragma unroll
  for (int i = 0; i < waves_a_thread; ++i)
    if (first + i < waves.count)
      sums[(row * waves.count + first + i) * y.n2 + bin] = own[i].times(waves.weights[first + i]);
}

/// Grid: (bins, groups of views, sinograms).
__global__ void __launch_bounds__(threads)
    take_out_waves(const WaveSums* __restrict__ sums, Table waves, Image<float> y, float* slow) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.z;
  if (bin >= y.n2) return;
  for (Index first = Index{blockIdx.y} * views_a_thread; first < y.n1;
       first += Index{gridDim.y} * views_a_thread) {
    double own[views_a_thread] = {};
    for (Index i = 0; i < waves.count; ++i) {
      const WaveSums sum = sums[(row * waves.count + i) * y.n2 + bin];
      const Index halves = waves.halves[i];
      Index at = halves * (first + waves.beside) % (2 * waves.length);
#pragma unroll
      for (int v = 0; v < views_a_thread; ++v) {
        own[v] = sum.added_to(own[v], waves.turns[at]);
        at = next_turn(at, halves, waves.length);
      }
    }
#pragma unroll
    for (int v = 0; v < views_a_thread; ++v) {
      const Index view = first + v;
      if (view >= y.n1) break;
      const auto part = static_cast<float>(own[v]);
      element(y, row, view, bin) -= part;
      if (slow) slow[(row * y.n1 + view) * y.n2 + bin] = part;
    }
  }
}

void take_out(const Waves& waves, Image<float> y, float* slow, Stream& stream) {
  note_launch("waves of columns");
  const Index count = waves.halves.size();
  if (count == 0) {  // there is no slow part
    if (slow) check(cudaMemsetAsync(slow, 0, sizeof(float) * (y.n0 * y.n1 * y.n2), queue(stream)));
    return;
  }
  const std::vector<Turn> turns = turns_of(waves.length);
  const Sent<Turn> turns_there(turns, stream);
  const Sent<Index> halves(waves.halves, stream);
  const Sent<double> weights(waves.weights, stream);
  const Scratch<WaveSums> sums(y.n0 * count * y.n2, queue(stream));
  const Table table{waves.length, waves.beside, count, turns_there.data(), halves.data(), weights.data()};
  const Index bins = ceil_div<Index>(y.n2, threads), rows = y.n0;
  add_over_views<<<grid_of(bins, ceil_div<Index>(count, waves_a_thread), rows), threads, 0, queue(stream)>>>(
      {y.data, y.n0, y.n1, y.n2, y.s0, y.s1}, table, sums.data());
  after_launch();
  const Index groups = std::min<Index>(ceil_div<Index>(y.n1, views_a_thread), 65535);
  take_out_waves<<<grid_of(bins, groups, rows), threads, 0, queue(stream)>>>(sums.data(), table, y, slow);
  after_launch();
}

/// Grid: (bins, views, sinograms).
__global__ void __launch_bounds__(threads) add_slow(const float* __restrict__ slow, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.z;
  if (bin >= y.n2) return;
  for (Index view = blockIdx.y; view < y.n1; view += gridDim.y)
    element(y, row, view, bin) += slow[(row * y.n1 + view) * y.n2 + bin];
}

void put_back(const float* slow, Image<float> y, Stream& stream) {
  note_launch("add slow parts");
  const dim3 blocks = grid_of(ceil_div<Index>(y.n2, threads), std::min<Index>(y.n1, 65535), y.n0);
  add_slow<<<blocks, threads, 0, queue(stream)>>>(slow, y);
  after_launch();
}

}  // namespace

const WaveKernels wave_kernels{take_out, put_back};

}  // namespace tandem::kernels::cuda
