// Lines of the Fourier model: rows of bins <-> samples along rays, and cells <-> rows of pixels.
//
// Samples are (view, k, slice), the grid is (x >= 0, y, slice); both are complex. A block of threads works on
// one line of some slices, which stays in shared memory. A real line is a complex one of half the length: its
// even and odd elements are the two parts. So the numbers of a slice never meet those of another one.

#include "../../../core/spelled.hpp"
#include "lines.hpp"

#include <algorithm>

#include "../../../core/error.hpp"
#include "real_lines.cuh"
#include "row_ends.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int most_threads = 512;  // threads of 128 registers

// ---- kernels

/// The line and the first slice of a thread, of block number `block`.
struct LineAndSlice {
  int line, slice;
  __device__ LineAndSlice(const FourierSlices& at, const Workers& w, int block) {
    const int groups = at.lanes / (2 * w.pairs);
    line = block / groups;
    slice = 2 * (block % groups * w.pairs + w.pair);
  }
};

/// exp(-2 pi i k / length) of the whole line: the table of its half has twice as many roots.
__device__ inline float2 root_of_line(const LineTransform& half, int k) { return __ldg(half.roots + k); }

/// Shared memory of a block: the places of a line, and one more for each pair of slices.
struct SharedLine {
  Two* at;
  const LineTransform& f;
  const Workers& w;
  __device__ Two* place(int position) const { return at + position * w.pairs + w.pair; }
  /// Where the highest frequency waits, which has no place of its own.
  __device__ Two* beyond() const { return place(f.positions()); }
  /// The place of element u + j step of the first pass.
  __device__ Two* element(int u, int j) const { return place(u + (u >> f.log2_last) + j * f.block); }
};

/// A block of threads has one line after another. When the last pass of one has read its numbers, those of
/// the next one are on their way to the same places, so that loads, sums and stores go on at the same time.
template <class Line, class Lines, class Begin, class Transform>
__device__ void line_after_line(const Lines& lines, const LineTransform& f, const Workers& w,
                                const Begin& begin, const Transform& transform) {
  int block = blockIdx.x;
  const auto line_of = [&](int number) {
    const LineAndSlice at(lines.at, w, number);
    return Line(lines, at.line, at.slice);
  };
  {
    const Line first = line_of(block);
    w.share(f.length >> f.log2_last, [&](int k) { begin(first, k); });
  }
  for (; block < lines.blocks; block += grid_x()) {
    const int next = block + grid_x();
    const Line line = line_of(block), coming = line_of(min(next, lines.blocks - 1));
    wait_copies();
    __syncthreads();
    transform(line, [&](int k) {
      if (next < lines.blocks) begin(coming, k);
    });
  }
}

/// Calls body(place, element) for what the last pass reads at frequency k.
template <class Body>
__device__ void for_places(const SharedLine& shared, int k, const Body& body) {
  const Place place = shared.f.order[k];
  for (int first = 0; first < shared.f.last; first += 4)
#pragma unroll
    for (int j = first; j < first + 4; ++j) body(shared.place(place.position + j), place.element + j);
}

