#pragma once

// Fourier transforms of one line of numbers in shared memory, for some pairs of slices at once: element e of
// pair p is shared[position(e) * pairs + p]. Passes of mixed radices go in place, by decimation in frequency;
// the last one has radix 4, 8 or 16. A kernel loads through a source, or into positions of its own, and
// stores in the same way. A thread has two slices, which share all but their numbers.

#include <cuda_runtime.h>

#include <type_traits>

namespace tandem::kernels::cuda {

// ---- complex numbers

__device__ inline float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ inline float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ inline float2 operator*(float s, float2 a) { return {s * a.x, s * a.y}; }
__device__ inline float2 operator*(float2 a, float2 b) {
  return {fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x)};
}
__device__ inline float2 conjugate(float2 a) { return {a.x, -a.y}; }
/// The product with i, or with -i.
template <int sign>
__device__ float2 quarter_turn(float2 a) {
  return sign > 0 ? float2{-a.y, a.x} : float2{a.y, -a.x};
}

/// Complex numbers of two slices, which never meet.
struct alignas(16) Two {
  float2 first, second;
};
__device__ inline Two operator+(Two a, Two b) { return {a.first + b.first, a.second + b.second}; }
__device__ inline Two operator-(Two a, Two b) { return {a.first - b.first, a.second - b.second}; }
__device__ inline Two operator*(float s, Two a) { return {s * a.first, s * a.second}; }
__device__ inline Two operator*(float2 w, Two a) { return {a.first * w, a.second * w}; }
__device__ inline Two conjugate(Two a) { return {conjugate(a.first), conjugate(a.second)}; }
template <int sign>
__device__ Two quarter_turn(Two a) {
  return {quarter_turn<sign>(a.first), quarter_turn<sign>(a.second)};
}

// ---- transforms in registers: v[k] <- sum of v[j] exp(sign 2 pi i j k / n)

/// exp(2 pi i k / n), by Taylor series at compile time.
template <int n>
struct RootsOfUnity {
  float real[n]{}, imaginary[n]{};
  __host__ __device__ constexpr RootsOfUnity() {
    for (int k = 0; k < n; ++k) {
      const double angle = 2 * 3.14159265358979323846 * k / n;
      double cosine = 0, sine = 0, term = 1;
      for (int i = 0; i < 60; i += 2) {
        cosine += term, term *= angle / (i + 1);
        sine += term, term *= -angle / (i + 2);
      }
      real[k] = static_cast<float>(cosine), imaginary[k] = static_cast<float>(sine);
    }
  }
};

template <int n, int sign>
__device__ void transform(Two (&v)[n]) {
  if constexpr (n == 2) {
    const Two a = v[0];
    v[0] = a + v[1], v[1] = a - v[1];
  } else if constexpr (n == 3) {
    const Two sum = v[1] + v[2], rest = v[0] - 0.5f * sum,
              turned = 0.866025403784438647f * quarter_turn<sign>(v[1] - v[2]);
    v[0] = v[0] + sum, v[1] = rest + turned, v[2] = rest - turned;
  } else if constexpr (n == 4) {
    const Two a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter_turn<sign>(v[1] - v[3]);
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
  } else if constexpr (n == 5) {
    constexpr RootsOfUnity<5> root;
    const Two s1 = v[1] + v[4], s2 = v[2] + v[3], d1 = v[1] - v[4], d2 = v[2] - v[3];
    const Two a = v[0] + root.real[1] * s1 + root.real[2] * s2,
              b = v[0] + root.real[2] * s1 + root.real[1] * s2;
    const Two p = quarter_turn<sign>(root.imaginary[1] * d1 + root.imaginary[2] * d2),
              q = quarter_turn<sign>(root.imaginary[2] * d1 - root.imaginary[1] * d2);
    v[0] = v[0] + s1 + s2;
    v[1] = a + p, v[4] = a - p, v[2] = b + q, v[3] = b - q;
  } else {
    constexpr int first = n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : 2, second = n / first;
    constexpr RootsOfUnity<n> root;
    Two out[n];
#pragma unroll
    for (int b = 0; b < second; ++b) {
      Two part[first];
#pragma unroll
      for (int a = 0; a < first; ++a) part[a] = v[second * a + b];
      transform<first, sign>(part);
#pragma unroll
      for (int k = 0; k < first; ++k) {
        const int turn = b * k;
        v[second * k + b] = turn == 0       ? part[k]
                            : 4 * turn == n ? quarter_turn<sign>(part[k])
                                            : float2{root.real[turn], sign * root.imaginary[turn]} * part[k];
      }
    }
#pragma unroll
    for (int k = 0; k < first; ++k) {
      Two part[second];
#pragma unroll
      for (int b = 0; b < second; ++b) part[b] = v[second * k + b];
      transform<second, sign>(part);
#pragma unroll
      for (int j = 0; j < second; ++j) out[k + first * j] = part[j];
    }
#pragma unroll
    for (int k = 0; k < n; ++k) v[k] = out[k];
  }
}

