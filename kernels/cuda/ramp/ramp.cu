#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "../../circles.hpp"
#include "../../launches.hpp"
#include "../common/batch.cuh"
#include "../common/beyond.cuh"
#include "../common/cufft.hpp"
#include "../common/device_table.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256, bins_a_thread = 4, bins_a_block = threads * bins_a_thread;

// As on the CPU: two views of a row are the real and the imaginary part of one complex row. Rows are filtered
// in batches that stay in the L2 cache between the passes of pack, transform, response, transform, unpack;
// every transform has the same number of rows, so that the bits do not depend on what is filtered together.
constexpr std::size_t batch_bytes = 32 << 20;

Index pairs_at_once(Index length) {
  constexpr Index most = 32768;  // a grid's second extent ends at 65535
  return std::clamp<Index>(batch_bytes / (length * sizeof(float2)), 1, most);
}

struct Plan {
  cufftHandle handle = 0;
  std::size_t work_bytes = 0;  ///< bytes from the device's pool, for as long as the transforms take
};

/// Plans live as long as the program, one a thread, device and length.
Plan plan_for(Index length, const Stream& stream) {
  thread_local std::map<std::pair<Index, Device>, Plan> made;
  const auto found = made.find({length, stream.device()});
  if (found != made.end()) return found->second;
  Plan plan;
  int n = int_of(length);
  check(cufft().create(&plan.handle));
  check(cufft().set_auto_allocation(plan.handle, 0));
  check(cufft().make_plan_many(plan.handle, 1, &n, nullptr, 1, n, nullptr, 1, n, CUFFT_C2C,
                               int_of(pairs_at_once(length)), &plan.work_bytes));
  made.emplace(std::pair{length, stream.device()}, plan);
  return plan;
}

struct Rows {
  Index views, rows, length, pairs_a_row;  ///< rows of the filter's input; pairs of views of one of these
  Beyond beyond;
};

/// Calls `f` for the bins of this thread: several, so that they share the divisions that find a pair.
template <class F>
__device__ inline void for_bins(Index count, const F& f) {
  const Index first = Index{blockIdx.x} * bins_a_block + threadIdx.x;
#pragma unroll
  for (int i = 0; i < bins_a_thread; ++i)
    if (const Index bin = first + i * threads; bin < count) f(bin);
}

/// Blocks for so many bins and pairs.
dim3 blocks_of(Index bins, Index pairs) { return grid_of(ceil_div<Index>(bins, bins_a_block), pairs); }

/// End values of both views of a pair, at the low and at the high end of its row.
struct Ends {
  float2 low, high;
};

/// The end values of a pair of rows: one warp an end and view. Every thread gets them.
__device__ inline Ends end_values(const Rows& at, const FilterSide& side, Index row, Index view,
                                  const Image<const float>& in) {
  __shared__ float ends[4];  // low and high of one view, then of the other
  const int end = own_thread() / 32;
  if (end < 4) {
    const Index own = view + end / 2;
    float value = 0;
    if (row < at.rows && own < at.views)  // for all threads of a warp, or for none
      value = side.weight_beyond(own, end % 2) *
              end_value_by_warp(at.beyond.ends, row, end % 2,
                                [&](Index bin) { return element(in, own, row, bin); });
    if (threadIdx.x % 32 == 0) ends[end] = value;
  }
  __syncthreads();
  return {{ends[0], ends[2]}, {ends[1], ends[3]}};
}