/// Makes frequencies twice as large; the caller takes half of something.
template <class Lines>
__global__ void __launch_bounds__(most_threads)
    elements_to_frequencies(const __grid_constant__ Lines lines, const __grid_constant__ LineTransform f,
                            int log2_pairs) {
  extern __shared__ Two memory[];
  const Workers w(log2_pairs);
  const LineAndSlice at(lines.at, w, own_block_x());
  const typename Lines::Line line(lines, at.line, at.slice);
  first_pass<-1>(f, w, memory, [&](int n) { return line.load(n); });
  middle_passes<-1>(f, w, memory);
  w.share(f.length / 16, [&](int job) {
    const Eighths part(f.length, job);
    Two a[8], b[8];
    read_last(f, w, memory, part.u, a), read_last(f, w, memory, part.mirror_u, b);
    transform<8, -1>(a), transform<8, -1>(b);
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
  extern __shared__ Two memory[];
  const Workers w(log2_pairs);
  const SharedLine shared{memory, f, w};
  using Line = typename Lines::Line;
  const auto begin = [&](const Line& line, int n) {
    for_places(shared, n, [&](Two* to, int k) { line.begin_frequency(k, to); });
    if (n == 0) line.begin_frequency(f.length, shared.beyond());
  };
  line_after_line<Line>(lines, f, w, begin, [&](const Line& line, const auto& refill) {
    w.share(f.length / 16, [&](int job) {
      const Eighths part(f.length, job);
      Two a[8], b[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        a[j] = line.frequency(part.u, j, *shared.element(part.u, j));
        b[j] = line.frequency(part.mirror_u, j, *shared.element(part.mirror_u, j));
      }
      const Two zero = a[0];
      part.for_each(a, b, [&](int k, Two& x, Two& y, bool self) {
        const Two other = conjugate(y), sum = x + other,
                  turned = quarter_turn<1>(conjugate(root_of_line(f, k)) * (x - other));
        x = sum + turned;
        if (!self) y = conjugate(sum - turned);
      });
      if (part.u == 0) {  // zero and the highest are real
        const Two highest = line.frequency(0, 8, *shared.beyond());
        a[0] = {{zero.first.x + highest.first.x, zero.first.x - highest.first.x},
                {zero.second.x + highest.second.x, zero.second.x - highest.second.x}};
      }
      first_butterfly<1>(f, w, memory, part.u, a);
      first_butterfly<1>(f, w, memory, part.mirror_u, b);
    });
    __syncthreads();
    middle_passes<1>(f, w, memory);
    last_pass<1>(
        f, w, memory, [&](int n, Two value) { line.store(n, value); }, refill);
  });
}

/// Columns of cells, in place: cells that samples meet on one side, rows of pixels on the other.
struct Columns {
  DevicePlan plan;
  FourierSlices at;
  float2* grid;
  int blocks = 0;

  struct Line {
    const DevicePlan& plan;
    Two* cells;
    int apart, reach;
    __device__ Line(const Columns& all, int x, int slice)
        : plan(all.plan),
          cells(reinterpret_cast<Two*>(all.grid + Index{x} * all.plan.cells_y * all.at.lanes + slice)),
          apart(all.at.lanes / 2),
          reach(__ldg(all.plan.reach + x)) {}
    __device__ bool met(int y) const { return min(y, plan.cells_y - y) <= reach; }
    __device__ bool has_pixels(int y) const { return is_below(pixel_at(y, plan.ny, plan.cells_y), plan.ny); }
  };
};

template <int sign>
__global__ void __launch_bounds__(most_threads)
    transform_columns(const __grid_constant__ Columns columns, const __grid_constant__ LineTransform f,
                      int log2_pairs) {
  extern __shared__ Two memory[];
  constexpr bool to_pixels = sign > 0;
  const Workers w(log2_pairs);
  const SharedLine shared{memory, f, w};
  using Line = Columns::Line;
  const auto begin = [&](const Line& line, int k) {
    for_places(shared, k, [&](Two* to, int y) {
      begin_copy(to, line.cells + y * line.apart, to_pixels ? line.met(y) : line.has_pixels(y));
    });
  };
  line_after_line<Line>(columns, f, w, begin, [&](const Line& line, const auto& refill) {
    first_pass<sign>(f, w, memory);
    middle_passes<sign>(f, w, memory);
    last_pass<sign>(
        f, w, memory,
        [&](int y, Two value) {
          if (to_pixels ? line.has_pixels(y) : line.met(y)) line.cells[y * line.apart] = value;
        },
        refill);
  });
}

// ---- launches

int shared_bytes(const LineTransform& f, int log2_pairs) {
  return size_of<Two> * (f.positions() + 1) << log2_pairs;
}

/// The number of pairs of slices, `most` or fewer, whose line fits. All are logarithms to base 2 but `pairs`.
int log2_pairs_for(const LineTransform& f, int pairs, int most, int shared) {
  int log2_pairs = most;
  while (log2_pairs > 0 && (pairs % (1 << log2_pairs) != 0 || shared_bytes(f, log2_pairs) > shared))
    --log2_pairs;
  return log2_pairs;
}

/// How many pairs of slices a block of threads has, its logarithm to base 2, and whether it has one line
/// after another or a single one.
struct Sharing {
  int log2_pairs;
  bool line_after_line;
};
/// Four pairs make 64 bytes of a frequency or a cell; with two, 128 bytes of a row of bins follow each other.
/// All were measured.
constexpr Sharing elements_in{2, false}, columns_in_place{2, true}, bins_out{1, true}, pixels_out{2, true};

/// As many blocks of threads as can run at the same time, or fewer.
template <class Kernel>
int blocks_at_once(Kernel* kernel, int threads, int bytes) {
  int device = 0, multiprocessors = 0, each = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, bytes));
  return std::max(1, each) * multiprocessors;
}

