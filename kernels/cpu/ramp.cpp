#include "ramp.hpp"

#include <algorithm>
#include <complex>
#include <map>
#include <mutex>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "fftw.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;

// Two views of one detector row travel as the real and the imaginary part of one complex row (Chilingaryan et
// al. 2011): the filter is a real convolution, which keeps them apart. Pairs are formed within a row, and
// every transform is of one pair, so that the bits do not depend on which rows are filtered together.
constexpr Index pairs_a_task = 8;

struct Plans {
  FftwPlan forward, backward;
};

/// From one row of `length` to another. Plans live as long as the program.
const Plans& plans_for(Index length) {
  static std::map<Index, Plans> made;
  const FftwPlanner planner;
  const auto found = made.find(length);
  if (found != made.end()) return found->second;
  Array from(Space({1, length, 2})), to(Space({1, length, 2}));  // aligned as the rows will be
  const auto plan = [&](int sign) {
    return FftwPlan(fftwf_plan_dft_1d(static_cast<int>(length), reinterpret_cast<fftwf_complex*>(from.data()),
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
    if (shift != 0) full.phase.emplace_back(phase_of(k, n, shift));
  }
  return full;
}

/// One for all rows, or one a row.
std::vector<Response> full_responses(const RowFilter& filter, bool adjoint) {
  std::vector<Response> all;
  for (const double shift : filter.row_shifts) all.push_back(full_response(filter, adjoint ? -shift : shift));
  if (all.empty()) all.push_back(full_response(filter, 0));
  return all;
}

void multiply(const Response& response, Complex* row) {
  auto* parts = reinterpret_cast<float*>(row);
  for (std::size_t i = 0; i < response.size.size(); ++i) parts[i] *= response.size[i];
  for (std::size_t k = 0; k < response.phase.size(); ++k) {
    const Complex a = row[k], h = response.phase[k];
    row[k] = {a.real() * h.real() - a.imag() * h.imag(), a.real() * h.imag() + a.imag() * h.real()};
  }
}

/// Adds what a row goes on with beyond its ends, to every other number of `part`.
void go_on(const Continuation& beyond, const FilterSide& side, float* part) {
  if (beyond.zeros()) return;
  float low = 0, high = 0;
  for (Index b = 0; b < beyond.bins; ++b) {
    low += part[2 * (side.first + b)];
    high += part[2 * (side.first + side.bins - 1 - b)];
  }
  low /= static_cast<float>(beyond.bins), high /= static_cast<float>(beyond.bins);
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    part[2 * i] += low * beyond.before[i] + high * beyond.after[i];
}

/// The transpose.
void come_back(const Continuation& beyond, const FilterSide& side, float* part) {
  if (beyond.zeros()) return;
  double low = 0, high = 0;
  for (std::size_t i = 0; i < beyond.before.size(); ++i) {
    low += static_cast<double>(part[2 * i] * beyond.before[i]);
    high += static_cast<double>(part[2 * i] * beyond.after[i]);
  }
  for (Index b = 0; b < beyond.bins; ++b) {
    part[2 * (side.first + b)] += static_cast<float>(low / static_cast<double>(beyond.bins));
    part[2 * (side.first + side.bins - 1 - b)] += static_cast<float>(high / static_cast<double>(beyond.bins));
  }
}

/// A row of one view, from and to every other number of `part`.
void read(const FilterSide& side, Index view, Index row, const float* in, float* part) {
  for (Index b = 0; b < side.bins; ++b) part[2 * (side.first + b)] = side.weight(view, row, b) * in[b];
}

void write(const FilterSide& side, Index view, Index row, const float* part, float scale, float beta,
           float* out) {
  for (Index b = 0; b < side.bins; ++b) {
    const float value = scale * side.weight(view, row, b) * part[2 * (side.first + b)];
    out[b] = beta == 0 ? value : value + beta * out[b];
  }
}

/// Views `view` and `view` + 1 of one row, or the last one alone. `work` and `spectrum` are rows of `length`.
void filter_pair(const RowFilter& filter, bool adjoint, const FilterSides& sides, const Response& response,
                 const Plans& plans, Index row, Index view, float alpha, Image<const float> in, float beta,
                 Image<float> out, Complex* work, Complex* spectrum) {
  const Index views = std::min<Index>(2, in.n0 - view);
  auto* parts = reinterpret_cast<float*>(work);
  std::fill_n(work, filter.length, Complex{});
  for (Index v = 0; v < views; ++v) {
    read(sides.in, view + v, row, &in(view + v, row, 0), parts + v);
    if (!adjoint) go_on(filter.beyond, sides.in, parts + v);
  }
  fftwf_execute_dft(plans.forward.get(), reinterpret_cast<fftwf_complex*>(work),
                    reinterpret_cast<fftwf_complex*>(spectrum));
  multiply(response, spectrum);
  fftwf_execute_dft(plans.backward.get(), reinterpret_cast<fftwf_complex*>(spectrum),
                    reinterpret_cast<fftwf_complex*>(work));
  const float* weight = &filter.view_weights[static_cast<std::size_t>(view)];
  for (Index v = 0; v < views; ++v) {
    if (adjoint) come_back(filter.beyond, sides.out, parts + v);
    write(sides.out, view + v, row, parts + v, alpha * weight[v], beta, &out(view + v, row, 0));
  }
}

}  // namespace

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream) {
  note_launch("filter");
  const bool back = adjoint && !filter.row_shifts.empty();  // else both directions have the same
  const auto kept = filter.kept.use<std::vector<Response>>(
      stream, {back}, [&](const KeptOnDevices::Streams&) { return full_responses(filter, back); });
  const std::vector<Response>& responses = *kept;
  const Plans& plans = plans_for(filter.length);
  const auto data = [](const std::vector<float>& all) { return all.empty() ? nullptr : all.data(); };
  const FilterSides sides =
      sides_of(filter, adjoint, in.n2, out.n2, data(filter.cell_weights), data(filter.ray_weights));
  constexpr Index views_a_task = 2 * pairs_a_task;
  const Index tasks = (in.n0 + views_a_task - 1) / views_a_task;
  parallel_for(in.n1 * tasks, [&](Index i) {
    const Index row = i / tasks, first = i % tasks * views_a_task;
    const Response& response = responses[responses.size() == 1 ? 0 : static_cast<std::size_t>(row)];
    Array work(Space({1, filter.length, 2})), spectrum(work.space());
    for (Index view = first; view < std::min(in.n0, first + views_a_task); view += 2)
      filter_pair(filter, adjoint, sides, response, plans, row, view, alpha, in, beta, out,
                  reinterpret_cast<Complex*>(work.data()), reinterpret_cast<Complex*>(spectrum.data()));
  });
}

}  // namespace tandem::kernels::cpu
