#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "tandem/kernels/cuda/launch.cuh"
#include "tandem/kernels/cuda/tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

// As on the CPU: two views of a row are the real and the imaginary part of one complex row. Rows are filtered
// in batches that stay in the L2 cache between the passes of pack, transform, response, transform, unpack;
// every transform has the same number of rows, so that the bits do not depend on what is filtered together.
constexpr std::size_t batch_bytes = 32 << 20;

Index pairs_at_once(Index length) {
  constexpr Index most = 32768;  // a grid's second extent ends at 65535
  return std::clamp<Index>(
      static_cast<Index>(batch_bytes / (static_cast<std::size_t>(length) * sizeof(float2))), 1, most);
}

struct Plan {
  cufftHandle handle = 0;
  std::size_t work_bytes = 0;  ///< which come from the device's pool, for as long as the transforms take
};

/// Plans live as long as the program, one a thread, device and length.
Plan plan_for(Index length, const Stream& stream) {
  thread_local std::map<std::pair<Index, Device>, Plan> made;
  const auto found = made.find({length, stream.device()});
  if (found != made.end()) return found->second;
  Plan plan;
  int n = static_cast<int>(length);
  check(cufftCreate(&plan.handle));
  check(cufftSetAutoAllocation(plan.handle, 0));
  check(cufftMakePlanMany(plan.handle, 1, &n, nullptr, 1, n, nullptr, 1, n, CUFFT_C2C,
                          static_cast<int>(pairs_at_once(length)), &plan.work_bytes));
  made.emplace(std::pair{length, stream.device()}, plan);
  return plan;
}

struct Rows {
  Index n0, n1, n2, s0, s1, length, pairs_a_row;  ///< pairs of views of one detector row
};

/// Pair p of all: row p / pairs_a_row, views 2 (p % pairs_a_row) and the next. Grid: (bins, pairs of the
/// batch).
__global__ void __launch_bounds__(threads)
    pack(Rows at, Index first, const float* __restrict__ in, float2* work) {
  const Index bin = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, p = first + blockIdx.y;
  if (bin >= at.length) return;
  const Index row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2;
  float2 value{};
  if (row < at.n1 && bin < at.n2) {
    value.x = in[view * at.s0 + row * at.s1 + bin];
    if (view + 1 < at.n0) value.y = in[(view + 1) * at.s0 + row * at.s1 + bin];
  }
  work[blockIdx.y * at.length + bin] = value;
}

/// Responses: one for all rows, or one a row, each of `length` complex numbers.
__global__ void __launch_bounds__(threads)
    respond(Rows at, Index first, const float2* __restrict__ response, bool one_for_all, float2* work) {
  const Index k = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, p = first + blockIdx.y;
  if (k >= at.length) return;
  const Index row = min(p / at.pairs_a_row, at.n1 - 1);
  const float2 h = response[(one_for_all ? 0 : row * at.length) + k];
  float2& a = work[blockIdx.y * at.length + k];
  a = {a.x * h.x - a.y * h.y, a.x * h.y + a.y * h.x};
}

__global__ void __launch_bounds__(threads)
    unpack(Rows at, Index first, const float2* __restrict__ work, float alpha,
           const float* __restrict__ weight, float beta, float* out) {
  const Index bin = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, p = first + blockIdx.y;
  const Index row = p / at.pairs_a_row, view = p % at.pairs_a_row * 2;
  if (bin >= at.n2 || row >= at.n1) return;
  const float2 value = work[blockIdx.y * at.length + bin];
  float& a = out[view * at.s0 + row * at.s1 + bin];
  const float va = alpha * weight[view] * value.x;
  a = beta == 0 ? va : va + beta * a;
  if (view + 1 >= at.n0) return;
  float& b = out[(view + 1) * at.s0 + row * at.s1 + bin];
  const float vb = alpha * weight[view + 1] * value.y;
  b = beta == 0 ? vb : vb + beta * b;
}

void append_response(const RowFilter& filter, double shift, std::vector<float2>& all) {
  const Index n = filter.length;
  for (Index k = 0; k < n; ++k) {
    const double size =
        filter.response[static_cast<std::size_t>(std::min(k, n - k))] / static_cast<double>(n);
    const std::complex<double> at = size * phase_of(k, n, shift);
    all.push_back({static_cast<float>(at.real()), static_cast<float>(at.imag())});
  }
}

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream) {
  const cudaStream_t s = queue(stream);
  std::vector<float2> responses;
  for (double shift : filter.row_shifts) append_response(filter, adjoint ? -shift : shift, responses);
  if (filter.row_shifts.empty()) append_response(filter, 0, responses);
  const Scratch<float2> response(responses, s);
  const Scratch<float> weight(filter.view_weights, s);
  const Rows at{in.n0, in.n1, in.n2, in.s0, in.s1, filter.length, ceil_div<Index>(in.n0, 2)};
  const Index batch = pairs_at_once(filter.length), all = at.n1 * at.pairs_a_row;
  const Scratch<float2> work(static_cast<std::size_t>(batch * filter.length), s);
  const Plan plan = plan_for(filter.length, stream);
  check(cufftSetStream(plan.handle, s));
  const Scratch<std::byte> transform(std::max<std::size_t>(plan.work_bytes, 1), s);
  check(cufftSetWorkArea(plan.handle, transform.data()));
  auto* rows = reinterpret_cast<cufftComplex*>(work.data());
  const dim3 padded(static_cast<unsigned>(ceil_div<Index>(at.length, threads)), static_cast<unsigned>(batch));
  const dim3 cells(static_cast<unsigned>(ceil_div<Index>(at.n2, threads)), static_cast<unsigned>(batch));
  for (Index first = 0; first < all; first += batch) {
    pack<<<padded, threads, 0, s>>>(at, first, in.data, work.data());
    after_launch();
    check(cufftExecC2C(plan.handle, rows, rows, CUFFT_FORWARD));
    respond<<<padded, threads, 0, s>>>(at, first, response.data(), filter.row_shifts.empty(), work.data());
    after_launch();
    check(cufftExecC2C(plan.handle, rows, rows, CUFFT_INVERSE));
    unpack<<<cells, threads, 0, s>>>(at, first, work.data(), alpha, weight.data(), beta, out.data);
    after_launch();
  }
}

}  // namespace

const RampKernels ramp_kernels{filter_rows};

}  // namespace tandem::kernels::cuda