template <class Lines>
void launch(void (*kernel)(Lines, LineTransform, int), Lines lines, const LineTransform& f, int count,
            const Sharing& sharing, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const int pairs = lines.at.lanes / 2, shared = most_shared_memory(stream.device());
  const int log2_pairs = log2_pairs_for(f, pairs, sharing.log2_pairs, shared),
            bytes = shared_bytes(f, log2_pairs);
  const int work = f.length / 16 << log2_pairs;
  const int most = 2 * bytes < shared ? most_threads / 2 : most_threads;  // two blocks, or one
  // as many as there are registers for, though rounds of the last pass may then be uneven: those of the first
  // pass, which wait for memory, are fewer
  const int threads = std::min(most, ceil_div(work, 32) * 32);
  allow_all_shared_memory(kernel);
  lines.blocks = count * (pairs >> log2_pairs);
  const int blocks =
      sharing.line_after_line ? std::min(lines.blocks, blocks_at_once(kernel, threads, bytes)) : lines.blocks;
  kernel<<<grid_of(blocks), threads, bytes, s>>>(lines, f, log2_pairs);
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
  const auto most = Index{most_shared_memory(device)} / size_of<Two> * 16 / 18;
  require<DeviceError>(longest <= most, "device ", device.name(), ": the Fourier model needs ", longest,
                       " complex numbers of a line at once, and there is room for ", most,
                       "; give " + spelled("model") + " pixel_driven or " + spelled("device") + " cpu");
}

void rows_to_samples(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     Image<const float> rows, float2* samples, Stream& stream) {
  const auto lines = bin_rows(plan, at, weights, rows, samples, {});
  if (!weights.beyond.before)
    return launch(elements_to_frequencies<BinRows<const float>>, lines, plan.row_forth, plan.views,
                  elements_in, stream);
  const Scratch<float2> ends(rows.n0 * at.lanes, queue(stream));
  find_ends(weights.beyond, at, rows, ends.data(), stream);
  launch(elements_to_frequencies<ContinuedRows>, ContinuedRows{lines, ends.data()}, plan.row_forth,
         plan.views, elements_in, stream);
}

void samples_to_rows(const DevicePlan& plan, const FourierSlices& at, const FourierWeights& weights,
                     const float2* samples, Update update, Image<float> rows, Stream& stream) {
  auto lines = bin_rows(plan, at, weights, rows, const_cast<float2*>(samples), update);
  const auto run = [&] {
    launch(frequencies_to_elements<BinRows<float>>, lines, plan.row_back, plan.views, bins_out, stream);
  };
  if (!weights.beyond.before) return run();
  const Index length = plan.length, view = at.count * length;
  const Scratch<float> memory(rows.n0 * view, queue(stream));
  float* data = memory.data() - at.first * length;  // slices are counted as in `rows`
  const Image<float> circles{data, rows.n0, at.first + at.count, length, view, length};
  lines.rows = {circles, plan.length, true}, lines.update = {1, 0};
  run();
  come_back(weights.beyond, at, circles, update, rows, stream);
}

void pixels_to_cells(const DevicePlan& plan, const FourierSlices& at, Image<const float> volume, float2* grid,
                     Stream& stream) {
  launch(elements_to_frequencies<PixelRows<const float>>, pixel_rows(plan, at, volume, grid, 0.5f, {}),
         plan.pixels_forth, plan.ny, elements_in, stream);
  launch(transform_columns<-1>, Columns{plan, at, grid}, plan.column, plan.cells_x / 2 + 1, columns_in_place,
         stream);
}

void cells_to_pixels(const DevicePlan& plan, const FourierSlices& at, float2* grid, Update update,
                     Image<float> volume, Stream& stream) {
  launch(transform_columns<1>, Columns{plan, at, grid}, plan.column, plan.cells_x / 2 + 1, columns_in_place,
         stream);
  launch(frequencies_to_elements<PixelRows<float>>, pixel_rows(plan, at, volume, grid, 1, update),
         plan.pixels_back, plan.ny, pixels_out, stream);
}

}  // namespace tandem::kernels::cuda
