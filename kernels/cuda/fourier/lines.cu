// Lines of the Fourier model: rows of bins <-> samples along rays, and cells <-> rows of pixels.
//
// Samples are (view, k, slice), the grid is (x >= 0, y, slice); both are complex. A block of threads works on
// one line of some slices, which stays in shared memory. A real line is a complex one of half the length: its
// even and odd elements are the two parts. So the numbers of a slice never meet those of another one.

#include "lines.hpp"

#include <algorithm>

#include "../../../core/error.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int most_threads = 512;  // of 128 registers

// ---- the two kinds of real lines: elements on one side, frequencies on the other. An object of a thread is
// a line of two slices.

/// Neighbours 2 n and 2 n + 1 of a line, in one transaction where that is possible.
template <class T>
struct PairedLine {
  T* data;  ///< null if there is no such slice
  int count;
  bool aligned;  ///< pairs lie at even places
  __device__ float2 load(int first) const {
    if (!data) return {};
    if (aligned && first >= 0 && first + 1 < count)
      return __ldg(reinterpret_cast<const float2*>(data + first));
    return {first >= 0 && first < count ? data[first] : 0.0f,
            first + 1 >= 0 && first + 1 < count ? data[first + 1] : 0.0f};
  }
  __device__ void store(int first, float2 value, const Update& update) const {
    if (!data) return;
    if (aligned && first >= 0 && first + 1 < count)
      return update(*reinterpret_cast<float2*>(data + first), value);
    if (first >= 0 && first < count) update(data[first], value.x);
    if (first + 1 >= 0 && first + 1 < count) update(data[first + 1], value.y);
  }
};

/// Lines of an image that begin at even places or not.
template <class T>
struct PairedLines {
  Image<T> image;
  int count;
  bool aligned;
  __device__ PairedLine<T> operator()(Index i0, Index i1, bool there) const {
    return {there ? &element(image, i0, i1, 0) : nullptr, count, aligned};
  }
};

/// The sign bits of imaginary parts change.
__device__ inline Two conjugate_if(bool wanted, Two a) {
  const int sign = wanted ? static_cast<int>(0x80000000u) : 0;
  const auto changed = [&](float value) { return __int_as_float(__float_as_int(value) ^ sign); };
  return {{a.first.x, changed(a.first.y)}, {a.second.x, changed(a.second.y)}};
}

/// The rows of views: bins, and samples of their rays.
template <class T>
struct BinRows {
  DevicePlan plan;
  FourierSlices at;
  FourierWeights weights;
  PairedLines<T> rows;
  float2* samples;
  Update update;

  struct Line {
    const BinRows& all;
    int view, slice, apart;
    float weight;
    bool turned;
    PairedLine<T> first, second;
    Two* samples;

    __device__ Line(const BinRows& a, int v, int s)
        : all(a),
          view(v),
          slice(s),
          apart(a.at.lanes / 2),
          weight(__ldg(a.weights.of_view + v)),
          turned(a.plan.turned[v]),
          first(a.rows(v, a.at.first + s, s < a.at.count)),
          second(a.rows(v, a.at.first + s + 1, s + 1 < a.at.count)),
          samples(
              reinterpret_cast<Two*>(a.samples + static_cast<Index>(v) * a.plan.samples * a.at.lanes + s)) {}
    __device__ Two load(int n) const { return {first.load(2 * n), second.load(2 * n)}; }
    __device__ void store(int n, Two value) const {
      first.store(2 * n, value.first, all.update);
      second.store(2 * n, value.second, all.update);
    }
    /// Frequency u + j sixteenth. The first and the last have half the weight, since samples k and -k meet
    /// there.
    __device__ Two frequency(int u, int j) const {
      const int k = u + j * all.plan.phases.sixteenth;
      if (k >= all.plan.samples) return {};
      const float twice = k == 0 || 2 * k == all.plan.length ? 2.0f : 1.0f;
      const Two sample = conjugate_if(turned, load_two(samples + k * apart));
      const Two value = conjugate(twice * factor(u, j, k)) * sample;
      return all.weights.moves.table ? moved(value, u, j, true) : value;
    }
    __device__ void put_frequency(int u, int j, Two value) const {
      const int k = u + j * all.plan.phases.sixteenth;
      if (k >= all.plan.samples) return;
      const Two sample = (0.5f * factor(u, j, k)) * value;
      samples[k * apart] =
          conjugate_if(turned, all.weights.moves.table ? moved(sample, u, j, false) : sample);
    }

