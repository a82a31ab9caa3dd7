#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

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

template <bool continued>
__global__ void __launch_bounds__(threads)
    unpack(Rows at, FilterSide side, Index first, const float2* __restrict__ work, float alpha,
           const float* __restrict__ weight, float beta, Image<float> out) {
  const Index p = first + blockIdx.y, row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2;
  if (row >= at.rows) return;
  const float2* pair = work + blockIdx.y * at.length;
  Ends ends{};
  if constexpr (continued) ends = given_back(at, side, view, pair);
  const bool both = view + 1 < at.views;
  const Update of_first{alpha * weight[view], beta}, of_second{both ? alpha * weight[view + 1] : 0, beta};
  for_bins(side.bins, [&](Index bin) {
    const float2 value = pair[side.first + bin];
    float2 back{};
    if constexpr (continued) {
      back.x = given_to(at.beyond.ends, row, bin, ends.low.x, ends.high.x);
      back.y = given_to(at.beyond.ends, row, bin, ends.low.y, ends.high.y);
    }
    const Range rows = side.like(row);
    for (Index r = rows.first; r < rows.last; ++r) {
      of_first(element(out, view, r, bin), side.weight(view, r, bin) * value.x + back.x);
      if (both) of_second(element(out, view + 1, r, bin), side.weight(view + 1, r, bin) * value.y + back.y);
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

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream) {
  note_launch("filter");
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
  const Index batch = pairs_at_once(filter.length), all = at.rows * at.pairs_a_row;
  const Scratch<float2> work(batch * filter.length, s);
  const Plan plan = plan_for(filter.length, stream);
  check(cufft().set_stream(plan.handle, s));
  const Scratch<std::byte> transform(std::max<std::size_t>(plan.work_bytes, 1), s);
  check(cufft().set_work_area(plan.handle, transform.data()));
  auto* rows = reinterpret_cast<cufftComplex*>(work.data());
  const bool continued = !filter.beyond.zeros();
  const auto pack_rows = continued && !adjoint ? pack<true> : pack<false>;
  const auto unpack_rows = continued && adjoint ? unpack<true> : unpack<false>;
  const dim3 padded = blocks_of(at.length, batch), written = blocks_of(out.n2, batch);
  for (Index first = 0; first < all; first += batch) {
    pack_rows<<<padded, threads, 0, s>>>(at, sides.in, first, in, work.data());
    after_launch();
    check(cufft().exec_c2c(plan.handle, rows, rows, CUFFT_FORWARD));
    respond<<<padded, threads, 0, s>>>(at, first, tables->responses.data(), filter.row_shifts.empty(),
                                       work.data());
    after_launch();
    check(cufft().exec_c2c(plan.handle, rows, rows, CUFFT_INVERSE));
    unpack_rows<<<written, threads, 0, s>>>(at, sides.out, first, work.data(), alpha,
                                            tables->view_weights.data(), beta, out);
    after_launch();
  }
}

}  // namespace

const RampKernels ramp_kernels{filter_rows, [] { return std::vector<std::string>{"filter"}; }};

}  // namespace tandem::kernels::cuda
