#include "tandem/kernels/cpu/ramp.hpp"

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;

// Two views of one detector row travel as the real and the imaginary part of one complex row (Chilingaryan et
// al. 2011): the filter is a real convolution, which keeps them apart. Pairs are formed within a row, and
// every transform is of one pair, so that the bits do not depend on which rows are filtered together.
constexpr Index pairs_a_task = 8;

struct DestroyPlan {
  void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, DestroyPlan>;

struct Plans {
  Plan forward, backward;
};

/// From one row of `length` to another. FFTW_ESTIMATE plans alike in every run. Plans live as long as the
/// program.
const Plans& plans_for(Index length) {
  static std::mutex planner;  // FFTW plans one at a time
  static std::map<Index, Plans> made;
  const std::lock_guard lock(planner);
  const auto found = made.find(length);
  if (found != made.end()) return found->second;
  Array from(Space({1, length, 2})), to(Space({1, length, 2}));  // aligned as the rows will be
  const auto plan = [&](int sign) {
    return Plan(fftwf_plan_dft_1d(static_cast<int>(length), reinterpret_cast<fftwf_complex*>(from.data()),
                                  reinterpret_cast<fftwf_complex*>(to.data()), sign, FFTW_ESTIMATE));
  };
  Plans plans{plan(FFTW_FORWARD), plan(FFTW_BACKWARD)};
  require<DeviceError>(plans.forward && plans.backward, "ramp filter: FFTW has no plan for ", length,
                       " bins");
  return made.emplace(length, std::move(plans)).first->second;
}

/// What a row is multiplied by at all `length` frequencies, with the 1 / length that FFTW leaves out: the
/// response, and the phase of the shift where there is one.
struct Response {
  std::vector<float> size;     ///< each twice, for the real and the imaginary part
  std::vector<Complex> phase;  ///< empty without a shift
};

Response full_response(const RowFilter& filter, double shift) {
  const Index n = filter.length;
  Response full;
  for (Index k = 0; k < n; ++k) {
    const float size = filter.response[static_cast<std::size_t>(std::min(k, n - k))] / static_cast<float>(n);
    full.size.insert(full.size.end(), {size, size});
    if (shift != 0) full.phase.push_back(Complex(phase_of(k, n, shift)));
  }
  return full;
}

void multiply(const Response& response, Complex* row) {
  auto* parts = reinterpret_cast<float*>(row);
  for (std::size_t i = 0; i < response.size.size(); ++i) parts[i] *= response.size[i];
  for (std::size_t k = 0; k < response.phase.size(); ++k) {
    const Complex a = row[k], h = response.phase[k];
    row[k] = {a.real() * h.real() - a.imag() * h.imag(), a.real() * h.imag() + a.imag() * h.real()};
  }
}

void write(const float* part, float scale, float beta, Index bins, float* out) {
  if (beta == 0)
    for (Index b = 0; b < bins; ++b) out[b] = scale * part[2 * b];
  else
    for (Index b = 0; b < bins; ++b) out[b] = scale * part[2 * b] + beta * out[b];
}

/// Views `view` and `view` + 1 of one row, or the last one alone. `work` and `spectrum` are rows of `length`.
void filter_pair(const RowFilter& filter, const Response& response, const Plans& plans, Index row, Index view,
                 float alpha, Image<const float> in, float beta, Image<float> out, Complex* work,
                 Complex* spectrum) {
  const Index bins = in.n2;
  const bool two = view + 1 < in.n0;
  const float* first = &in(view, row, 0);
  const float* second = two ? &in(view + 1, row, 0) : nullptr;
  auto* parts = reinterpret_cast<float*>(work);
  for (Index b = 0; b < bins; ++b) {
    parts[2 * b] = first[b];
    parts[2 * b + 1] = two ? second[b] : 0.0f;
  }
  std::fill_n(work + bins, filter.length - bins, Complex{});
  fftwf_execute_dft(plans.forward.get(), reinterpret_cast<fftwf_complex*>(work),
                    reinterpret_cast<fftwf_complex*>(spectrum));
  multiply(response, spectrum);
  fftwf_execute_dft(plans.backward.get(), reinterpret_cast<fftwf_complex*>(spectrum),
                    reinterpret_cast<fftwf_complex*>(work));
  const float* weight = &filter.view_weights[static_cast<std::size_t>(view)];
  write(parts, alpha * weight[0], beta, bins, &out(view, row, 0));
  if (two) write(parts + 1, alpha * weight[1], beta, bins, &out(view + 1, row, 0));
}

}  // namespace

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream&) {
  std::vector<Response> responses;
  for (double shift : filter.row_shifts) responses.push_back(full_response(filter, adjoint ? -shift : shift));
  if (responses.empty()) responses.push_back(full_response(filter, 0));
  const Plans& plans = plans_for(filter.length);
  constexpr Index views_a_task = 2 * pairs_a_task;
  const Index tasks = (in.n0 + views_a_task - 1) / views_a_task;
  parallel_for(in.n1 * tasks, [&](Index i) {
    const Index row = i / tasks, first = i % tasks * views_a_task;
    const Response& response = responses[responses.size() == 1 ? 0 : static_cast<std::size_t>(row)];
    Array work(Space({1, filter.length, 2})), spectrum(work.space());
    for (Index view = first; view < std::min(in.n0, first + views_a_task); view += 2)
      filter_pair(filter, response, plans, row, view, alpha, in, beta, out,
                  reinterpret_cast<Complex*>(work.data()), reinterpret_cast<Complex*>(spectrum.data()));
  });
}

}  // namespace tandem::kernels::cpu