   private:
    __device__ float2 factor(int u, int j, int k) const {
      const float2 phase = all.plan.phases.at(view, u) * all.plan.phases.turn(view, j);
      return (weight * __ldg(all.weights.of_frequency + k)) * phase;
    }
    /// Each slice's row on its own, or back.
    __device__ Two moved(Two value, int u, int j, bool back) const {
      const auto move = [&](int s) {
        if (s >= all.at.count) return float2{1, 0};
        const Phases& moves = all.weights.moves;
        const float2 m = moves.at(all.at.first + s, u) * moves.turn(all.at.first + s, j);
        return back ? conjugate(m) : m;
      };
      return {value.first * move(slice), value.second * move(slice + 1)};
    }
  };
};

/// Which pixel lies at a cell, the middle one at 0; not in [0, pixels) if none does.
__device__ inline int pixel_at(int cell, int pixels, int cells) {
  const int before = pixels / 2;
  return cell < cells - before ? cell + before : cell + before - cells;
}

/// Rows of pixels, and rows of cells that are transformed along y.
template <class T>
struct PixelRows {
  DevicePlan plan;
  FourierSlices at;
  PairedLines<T> volume;
  float2* grid;
  float scale;
  Update update;

  struct Line {
    const PixelRows& all;
    float gain;
    PairedLine<T> first, second;
    Two* cells;
    int apart;

    __device__ Line(const PixelRows& a, int y, int s)
        : all(a),
          gain(a.scale * __ldg(a.plan.gain_y + y)),
          first(a.volume(a.at.first + s, y, s < a.at.count)),
          second(a.volume(a.at.first + s + 1, y, s + 1 < a.at.count)),
          apart(a.plan.cells_y * (a.at.lanes / 2)) {
      const int before = a.plan.ny / 2, cell = y < before ? y - before + a.plan.cells_y : y - before;
      cells = reinterpret_cast<Two*>(a.grid + static_cast<Index>(cell) * a.at.lanes + s);
    }
    __device__ Two load(int n) const {
      const int x = first_pixel(n);
      if (!meets(x)) return {};
      const float2 gains{gain * gain_at(x), gain * gain_at(x + 1)}, a = first.load(x), b = second.load(x);
      return {{gains.x * a.x, gains.y * a.y}, {gains.x * b.x, gains.y * b.y}};
    }
    __device__ void store(int n, Two value) const {
      const int x = first_pixel(n);
      if (!meets(x)) return;
      const float2 gains{gain * gain_at(x), gain * gain_at(x + 1)};
      first.store(x, {gains.x * value.first.x, gains.y * value.first.y}, all.update);
      second.store(x, {gains.x * value.second.x, gains.y * value.second.y}, all.update);
    }
    __device__ Two frequency(int u, int j) const { return load_two(cells + column(u, j)); }
    __device__ void put_frequency(int u, int j, Two value) const { cells[column(u, j)] = value; }

   private:
    __device__ Index column(int u, int j) const {
      return static_cast<Index>(u + j * (all.plan.cells_x / 16)) * apart;
    }
    /// Of cells 2 n and 2 n + 1; -1 where only the second one has a pixel.
    __device__ int first_pixel(int n) const {
      const int before = all.plan.nx / 2, cell = 2 * n;
      return cell < all.plan.nx - before ? cell + before : cell + before - all.plan.cells_x;
    }
    __device__ bool meets(int x) const { return x >= -1 && x < all.plan.nx; }
    __device__ float gain_at(int x) const {
      return x >= 0 && x < all.plan.nx ? __ldg(all.plan.gain_x + x) : 0.0f;
    }
  };
};

// ---- kernels

/// The line and the first slice of this thread.
struct Place {
  int line, slice;
  __device__ Place(const FourierSlices& at, const Workers& w) {
    const int groups = at.lanes / (2 * w.pairs);
    line = static_cast<int>(blockIdx.x) / groups;
    slice = 2 * (static_cast<int>(blockIdx.x) % groups * w.pairs + w.pair);
  }
};

/// exp(-2 pi i k / length) of the whole line: the table of its half has twice as many roots.
__device__ inline float2 root_of_line(const LineTransform& half, int k) { return __ldg(half.roots + k); }