/// Packs pair p of all: row p / pairs_a_row, views 2 (p % pairs_a_row) and the next. Grid: (bins, pairs of
/// the batch). Rows go on beyond their ends if they are `continued`.
template <bool continued>
__global__ void __launch_bounds__(threads)
    pack(Rows at, FilterSide side, Index first, Image<const float> in, float2* work) {
  const Index p = first + blockIdx.y, row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2;
  Ends ends{};
  if constexpr (continued) ends = end_values(at, side, row, view, in);
  for_bins(at.length, [&](Index k) {
    const Index bin = k - side.first;
    float2 value{};
    if (row < at.rows && bin >= 0 && bin < side.bins) {
      const Range rows = side.like(row);
      for (Index r = rows.first; r < rows.last; ++r) {
        value.x += side.weight(view, r, bin) * element(in, view, r, bin);
        if (view + 1 < at.views) value.y += side.weight(view + 1, r, bin) * element(in, view + 1, r, bin);
      }
    }
    if constexpr (continued) {
      const float before = __ldg(at.beyond.before + k), after = __ldg(at.beyond.after + k);
      value.x += ends.low.x * before + ends.high.x * after;
      value.y += ends.low.y * before + ends.high.y * after;
    }
    work[blockIdx.y * at.length + k] = value;
  });
}

/// Responses: one for all rows, or one a row, each of `length` complex numbers.
__global__ void __launch_bounds__(threads)
    respond(Rows at, Index first, const float2* __restrict__ response, bool one_for_all, float2* work) {
  const Index row = one_for_all ? 0 : min((first + blockIdx.y) / at.pairs_a_row, at.rows - 1);
  for_bins(at.length, [&](Index k) {
    const float2 h = response[row * at.length + k];
    float2& a = work[blockIdx.y * at.length + k];
    a = {a.x * h.x - a.y * h.y, a.x * h.y + a.y * h.x};
  });
}

/// The circles beyond the ends of the pairs of a batch, (pair, view of it, end): one warp each.
__global__ void __launch_bounds__(threads)
    fit_tails(Rows at, CircleRows circles, Index first, Image<const float> in, Tail* tails) {
  const Index i = (Index{blockIdx.x} * threads + threadIdx.x) / 32, p = first + i / 4,
              row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2 + i / 2 % 2;
  const int end = i % 2;
  Tail tail{};
  if (row < at.rows && view < at.views) {  // for all threads of a warp, or for none
    EndSums sums = circles.sums(&element(in, view, row, 0), row, end, threadIdx.x % 32, 32);
    for (double* sum : {&sums.row, &sums.end, &sums.squares, &sums.slope, &sums.usual})
      *sum = sum_over_warp(*sum);
    tail = circles.tail(sums, view, row, end);
  }
  if (threadIdx.x % 32 == 0) tails[i] = tail;
}

/// Packs the tails of pairs; grid as for `pack`.
__global__ void __launch_bounds__(threads)
    pack_tails(Rows at, CircleRows circles, Index first, const Tail* tails, float2* work) {
  const Index row = (first + blockIdx.y) / at.pairs_a_row;
  const Tail* pair = tails + blockIdx.y * 4;
  for_bins(at.length, [&](Index k) {
    work[blockIdx.y * at.length + k] = {circles.more(pair, row, k), circles.more(pair + 2, row, k)};
  });
}

/// What the ends of a pair of rows get back from beyond; with `given_to` it is the transpose of `end_values`.
/// Zeros for blocks that have no bin of the ends.
__device__ inline Ends given_back(const Rows& at, const FilterSide& side, Index view,
                                  const float2* __restrict__ pair) {
  const Index first = Index{blockIdx.x} * bins_a_block, bins = at.beyond.ends.bins;
  if (first >= bins && first + bins_a_block <= side.bins - bins) return {};
  double sums[4] = {};  // as in Ends
  for (Index k = threadIdx.x; k < at.length; k += threads) {
    const float before = __ldg(at.beyond.before + k), after = __ldg(at.beyond.after + k);
    const float2 value = pair[k];
    sums[0] += value.x * before, sums[1] += value.y * before;
    sums[2] += value.x * after, sums[3] += value.y * after;
  }
  sum_over_block(sums);
  const Index other = min(view + 1, at.views - 1);
  const auto weighed = [&](int i) {
    return side.weight_beyond(i % 2 ? other : view, i / 2) * static_cast<float>(sums[i]);
  };
  return {{weighed(0), weighed(1)}, {weighed(2), weighed(3)}};
}