// ---- transforms in shared memory

constexpr int most_passes = 6;

/// Butterflies of `radix` elements that lie `step` apart, in blocks of radix * step.
struct Pass {
  int radix, step, butterflies;
  unsigned inverse_step;  ///< for quotients
  int turn;               ///< roots of the table for each step of a twiddle factor
};

/// The place of a frequency before the last pass, and the element at that place before the first one.
struct Place {
  int position, element;
};

/// What all transforms of one length share.
struct LineTransform {
  int length;
  int passes;  ///< passes before the last one
  Pass pass[most_passes];
  int last, log2_last;  ///< radix of the last pass: 4, 8 or 16; it divides every step
  int block;            ///< positions of an element and the one pass[0].step further on
  const float2*
      roots;           ///< exp(-2 pi i k / (turns length)), where `turns` is 1, or 2 for halves of real lines
  const Place* order;  ///< places of frequencies k < length / last; k + j length / last lies j further on

  __host__ __device__ int positions() const { return pass[0].radix * block; }
};

/// q / divisor for q * divisor < 2^32
__device__ inline int quotient(int q, unsigned inverse) { return __umulhi(q, inverse); }

/// A block of threads at work on one line of some pairs of slices.
struct Workers {
  int pairs, pair, worker, count;
  __device__ explicit Workers(int log2_pairs)
      : pairs(1 << log2_pairs),
        pair(own_thread() & (pairs - 1)),
        worker(threadIdx.x >> log2_pairs),
        count(blockDim.x >> log2_pairs) {}
  template <class F>
  __device__ void share(int jobs, const F& f) const {
    for (int job = worker; job < jobs; job += count) f(job);
  }
};

/// The place of element e before the first pass. Some positions stay empty, so that neither the elements of a
/// butterfly nor those of neighbouring ones share banks.
__device__ inline int position(const LineTransform& f, int e) {
  const int block = quotient(e, f.pass[0].inverse_step), rest = e - block * f.pass[0].step;
  return block * f.block + rest + (rest >> f.log2_last);
}

template <class Body>
__device__ void with_radix(int radix, const Body& body) {
  switch (radix) {
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 5:
      return body(std::integral_constant<int, 5>());
    case 6:
      return body(std::integral_constant<int, 6>());
    case 8:
      return body(std::integral_constant<int, 8>());
    case 10:
      return body(std::integral_constant<int, 10>());
    case 12:
      return body(std::integral_constant<int, 12>());
    case 16:
      return body(std::integral_constant<int, 16>());
  }
}

/// Multiplies v[k] by root^(turn k): powers of two come from the table, the others are at most three
/// products.
template <int radix, int sign>
__device__ void twiddle(Two (&v)[radix], const float2* roots, int turn) {
  float2 w[radix];
#pragma unroll
  for (int k = 1; k < radix; ++k) {
    const int half = k & 8 ? 8 : k & 4 ? 4 : k & 2 ? 2 : 1;
    if (half == k) {
      w[k] = __ldg(roots + turn * k);
      if (sign > 0) w[k].y = -w[k].y;
    } else {
      w[k] = w[half] * w[k - half];
    }
    v[k] = w[k] * v[k];
  }
}

/// One butterfly of the first pass; v are elements t, t + step, ...
template <int sign, int radix>
__device__ void first_butterfly(const LineTransform& f, const Workers& w, Two* shared, int t,
                                Two (&v)[radix]) {
  transform<radix, sign>(v);
  twiddle<radix, sign>(v, f.roots, t * f.pass[0].turn);
  Two* at = shared + (t + (t >> f.log2_last)) * w.pairs + w.pair;
#pragma unroll
  for (int j = 0; j < radix; ++j) at[j * f.block * w.pairs] = v[j];
}

