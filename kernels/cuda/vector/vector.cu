#include "../common/pieces.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

/// Elements that lie side by side, and are loaded and stored at once.
template <int n>
struct alignas(n * sizeof(float)) Few {
  float at[n];
};

template <int n>
__device__ const Few<n>& few(const float* from, Index i) {
  return reinterpret_cast<const Few<n>*>(from)[i];
}

/// Whether all lines of a vector begin where four elements can be loaded at once, and end there.
bool fours(const Lines& at, const float* data) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Few<4>) == 0 && at.count % 4 == 0;
}

/// Calls a function with how many elements of both vectors a thread can take at once.
template <class F>
void with_width(const Lines& at, const float* x, const float* y, F f) {
  if (fours(at, x) && fours(at, y))
    f(std::integral_constant<int, 4>{});
  else
    f(std::integral_constant<int, 1>{});
}

/// A thread sums the same elements whatever n is, so bits do not depend on where a vector lies.
template <int n>
__global__ void __launch_bounds__(threads)
    piece_dots(Lines at, Index pieces_of_line, const float* __restrict__ x, const float* __restrict__ y,
               double* sums) {
  const Piece mine(at, pieces_of_line);
  double sum = 0;
#pragma unroll 4
  for (Index line = 0; line < mine.lines; ++line) {
    const float *u = x + mine.start + line * mine.line_stride, *v = y + mine.start + line * mine.line_stride;
#pragma unroll 4
    for (Index four = threadIdx.x; four < ceil_div<Index>(mine.count, 4); four += threads)
      for (Index i = four * 4 / n; i < min(four * 4 / n + 4 / n, mine.count / n); ++i) {
        const Few<n> a = few<n>(u, i), b = few<n>(v, i);
        for (int k = 0; k < n; ++k) sum += double{a.at[k]} * double{b.at[k]};
      }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void dot(ConstVectorView x, ConstVectorView y, std::span<double> sums, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Lines at = lines_of(x.space);
  const Scratch<double> partial(at.blocks * at.pieces(), s), total(sums.size(), s);
  with_width(at, x.data, y.data, [&](auto n) {
    piece_dots<n><<<grid_of(at), threads, 0, s>>>(at, at.pieces_of_line(), x.data, y.data, partial.data());
  });
  after_launch();
  add_pieces<<<grid_of(at.blocks), threads, 0, s>>>(at.pieces(), partial.data(), total.data());
  after_launch();
  bring(sums, total, stream);
}

__global__ void __launch_bounds__(threads)
    add_not_finite(Lines at, Index pieces_of_line, const float* __restrict__ x, unsigned long long* counts) {
  const Piece mine(at, pieces_of_line);
  unsigned met = 0;
  for (Index line = 0; line < mine.lines; ++line) {
    const float* from = x + mine.start + line * mine.line_stride;
#pragma unroll 8
    for (Index i = threadIdx.x; i < mine.count; i += threads) met += !isfinite(from[i]);
  }
  met = __reduce_add_sync(~0u, met);
  if (met > 0 && threadIdx.x % 32 == 0) atomicAdd(counts + mine.block, met);
}

void count_not_finite(ConstVectorView x, std::span<Index> counts, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Lines at = lines_of(x.space);
  static_assert(sizeof(unsigned long long) == sizeof(Index));
  const Scratch<unsigned long long> sums(counts.size(), s);
  check(cudaMemsetAsync(sums.data(), 0, counts.size_bytes(), s));
  add_not_finite<<<grid_of(at), threads, 0, s>>>(at, at.pieces_of_line(), x.data, sums.data());
  after_launch();
  bring(counts, sums, stream);
}

/// y <- change(block)(x, y), element by element. What a change does not read may have any bits.
template <int n, class Change>
__global__ void __launch_bounds__(threads)
    update(Lines at, Index pieces_of_line, const float* x, float* y, Change change) {
  const Piece mine(at, pieces_of_line);
  const auto of_block = change(mine.block);
  for (Index line = 0; line < mine.lines; ++line) {
    const Index start = mine.start + line * mine.line_stride;
    for (Index i = threadIdx.x; i < mine.count / n; i += threads) {
      const Few<n> from = of_block.reads_x() ? few<n>(x + start, i) : Few<n>{};
      Few<n> to = of_block.reads_y() ? few<n>(y + start, i) : Few<n>{};
      for (int k = 0; k < n; ++k) to.at[k] = of_block(from.at[k], to.at[k]);
      reinterpret_cast<Few<n>*>(y + start)[i] = to;
    }
  }
}

template <class Change>
void update_all(const float* x, VectorView y, Stream& stream, Change change) {
  const Lines at = lines_of(y.space);
  with_width(at, x, y.data, [&](auto n) {
    update<n><<<grid_of(at), threads, 0, queue(stream)>>>(at, at.pieces_of_line(), x, y.data, change);
  });
  after_launch();
}

struct Sum {
  float a, b;
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return b != 0; }
  __device__ float operator()(float x, float y) const { return b == 0 ? a * x : a * x + b * y; }
};

void axpby(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
           Stream& stream) {
  const SentScalars there_a(a, stream), there_b(b, stream);
  update_all(x.data, y, stream, [s = there_a.there(), t = there_b.there()] __device__(Index block) {
    return Sum{s.of(block), t.of(block)};
  });
}

struct Product {
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float x, float y) const { return x * y; }
};