/// With `tails`, only rows that have an open end.
template <bool continued>
__global__ void __launch_bounds__(threads)
    unpack(Rows at, FilterSide side, Index first, const float2* __restrict__ work, Update update,
           const float* __restrict__ weight, const Tail* tails, Image<float> out) {
  const Index p = first + blockIdx.y, row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2;
  if (row >= at.rows) return;
  const float2* pair = work + blockIdx.y * at.length;
  Ends ends{};
  if constexpr (continued) ends = given_back(at, side, view, pair);
  const auto is_open = [tails](int of_pair) {
    const Tail* ends = tails + blockIdx.y * 4 + of_pair * 2;
    return !tails || ends[low_end].open() || ends[high_end].open();
  };
  const bool has_first = is_open(0), has_second = view + 1 < at.views && is_open(1);
  const auto of_view = [&](Index own) { return Update{update.alpha * weight[own], update.beta}; };
  const Update of_first = of_view(view), of_second = of_view(has_second ? view + 1 : view);
  for_bins(side.bins, [&](Index bin) {
    const float2 value = pair[side.first + bin];
    float2 back{};
    if constexpr (continued) {
      back.x = given_to(at.beyond.ends, row, bin, ends.low.x, ends.high.x);
      back.y = given_to(at.beyond.ends, row, bin, ends.low.y, ends.high.y);
    }
    const Range rows = side.like(row);
    for (Index r = rows.first; r < rows.last; ++r) {
      if (has_first) of_first(element(out, view, r, bin), side.weight(view, r, bin) * value.x + back.x);
      if (has_second)
        of_second(element(out, view + 1, r, bin), side.weight(view + 1, r, bin) * value.y + back.y);
    }
  });
}

/// Tables that kernels read besides the data, in one direction.
struct Tables {
  DeviceTable<float2> responses;
  DeviceTable<float> view_weights, cells, rays, before, after, shares;
};

void append_response(const RowFilter& filter, double shift, std::vector<float2>& all) {
  const Index n = filter.length;
  for (Index k = 0; k < n; ++k) {
    const double size = filter.response[std::min(k, n - k)] / n;
    const std::complex<double> at = size * phase_of(k, n, shift);
    all.push_back({static_cast<float>(at.real()), static_cast<float>(at.imag())});
  }
}

std::vector<float2> responses_of(const RowFilter& filter, bool adjoint) {
  std::vector<float2> all;
  for (const double shift : filter.row_shifts) append_response(filter, adjoint ? -shift : shift, all);
  if (filter.row_shifts.empty()) append_response(filter, 0, all);
  return all;
}

/// The tables of a filter. Both directions have the same ones, unless rows move.
KeptOnDevices::Use<Tables> tables_of(const RowFilter& filter, bool adjoint, const Stream& stream) {
  const bool back = adjoint && !filter.row_shifts.empty();
  return filter.kept.use<Tables>(stream, {back}, [&](const KeptOnDevices::Streams& at) {
    const Continuation& beyond = filter.beyond;
    return Tables{{responses_of(filter, back), at},
                  {filter.view_weights, at},
                  {filter.cell_weights, at},
                  {filter.ray_weights, at},
                  {beyond.before, at},
                  {beyond.after, at},
                  {beyond.shares, at}};
  });
}

