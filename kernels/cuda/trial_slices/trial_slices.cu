// A thread has a pixel of a slice and adds up its views. All slices of all trials come from one launch.

#include "../../trial_slices.hpp"

#include "../../launches.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads_x = 32, threads_y = 8;

/// What a ray sees of a frame; none if it misses it.
__device__ float seen(const Image<const float>& frames, const float* frame, float bin, float row) {
  const auto bins = static_cast<float>(frames.n2 - 1), rows = static_cast<float>(frames.n1 - 2);
  if (!(bin >= 0 && bin < bins && row >= 1 && row < rows)) return 0;
  const int below = static_cast<int>(row), left = static_cast<int>(bin);
  const float part = bin - static_cast<float>(left);
  const FourRows four(row - static_cast<float>(below));
  const float* at = frame + (below - 1) * frames.s1 + left;
  float sum = 0;
#pragma unroll
  for (const float weight : four.weights) {
    sum += weight * (at[0] + part * (at[1] - at[0]));
    at += frames.s1;
  }
  return sum;
}

/// Grid: (pixels along x, along y, slices).
__global__ void __launch_bounds__(threads_x* threads_y)
    back_project_trials(const TrialPlace* __restrict__ places, float radius, Image<const float> frames,
                        Image<float> slices) {
  const Index ix = Index{blockIdx.x} * threads_x + threadIdx.x,
              iy = Index{blockIdx.y} * threads_y + threadIdx.y;
  if (ix >= slices.n2 || iy >= slices.n1) return;
  const float middle = 0.5f * static_cast<float>(slices.n2 - 1), x = static_cast<float>(ix) - middle,
              y = static_cast<float>(iy) - middle;
  for (Index slice = blockIdx.z; slice < slices.n0; slice += gridDim.z) {
    float sum = 0;
    if (x * x + y * y <= radius * radius)
      for (Index view = slice % 2; view < frames.n0; view += 2) {
        const TrialPlace& place = places[slice / 2 * frames.n0 + view];
        const float near = 1 / place.depth.at(x, y);
        sum += near * near *
               seen(frames, frames.data + view * frames.s0, near * place.bin.at(x, y),
                    near * place.row.at(x, y));
      }
    element(slices, slice, iy, ix) = sum;
  }
}

void back_project(const TrialSlices& trials, Image<const float> frames, Image<float> slices, Stream& stream) {
  note_launch("trial slices");
  const Sent<TrialPlace> places(trials.places, stream);
  const dim3 blocks = grid_of(ceil_div<Index>(slices.n2, threads_x), ceil_div<Index>(slices.n1, threads_y),
                              std::min<Index>(slices.n0, 65535));
  back_project_trials<<<blocks, dim3(threads_x, threads_y), 0, queue(stream)>>>(places.data(), trials.radius,
                                                                                frames, slices);
  after_launch();
}

}  // namespace

const TrialKernels trial_kernels{back_project};

}  // namespace tandem::kernels::cuda