void multiply(ConstVectorView x, VectorView y, Stream& stream) {
  update_all(x.data, y, stream, [] __device__(Index) { return Product{}; });
}

struct Attenuation {
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float x, float y) const { return y * expf(-x); }
};

void attenuate(ConstVectorView x, VectorView y, Stream& stream) {
  update_all(x.data, y, stream, [] __device__(Index) { return Attenuation{}; });
}

struct Fill {
  float value;
  __device__ bool reads_x() const { return false; }
  __device__ bool reads_y() const { return false; }
  __device__ float operator()(float, float) const { return value; }
};

void fill(VectorView x, float value, Stream& stream) {
  update_all(x.data, x, stream, [value] __device__(Index) { return Fill{value}; });
}

struct Quotient {
  float floor, otherwise;
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float x, float y) const { return x > floor ? __fdiv_rn(y, x) : otherwise; }
};

void divide(ConstVectorView x, std::span<const float> floor, float otherwise, VectorView y, Stream& stream) {
  const SentScalars there(floor, stream);
  update_all(x.data, y, stream, [s = there.there(), otherwise] __device__(Index block) {
    return Quotient{s.of(block), otherwise};
  });
}

struct Shrunk {
  float more;
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float x, float y) const { return x > 0 ? y * __fdiv_rn(x, x + more) : 0; }
};

void shrink(ConstVectorView x, std::span<const float> by, VectorView y, Stream& stream) {
  const SentScalars there(by, stream);
  update_all(x.data, y, stream, [s = there.there()] __device__(Index block) { return Shrunk{s.of(block)}; });
}

struct ReciprocalOrZero {
  float floor;
  __device__ bool reads_x() const { return false; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float, float y) const { return y > floor ? 1 / y : 0.0f; }
};

void reciprocal_or_zero(VectorView x, std::span<const float> floor, Stream& stream) {
  const SentScalars there(floor, stream);
  update_all(x.data, x, stream,
             [s = there.there()] __device__(Index block) { return ReciprocalOrZero{s.of(block)}; });
}

struct ClampBelow {
  float lowest;
  __device__ bool reads_x() const { return false; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float, float y) const { return fmaxf(y, lowest); }
};

void clamp_below(VectorView x, float lowest, Stream& stream) {
  update_all(x.data, x, stream, [lowest] __device__(Index) { return ClampBelow{lowest}; });
}

struct ClampEach {
  bool above;
  __device__ bool reads_x() const { return true; }
  __device__ bool reads_y() const { return true; }
  __device__ float operator()(float x, float y) const { return (above ? y > x : y < x) ? x : y; }
};

void clamp_each(ConstVectorView ends, bool above, VectorView x, Stream& stream) {
  update_all(ends.data, x, stream, [above] __device__(Index) { return ClampEach{above}; });
}

}  // namespace

const VectorKernels vector_kernels{dot,       count_not_finite, axpby,  multiply,           attenuate,
                                   fill,      divide,           shrink, reciprocal_or_zero, clamp_below,
                                   clamp_each};

}  // namespace tandem::kernels::cuda