/// Filters pairs of rows in batches, by pack(first, work) and unpack(first, work). `responses` are as for
/// `respond`.
template <class Pack, class Unpack>
void in_batches(const Rows& at, const float2* responses, bool one_for_all, const Stream& stream,
                const Pack& pack, const Unpack& unpack) {
  note_launch("filter");
  const cudaStream_t s = queue(stream);
  const Index batch = pairs_at_once(at.length), all = at.rows * at.pairs_a_row;
  const Scratch<float2> work(batch * at.length, s);
  const Plan plan = plan_for(at.length, stream);
  check(cufft().set_stream(plan.handle, s));
  const Scratch<std::byte> transform(std::max<std::size_t>(plan.work_bytes, 1), s);
  check(cufft().set_work_area(plan.handle, transform.data()));
  auto* rows = reinterpret_cast<cufftComplex*>(work.data());
  const dim3 padded = blocks_of(at.length, batch);
  for (Index first = 0; first < all; first += batch) {
    pack(first, work.data());
    after_launch();
    check(cufft().exec_c2c(plan.handle, rows, rows, CUFFT_FORWARD));
    respond<<<padded, threads, 0, s>>>(at, first, responses, one_for_all, work.data());
    after_launch();
    check(cufft().exec_c2c(plan.handle, rows, rows, CUFFT_INVERSE));
    unpack(first, work.data());
    after_launch();
  }
}

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto tables = tables_of(filter, adjoint, stream);
  const FilterSides sides = sides_of(filter, adjoint, {in.n0, in.n1, in.n2}, {out.n0, out.n1, out.n2},
                                     tables->cells.data(), tables->rays.data());
  const Rows at{
      in.n0,
      std::min(in.n1, out.n1),
      filter.length,
      ceil_div<Index>(in.n0, 2),
      {tables->before.data(), tables->after.data(), filter.beyond.end_values(tables->shares.data())}};
  const bool continued = !filter.beyond.zeros();
  const auto pack_rows = continued && !adjoint ? pack<true> : pack<false>;
  const auto unpack_rows = continued && adjoint ? unpack<true> : unpack<false>;
  const Index batch = pairs_at_once(at.length);
  const dim3 padded = blocks_of(at.length, batch), written = blocks_of(out.n2, batch);
  in_batches(
      at, tables->responses.data(), filter.row_shifts.empty(), stream,
      [&](Index first, float2* work) { pack_rows<<<padded, threads, 0, s>>>(at, sides.in, first, in, work); },
      [&](Index first, const float2* work) {
        unpack_rows<<<written, threads, 0, s>>>(at, sides.out, first, work, {alpha, beta},
                                                tables->view_weights.data(), nullptr, out);
      });
}

/// Tables of circles on a GPU.
struct TablesOfCircles {
  DeviceTable<float2> responses;
  DeviceTable<float> view_weights, rays, ends, shares, cosines;
  DeviceTable<double> taper;
};

void add_circles(const Circles& how, float alpha, Image<const float> in, Image<float> out, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto tables = how.kept.use<TablesOfCircles>(stream, [&](const KeptOnDevices::Streams& at) {
    const RowFilter& usual = how.usual;
    return TablesOfCircles{{responses_of(how.ramp, false), at},
                           {usual.view_weights, at},
                           {usual.ray_weights, at},
                           {usual.beyond.shares, at},
                           {how.shares, at},
                           {how.cosines, at},
                           {how.taper, at}};
  });
  const CircleRows circles = rows_of(how, {in.n0, in.n1, in.n2}, {out.n0, out.n1, out.n2},
                                     {tables->rays.data(), tables->ends.data(), tables->shares.data(),
                                      tables->cosines.data(), tables->taper.data()});
  const Rows at{in.n0, in.n1, how.ramp.length, ceil_div<Index>(in.n0, 2), {}};
  const Index batch = pairs_at_once(at.length), warps = threads / 32, blocks = ceil_div(4 * batch, warps);
  const Scratch<Tail> tails(blocks * warps, s);
  const dim3 padded = blocks_of(at.length, batch), written = blocks_of(out.n2, batch);
  in_batches(
      at, tables->responses.data(), how.ramp.row_shifts.empty(), stream,
      [&](Index first, float2* work) {
        fit_tails<<<grid_of(blocks), threads, 0, s>>>(at, circles, first, in, tails.data());
        after_launch();
        pack_tails<<<padded, threads, 0, s>>>(at, circles, first, tails.data(), work);
      },
      [&](Index first, const float2* work) {
        unpack<false><<<written, threads, 0, s>>>(at, circles.sides.out, first, work, {alpha, 1},
                                                  tables->view_weights.data(), tails.data(), out);
      });
}

}  // namespace

const RampKernels ramp_kernels{filter_rows, add_circles, [] { return std::vector<std::string>{"filter"}; }};

}  // namespace tandem::kernels::cuda
