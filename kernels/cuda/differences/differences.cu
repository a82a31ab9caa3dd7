#include <algorithm>

#include "../common/pieces.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

/// The parts of a field: one number of each makes a voxel's vector.
template <int parts, class T>
struct Field {
  T* part[parts];

  Field(T* data, const Space& space) {
    for (int p = 0; p < parts; ++p) part[p] = data + space.offset(p);
  }
  __device__ float length(Index at) const {
    float square = 0;
    for (int p = 0; p < parts; ++p) square += part[p][at] * part[p][at];
    return sqrtf(square);
  }
};

/// Calls a function with the number of parts of a field: 1 to 3, as axes.
template <class F>
void with_parts(const Space& field, F f) {
  switch (field.parts()) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    default:
      return f(std::integral_constant<int, 3>{});
  }
}

template <int parts>
struct Factors {
  float of[parts];

  Factors(float alpha, std::span<const float> scales) {
    for (std::size_t p = 0; p < parts; ++p) of[p] = alpha * scales[p];
  }
};

struct Extents {
  Index n[3];  ///< along (slice, y, x)

  explicit Extents(const Shape& shape) : n{shape[0], shape[1], shape[2]} {}
  dim3 grid() const {
    constexpr Index most = 65535;  // along y and z
    return grid_of(ceil_div<Index>(n[2], threads), std::min(n[1], most), std::min(n[0], most));
  }
  /// How far the next voxel along an axis lies.
  __device__ Index step(int axis) const { return axis == 0 ? n[1] * n[2] : axis == 1 ? n[2] : 1; }
};

/// work(indices along the axes, where the voxel lies) for each voxel of a thread.
template <class Work>
__device__ void for_each_voxel(const Extents& volume, const Work& work) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= volume.n[2]) return;
  for (Index k = blockIdx.z; k < volume.n[0]; k += gridDim.z)
    for (Index j = blockIdx.y; j < volume.n[1]; j += gridDim.y) {
      const Index along[3] = {k, j, i};
      work(along, (k * volume.n[1] + j) * volume.n[2] + i);
    }
}

template <int parts>
__global__ void __launch_bounds__(threads) forward_of(Extents volume, const float* __restrict__ x, float beta,
                                                      Field<parts, float> field, Factors<parts> factors) {
  for_each_voxel(volume, [&](const Index(&along)[3], Index at) {
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      const int axis = 3 - parts + p;
      const bool last = along[axis] == volume.n[axis] - 1;
      const float value = last ? 0.0f : factors.of[p] * (x[at + volume.step(axis)] - x[at]);
      float& to = field.part[p][at];
      to = beta == 0 ? value : value + beta * to;
    }
  });
}

void forward(float alpha, ConstVectorView x, float beta, VectorView field, std::span<const float> scales,
             Stream& stream) {
  const Extents volume(x.space.shape());
  with_parts(field.space, [&](auto parts) {
    forward_of<parts><<<volume.grid(), threads, 0, queue(stream)>>>(
        volume, x.data, beta, Field<parts, float>(field.data, field.space), Factors<parts>(alpha, scales));
  });
  after_launch();
}

template <int parts>
__global__ void __launch_bounds__(threads) backward_of(Extents volume, Field<parts, const float> field,
                                                       float beta, float* x, Factors<parts> factors) {
  for_each_voxel(volume, [&](const Index(&along)[3], Index at) {
    float sum = beta == 0 ? 0.0f : beta * x[at];
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      const int axis = 3 - parts + p;
      if (along[axis] < volume.n[axis] - 1) sum -= factors.of[p] * field.part[p][at];
      if (along[axis] > 0) sum += factors.of[p] * field.part[p][at - volume.step(axis)];
    }
    x[at] = sum;
  });
}

void backward(float alpha, ConstVectorView field, float beta, VectorView x, std::span<const float> scales,
              Stream& stream) {
  const Extents volume(x.space.shape());
  with_parts(field.space, [&](auto parts) {
    backward_of<parts><<<volume.grid(), threads, 0, queue(stream)>>>(
        volume, Field<parts, const float>(field.data, field.space), beta, x.data,
        Factors<parts>(alpha, scales));
  });
  after_launch();
}

template <int parts>
__global__ void __launch_bounds__(threads)
    clamp(Lines at, Index pieces_of_line, Field<parts, float> field, Scalars longest) {
  const Piece mine(at, pieces_of_line);
  const float most = longest.of(mine.block);
  for (Index line = 0; line < mine.lines; ++line)
    for (Index i = threadIdx.x; i < mine.count; i += threads) {
      const Index voxel = mine.start + line * mine.line_stride + i;
      const float length = field.length(voxel);
      if (length <= most) continue;
      for (int p = 0; p < parts; ++p) field.part[p][voxel] *= most / length;
    }
}

void clamp_lengths(VectorView field, std::span<const float> longest, Stream& stream) {
  const Lines at = lines_of(field.space.part(0));
  const SentScalars there(longest, stream);
  with_parts(field.space, [&](auto parts) {
    clamp<parts><<<grid_of(at), threads, 0, queue(stream)>>>(
        at, at.pieces_of_line(), Field<parts, float>(field.data, field.space), there.there());
  });
  after_launch();
}

template <int parts>
__global__ void __launch_bounds__(threads)
    piece_lengths(Lines at, Index pieces_of_line, Field<parts, const float> field, double* sums) {
  const Piece mine(at, pieces_of_line);
  double sum = 0;
  for (Index line = 0; line < mine.lines; ++line)
    for (Index i = threadIdx.x; i < mine.count; i += threads)
      sum += double{field.length(mine.start + line * mine.line_stride + i)};
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void sum_lengths(ConstVectorView field, std::span<double> sums, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Lines at = lines_of(field.space.part(0));
  const Scratch<double> partial(at.blocks * at.pieces(), s), total(sums.size(), s);
  with_parts(field.space, [&](auto parts) {
    piece_lengths<parts><<<grid_of(at), threads, 0, s>>>(
        at, at.pieces_of_line(), Field<parts, const float>(field.data, field.space), partial.data());
  });
  after_launch();
  add_pieces<<<grid_of(at.blocks), threads, 0, s>>>(at.pieces(), partial.data(), total.data());
  after_launch();
  bring(sums, total, stream);
}

}  // namespace

const DifferenceKernels difference_kernels{
    .forward = forward, .backward = backward, .clamp_lengths = clamp_lengths, .sum_lengths = sum_lengths};

}  // namespace tandem::kernels::cuda
