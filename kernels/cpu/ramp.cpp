#include "tandem/kernels/cpu/ramp.hpp"

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <type_traits>
#include <utility>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;

// Two views of one detector row travel as the real and the imaginary part of one complex row (Chilingaryan et
// al. 2011): the filter is a real convolution, which keeps them apart. Pairs are formed within a row and
// every transform has the same number of them, so that the bits do not depend on which rows are filtered
// together.
constexpr Index pairs_at_once = 8;

struct DestroyPlan {
  void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, DestroyPlan>;

struct Plans {
  Plan forward, backward;
};

/// In place, `pairs_at_once` rows of `length`. FFTW_ESTIMATE plans alike in every run. Plans live as long as
/// the program.
const Plans& plans_for(Index length, fftwf_complex* sample) {
  static std::mutex planner;  // FFTW plans one at a time
  static std::map<Index, Plans> made;
  const std::lock_guard lock(planner);
  const auto found = made.find(length);
  if (found != made.end()) return found->second;
  const int n = static_cast<int>(length);
  const auto plan = [&](int sign) {
    return Plan(fftwf_plan_many_dft(1, &n, static_cast<int>(pairs_at_once), sample, nullptr, 1, n, sample,
                                    nullptr, 1, n, sign, FFTW_ESTIMATE));
  };
  Plans plans{plan(FFTW_FORWARD), plan(FFTW_BACKWARD)};
  require<DeviceError>(plans.forward && plans.backward, "ramp filter: FFTW has no plan for ", length,
                       " bins");
  return made.emplace(length, std::move(plans)).first->second;
}

/// Response at all `length` frequencies, with the shift and the 1 / length that FFTW leaves out.
std::vector<Complex> full_response(const RowFilter& filter, double shift) {
  const Index n = filter.length;
  std::vector<Complex> full(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) {
    const Index frequency = k <= n / 2 ? k : k - n;
    const double phase =
        -2 * std::numbers::pi * static_cast<double>(frequency) * shift / static_cast<double>(n);
    const double size =
        filter.response[static_cast<std::size_t>(std::abs(frequency))] / static_cast<double>(n);
    // the highest frequency has no partner: what keeps a real row real is the cosine
    full[k] = 2 * k == n ? Complex(static_cast<float>(size * std::cos(phase)), 0)
                         : Complex(std::polar(size, phase));
  }
  return full;
}

/// Up to 2 * pairs_at_once views of one row, from `first` on.
void filter_views(const RowFilter& filter, const std::vector<Complex>& response, const Plans& plans,
                  Index row, Index first, float alpha, Image<const float> in, float beta, Image<float> out,
                  Complex* work) {
  const Index n = filter.length, bins = in.n2, last = std::min(in.n0, first + 2 * pairs_at_once);
  std::fill_n(work, pairs_at_once * n, Complex{});
  auto* parts = reinterpret_cast<float*>(work);
  for (Index v = first; v < last; ++v) {
    float* part = parts + (v - first) / 2 * 2 * n + (v - first) % 2;
    const float* source = &in(v, row, 0);
    for (Index b = 0; b < bins; ++b) part[2 * b] = source[b];
  }
  fftwf_execute_dft(plans.forward.get(), reinterpret_cast<fftwf_complex*>(work),
                    reinterpret_cast<fftwf_complex*>(work));
  for (Index p = 0; p < pairs_at_once; ++p)
    for (Index k = 0; k < n; ++k) {
      const Complex a = work[p * n + k], h = response[static_cast<std::size_t>(k)];
      work[p * n + k] = {a.real() * h.real() - a.imag() * h.imag(),
                         a.real() * h.imag() + a.imag() * h.real()};
    }
  fftwf_execute_dft(plans.backward.get(), reinterpret_cast<fftwf_complex*>(work),
                    reinterpret_cast<fftwf_complex*>(work));
  for (Index v = first; v < last; ++v) {
    const float* part = parts + (v - first) / 2 * 2 * n + (v - first) % 2;
    const float scale = alpha * filter.view_weights[static_cast<std::size_t>(v)];
    float* target = &out(v, row, 0);
    if (beta == 0)
      for (Index b = 0; b < bins; ++b) target[b] = scale * part[2 * b];
    else
      for (Index b = 0; b < bins; ++b) target[b] = scale * part[2 * b] + beta * target[b];
  }
}

}  // namespace

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream&) {
  std::vector<std::vector<Complex>> responses;
  for (double shift : filter.row_shifts) responses.push_back(full_response(filter, adjoint ? -shift : shift));
  if (responses.empty()) responses.push_back(full_response(filter, 0));
  const Space work_space({pairs_at_once, filter.length, 2});
  const Plans& plans = plans_for(filter.length, reinterpret_cast<fftwf_complex*>(Array(work_space).data()));
  const Index batches = (in.n0 + 2 * pairs_at_once - 1) / (2 * pairs_at_once);
  parallel_for(in.n1 * batches, [&](Index i) {
    const Index row = i / batches, first = i % batches * 2 * pairs_at_once;
    const auto& response = responses[responses.size() == 1 ? 0 : static_cast<std::size_t>(row)];
    Array work(work_space);
    filter_views(filter, response, plans, row, first, alpha, in, beta, out,
                 reinterpret_cast<Complex*>(work.data()));
  });
}

}  // namespace tandem::kernels::cpu

namespace tandem::kernels {

Index transform_length(Index count) {
  for (Index n = count + count % 2;; n += 2) {
    Index rest = n;
    for (Index prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

}  // namespace tandem::kernels
