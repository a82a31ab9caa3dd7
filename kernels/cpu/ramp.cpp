#include <algorithm>
#include <complex>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "continuation.hpp"
#include "fourier_transform.hpp"
#include "scratch.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

// Two views of one detector row travel as the real and the imaginary part of one complex row (Chilingaryan et
// al. 2011): the filter is a real convolution, which keeps them apart. Pairs are formed within a row, and
// lanes do not meet, so that the bits do not depend on which rows are filtered together.
constexpr Index views_a_task = 2 * lanes;

/// The place of a view of a task at each position: in the real or the imaginary part of a lane.
Index place(Index view) { return view % 2 * lanes + view / 2; }

/// The factors of a row at all `length` frequencies, with the 1 / length that transforms leave out: the
/// response, and the phase of the shift if there is one.
struct Response {
  std::vector<float> size;
  std::vector<std::complex<float>> phase;  ///< empty without a shift
};

Response full_response(const RowFilter& filter, double shift) {
  const Index n = filter.length;
  Response full;
  for (Index k = 0; k < n; ++k) {
    full.size.push_back(filter.response[std::min(k, n - k)] / n);
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

void multiply(const Response& response, float* lines) {
  for (std::size_t k = 0; k < response.size.size(); ++k)
    for (std::size_t i = 0; i < views_a_task; ++i) lines[k * views_a_task + i] *= response.size[k];
  for (std::size_t k = 0; k < response.phase.size(); ++k, lines += views_a_task) {
    const float re = response.phase[k].real(), im = response.phase[k].imag();
    for (Index lane = 0; lane < lanes; ++lane) {
      const float a = lines[lane], b = lines[lanes + lane];
      lines[lane] = a * re - b * im;
      lines[lanes + lane] = a * im + b * re;
    }
  }
}

/// Calls body(view, first bin, last bin) for bins so few that their positions stay in the L1 cache from view
/// to view.
template <class Body>
void for_blocks(Range views, Index bins, const Body& body) {
  constexpr Index block = 32;
  for (Index first = 0; first < bins; first += block)
    for (Index view = views.first; view < views.last; ++view)
      body(view, first, std::min(first + block, bins));
}

/// Adds the rows of some views that are like this one.
void read(const FilterSide& side, Range views, Index of_input, Image<const float> in, float* lines) {
  const Range rows = side.like(of_input);
  for (Index row = rows.first; row < rows.last; ++row)
    for_blocks(views, side.bins, [&](Index view, Index first, Index last) {
      const float* from = &in(view, row, 0);
      float* to = lines + side.first * views_a_task + place(view - views.first);
      for (Index b = first; b < last; ++b) to[b * views_a_task] += side.weight(view, row, b) * from[b];
    });
}

/// Views are multiplied by their `scales`.
void write(const FilterSide& side, Range views, Index of_input, const float* lines, const float* scales,
           float beta, Image<float> out) {
  const Range rows = side.like(of_input);
  for (Index row = rows.first; row < rows.last; ++row)
    for_blocks(views, side.bins, [&](Index view, Index first, Index last) {
      const float* from = lines + side.first * views_a_task + place(view - views.first);
      float* to = &out(view, row, 0);
      for (Index b = first; b < last; ++b) {
        const float value = scales[view] * side.weight(view, row, b) * from[b * views_a_task];
        to[b] = beta == 0 ? value : value + beta * to[b];
      }
    });
}

constexpr int both_ends[] = {low_end, high_end};

/// The end values with which the rows of some views go on, weighed.
Ends ends_of(const RowFilter& filter, const FilterSide& side, Range views, Index row, Image<const float> in) {
  const EndValues ends = filter.beyond.end_values();
  Ends values{};
  for (Index view = views.first; view < views.last; ++view)
    for (const int end : both_ends)
      values[end][place(view - views.first)] =
          side.weight_beyond(view, end) * end_value(ends, row, end, &in(view, row, 0));
  return values;
}

/// The transpose: adds to rows that are written. Views are multiplied by their `scales`.
void add_ends(const RowFilter& filter, const FilterSide& side, Range views, Index row, const Ends& values,
              const float* scales, Image<float> out) {
  const EndValues ends = filter.beyond.end_values();
  for (Index view = views.first; view < views.last; ++view)
    for (const int end : both_ends) {
      const float value = values[end][place(view - views.first)];
      give_back(ends, row, end, scales[view] * side.weight_beyond(view, end) * value, &out(view, row, 0));
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
  std::vector<float> scales;
  for (const float weight : filter.view_weights) scales.push_back(alpha * weight);
  const auto data = [](const std::vector<float>& all) { return all.empty() ? nullptr : all.data(); };
  const FilterSides sides = sides_of(filter, adjoint, {in.n0, in.n1, in.n2}, {out.n0, out.n1, out.n2},
                                     data(filter.cell_weights), data(filter.ray_weights));
  const Index tasks = ceil_div(in.n0, views_a_task);
  const bool continued = !filter.beyond.zeros();
  parallel_for(std::min(in.n1, out.n1) * tasks, [&](Index i) {
    const Index row = i / tasks, first = i % tasks * views_a_task;
    const Range views{first, std::min(in.n0, first + views_a_task)};
    Lines lines(filter.length * views_a_task);
    read(sides.in, views, row, in, lines.data());
    if (continued && !adjoint) go_on(filter.beyond, ends_of(filter, sides.in, views, row, in), lines.data());
    transform(lines.data(), filter.length, Direction::forward);
    multiply(responses[responses.size() == 1 ? 0 : row], lines.data());
    transform(lines.data(), filter.length, Direction::backward);
    write(sides.out, views, row, lines.data(), scales.data(), beta, out);
    if (continued && adjoint)
      add_ends(filter, sides.out, views, row, come_back(filter.beyond, lines.data()), scales.data(), out);
  });
}

}  // namespace tandem::kernels::cpu