/// Frequencies come out twice as large: who calls takes half of something.
template <class Lines>
__global__ void __launch_bounds__(most_threads)
    elements_to_frequencies(const __grid_constant__ Lines lines, const __grid_constant__ LineTransform f,
                            int log2_pairs) {
  extern __shared__ Two shared[];
  const Workers w(log2_pairs);
  const Place at(lines.at, w);
  const typename Lines::Line line(lines, at.line, at.slice);
  first_pass<-1>(f, w, shared, [&](int n) { return line.load(n); });
  middle_passes<-1>(f, w, shared);
  w.share(f.length / 16, [&](int job) {
    const Eighths part(f.length, job);
    Two a[8], b[8];
    last_butterfly<-1>(f, w, shared, part.u, a);
    last_butterfly<-1>(f, w, shared, part.mirror_u, b);
    const Two zero = a[0];
    part.for_each(a, b, [&](int k, Two& x, Two& y, bool self) {
      const Two other = conjugate(y), even = x + other,
                odd = root_of_line(f, k) * quarter_turn<-1>(x - other);
      x = even + odd;
      if (!self) y = conjugate(even - odd);
    });
    if (part.u == 0) {
      a[0] = {{2 * (zero.first.x + zero.first.y), 0}, {2 * (zero.second.x + zero.second.y), 0}};
      line.put_frequency(0, 8,
                         {{2 * (zero.first.x - zero.first.y), 0}, {2 * (zero.second.x - zero.second.y), 0}});
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      line.put_frequency(part.u, j, a[j]);
      line.put_frequency(part.mirror_u, j, b[j]);
    }
  });
}

template <class Lines>
__global__ void __launch_bounds__(most_threads)
    frequencies_to_elements(const __grid_constant__ Lines lines, const __grid_constant__ LineTransform f,
                            int log2_pairs) {
  extern __shared__ Two shared[];
  const Workers w(log2_pairs);
  const Place at(lines.at, w);
  const typename Lines::Line line(lines, at.line, at.slice);
  w.share(f.length / 16, [&](int job) {
    const Eighths part(f.length, job);
    Two a[8], b[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      a[j] = line.frequency(part.u, j);
      b[j] = line.frequency(part.mirror_u, j);
    }
    const Two zero = a[0];
    part.for_each(a, b, [&](int k, Two& x, Two& y, bool self) {
      const Two other = conjugate(y), sum = x + other,
                turned = quarter_turn<1>(conjugate(root_of_line(f, k)) * (x - other));
      x = sum + turned;
      if (!self) y = conjugate(sum - turned);
    });
    if (part.u == 0) {  // zero and the highest are real
      const Two highest = line.frequency(0, 8);
      a[0] = {{zero.first.x + highest.first.x, zero.first.x - highest.first.x},
              {zero.second.x + highest.second.x, zero.second.x - highest.second.x}};
    }
    first_butterfly<1>(f, w, shared, part.u, a);
    first_butterfly<1>(f, w, shared, part.mirror_u, b);
  });
  __syncthreads();
  middle_passes<1>(f, w, shared);
  last_pass<1>(f, w, shared, [&](int n, Two value) { line.store(n, value); });
}

/// Columns of cells, in place: cells that samples meet on one side, rows of pixels on the other.
struct Columns {
  DevicePlan plan;
  FourierSlices at;
  float2* grid;
};

template <int sign>
__global__ void __launch_bounds__(most_threads)
    transform_columns(const __grid_constant__ Columns columns, const __grid_constant__ LineTransform f,
                      int log2_pairs) {
  extern __shared__ Two shared[];
  constexpr bool to_pixels = sign > 0;
  const Workers w(log2_pairs);
  const Place at(columns.at, w);
  const DevicePlan& plan = columns.plan;
  const int apart = columns.at.lanes / 2, reach = __ldg(plan.reach + at.line);
  Two* cells = reinterpret_cast<Two*>(
      columns.grid + static_cast<Index>(at.line) * plan.cells_y * columns.at.lanes + at.slice);
  const auto met = [&](int y) { return min(y, plan.cells_y - y) <= reach; };
  const auto has_pixels = [&](int y) {
    return static_cast<unsigned>(pixel_at(y, plan.ny, plan.cells_y)) < static_cast<unsigned>(plan.ny);
  };
  first_pass<sign>(f, w, shared,
                   [&](int y) { return (to_pixels ? met(y) : has_pixels(y)) ? cells[y * apart] : Two{}; });
  middle_passes<sign>(f, w, shared);
  last_pass<sign>(f, w, shared, [&](int y, Two value) {
    if (to_pixels ? has_pixels(y) : met(y)) cells[y * apart] = value;
  });
}