/// The first pass, from source(e) into shared memory.
template <int sign, class Source>
__device__ void first_pass(const LineTransform& f, const Workers& w, Two* shared, const Source& source) {
  with_radix(f.pass[0].radix, [&](auto radix) {
    w.share(f.pass[0].step, [&](int t) {
      Two v[radix];
#pragma unroll
      for (int j = 0; j < radix; ++j) v[j] = source(t + j * f.pass[0].step);
      first_butterfly<sign>(f, w, shared, t, v);
    });
  });
  __syncthreads();
}
/// The first pass, for elements that lie in their places.
template <int sign>
__device__ void first_pass(const LineTransform& f, const Workers& w, Two* shared) {
  with_radix(f.pass[0].radix, [&](auto radix) {
    w.share(f.pass[0].step, [&](int t) {
      const Two* at = shared + (t + (t >> f.log2_last)) * w.pairs + w.pair;
      Two v[radix];
#pragma unroll
      for (int j = 0; j < radix; ++j) v[j] = at[j * f.block * w.pairs];
      first_butterfly<sign>(f, w, shared, t, v);
    });
  });
  __syncthreads();
}

template <int sign>
__device__ void middle_passes(const LineTransform& f, const Workers& w, Two* shared) {
  for (int p = 1; p < f.passes; ++p) {
    const Pass& pass = f.pass[p];
    with_radix(pass.radix, [&](auto radix) {
      w.share(pass.butterflies, [&](int job) {
        const int outer = quotient(job, pass.inverse_step), t = job - outer * pass.step;
        Two* at = shared + position(f, outer * radix * pass.step + t) * w.pairs + w.pair;
        const int apart = (pass.step + (pass.step >> f.log2_last)) * w.pairs;
        Two v[radix];
#pragma unroll
        for (int j = 0; j < radix; ++j) v[j] = at[j * apart];
        transform<radix, sign>(v);
        twiddle<radix, sign>(v, f.roots, t * pass.turn);
#pragma unroll
        for (int j = 0; j < radix; ++j) at[j * apart] = v[j];
      });
    });
    __syncthreads();
  }
}

/// Reads what the last pass transforms into frequencies k, k + length / radix, ...
template <int radix>
__device__ void read_last(const LineTransform& f, const Workers& w, const Two* shared, int k,
                          Two (&v)[radix]) {
  const Two* at = shared + __ldg(&f.order[k].position) * w.pairs + w.pair;
#pragma unroll
  for (int j = 0; j < radix; ++j) v[j] = at[j * w.pairs];
}

/// The last pass, into sink(k, value). When the place of frequency k has been read, refill(k).
template <int sign, class Sink, class Refill>
__device__ void last_pass(const LineTransform& f, const Workers& w, const Two* shared, const Sink& sink,
                          const Refill& refill) {
  const int apart = f.length >> f.log2_last;
  const auto run = [&](auto radix) {
    w.share(apart, [&](int k) {
      Two v[radix];
      read_last(f, w, shared, k, v);
      refill(k);
      transform<radix, sign>(v);
#pragma unroll
      for (int j = 0; j < radix; ++j) sink(k + j * apart, v[j]);
    });
  };
  if (f.last == 16) return run(std::integral_constant<int, 16>());
  if (f.last == 8) return run(std::integral_constant<int, 8>());
  run(std::integral_constant<int, 4>());
}

// ---- frequencies k and length - k together, as real lines need them

/// Frequencies or elements u + j length / 8, j = 0 .. 7, and their mirror images mirror_u + (7 - j) length /
/// 8. The two u that mirror themselves go together.
struct Eighths {
  int eighth, u, mirror_u;
  __device__ Eighths(int length, int job)
      : eighth(length / 8), u(job), mirror_u(job ? eighth - job : eighth / 2) {}

  /// Calls body(k, x, y) for each pair, where x belongs to k and y to length - k; `self` if they are one.
  template <class Body>
  __device__ void for_each(Two (&x)[8], Two (&y)[8], const Body& body) const {
    constexpr bool self = true;
    if (u) {
#pragma unroll
      for (int j = 0; j < 8; ++j) body(u + j * eighth, x[j], y[7 - j], !self);
      return;
    }
#pragma unroll
    for (int j = 1; j < 4; ++j) body(j * eighth, x[j], x[8 - j], !self);
    body(4 * eighth, x[4], x[4], self);
#pragma unroll
    for (int j = 0; j < 4; ++j) body(mirror_u + j * eighth, y[j], y[7 - j], !self);
  }
};

}  // namespace tandem::kernels::cuda