// ---- launches

int shared_bytes(const LineTransform& f, int log2_pairs) {
  return static_cast<int>(sizeof(Two)) * f.positions() << log2_pairs;
}

/// So many pairs of slices that the line fits, `most` or fewer; all are logarithms to base 2 but `pairs`.
int log2_pairs_for(const LineTransform& f, int pairs, int most, int shared) {
  int log2_pairs = most;
  while (log2_pairs > 0 && (pairs % (1 << log2_pairs) != 0 || shared_bytes(f, log2_pairs) > shared))
    --log2_pairs;
  return log2_pairs;
}

/// Frequencies are written 4 pairs of slices at a time, which makes 64 bytes; elements 2 pairs at a time,
/// since 128 bytes of a row then follow each other. Both were measured.
constexpr int four_pairs = 2, two_pairs = 1;

/// `most_pairs`: of slices, its logarithm to base 2.
template <class Lines>
void launch(void (*kernel)(Lines, LineTransform, int), const Lines& lines, const LineTransform& f, int count,
            int most_pairs, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const int pairs = lines.at.lanes / 2, shared = most_shared_memory(stream.device());
  const int log2_pairs = log2_pairs_for(f, pairs, most_pairs, shared), bytes = shared_bytes(f, log2_pairs);
  const int work = f.length / 16 << log2_pairs;
  const int most = 2 * bytes < shared ? most_threads / 2 : most_threads;  // two blocks, or one
  const int threads = ceil_div(ceil_div(work, ceil_div(work, most)), 32) * 32;
  const auto blocks = static_cast<unsigned>(count * (pairs >> log2_pairs));
  allow_all_shared_memory(kernel);
  kernel<<<blocks, threads, bytes, s>>>(lines, f, log2_pairs);
  after_launch();
}

template <class T>
BinRows<T> bin_rows(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                    Image<T> rows, float2* samples, Update update) {
  return {plan, at, weights, {rows, plan.bins, in_groups(rows, 2)}, samples, update};
}

template <class T>
PixelRows<T> pixel_rows(const DevicePlan& plan, const FourierSlices& at, Image<T> volume, float2* grid,
                        float scale, Update update) {
  return {plan, at, {volume, plan.nx, plan.nx % 4 == 0 && in_groups(volume, 2)}, grid, scale, update};
}

}  // namespace

void require_lines_to_fit(const FourierSizes& n, Device device) {
  const Index longest = std::max({n.length / 2, n.cells_x / 2, n.cells_y});
  const auto most = static_cast<Index>(most_shared_memory(device) / sizeof(Two)) * 16 / 18;
  require<DeviceError>(longest <= most, "device ", device.name(), ": the Fourier model needs ", longest,
                       " complex numbers of a line at once, and there is room for ", most,
                       "; give --model pixel_driven or --device cpu");
}

void rows_to_samples(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     Image<const float> rows, float2* samples, Stream& stream) {
  launch(elements_to_frequencies<BinRows<const float>>, bin_rows(plan, at, weights, rows, samples, {}),
         plan.row_forth, plan.views, four_pairs, stream);
}

void samples_to_rows(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     const float2* samples, Update update, Image<float> rows, Stream& stream) {
  launch(frequencies_to_elements<BinRows<float>>,
         bin_rows(plan, at, weights, rows, const_cast<float2*>(samples), update), plan.row_back, plan.views,
         two_pairs, stream);
}

void pixels_to_cells(const DevicePlan& plan, const FourierSlices& at, Image<const float> volume, float2* grid,
                     Stream& stream) {
  launch(elements_to_frequencies<PixelRows<const float>>, pixel_rows(plan, at, volume, grid, 0.5f, {}),
         plan.pixels_forth, plan.ny, four_pairs, stream);
  launch(transform_columns<-1>, Columns{plan, at, grid}, plan.column, plan.cells_x / 2 + 1, four_pairs,
         stream);
}

void cells_to_pixels(const DevicePlan& plan, const FourierSlices& at, float2* grid, Update update,
                     Image<float> volume, Stream& stream) {
  launch(transform_columns<1>, Columns{plan, at, grid}, plan.column, plan.cells_x / 2 + 1, four_pairs,
         stream);
  launch(frequencies_to_elements<PixelRows<float>>, pixel_rows(plan, at, volume, grid, 1, update),
         plan.pixels_back, plan.ny, two_pairs, stream);
}

}  // namespace tandem::kernels::cuda
