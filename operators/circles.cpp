#include "circles.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/spelled.hpp"

namespace tandem {

namespace {

constexpr int both_ends[] = {kernels::low_end, kernels::high_end};

/// The square of the line integral of a circle, t mm beyond the last bin, is at_end - fall t - (2 mu t)^2:
/// the circle has the square of the radius R^2 = at_end / (2 mu)^2 + d^2, and its centre lies d = fall / (8
/// mu^2) mm inward.
struct Tail {
  double at_end, fall;
  double at(double t, double mu) const {
    return std::sqrt(std::max(at_end - fall * t - 4 * mu * mu * t * t, 0.0));
  }
};

/// The bins at an end that tell its circle: a share of the row, as noise is a matter of bins.
Index bins_of_end(Index bins) { return std::min(bins, std::max<Index>(6, bins / 20)); }

/// The circle beyond an end of a row; none where the row comes down to air there. This has the limits of
/// `above_air` (counts/open_ends.hpp), line by line: both the mean of the last bins, which bears noise, and
/// what their circle has at the last bin, which is near zero where a body just fits the field. A line is
/// fitted to their squares plus (2 mu t)^2, since line integrals themselves bend.
std::optional<Tail> tail_of(const float* line, Index bins, int end, double mu, double bin_mm) {
  constexpr double air = 0.05, of_mean = 0.2;
  const Index count = bins_of_end(bins);
  const double middle = 0.5 * (count - 1);
  double mean = 0, end_mean = 0, square_mean = 0, slope = 0, norm = 0;
  for (Index b = 0; b < bins; ++b) mean += line[b] / bins;
  for (Index b = 0; b < count; ++b) {
    const double p = line[end == kernels::low_end ? b : bins - 1 - b],
                 square = p * std::abs(p) + std::pow(2 * mu * b * bin_mm, 2);
    end_mean += p / count, square_mean += square / count;
    slope += square * (b - middle), norm += (b - middle) * (b - middle);
  }
  const double rise = norm > 0 ? slope / norm : 0;  // a bin inward
  const double at_end = square_mean - rise * middle, least = std::max(air, of_mean * mean);
  if (!(end_mean > least && at_end > least * least)) return {};
  return Tail{at_end, std::max(rise / bin_mm, 0.0)};
}

struct CirclesMap {
  Space in, out;
  std::shared_ptr<const kernels::RowFilter> usual;
  std::shared_ptr<const Circles> how;
  std::vector<kernels::RowFilter> ramps;  ///< one, or one for each row
  Space domain() const { return in; }
  Space range() const { return out; }

  float share_beyond(Index view, Index row, int end) const {
    const Index bins = in.shape()[2];
    const float ray =
        usual->ray_weights.empty() ? 1 : usual->ray_weights[view * (bins + 2) + end * (bins + 1)];
    return how->shares.empty() ? ray : ray * how->shares[2 * row + end];
  }
  /// The cosine of a ray, in bins of the longer output.
  float cosine(Index row, Index bin) const {
    return how->cosines.empty() ? 1 : how->cosines[row * (out.shape()[2] + 2 * how->reach) + bin];
  }

  /// Writes what goes on beyond an end less what usually does; returns whether the end is open.
  bool add_tail(const float* line, Index view, Index row, int end, float* to) const {
    const Index bins = in.shape()[2], reach = how->reach;
    const float share = share_beyond(view, row, end);
    if (share == 0) return false;
    const std::optional<Tail> tail = tail_of(line, bins, end, how->attenuation, how->bin_mm);
    if (!tail) return false;
    const kernels::EndValues ends = usual->beyond.end_values();
    double value = 0;  // that of the usual continuation, with all weights but those of rays
    for (Index b = 0; b < ends.bins; ++b) value += ends.share(row, end, b) * line[ends.bin(end, b)];
    if (!usual->ray_weights.empty()) value *= share;
    for (Index j = 0; j < reach; ++j) {
      const Index bin = usual->first_bin + reach + (end == kernels::low_end ? -1 - j : bins + j);
      const double usually = j < std::ssize(how->taper) ? value * how->taper[j] : 0;
      const double weighed =
          share * cosine(usual->first_row + row, bin) * tail->at((j + 1) * how->bin_mm, how->attenuation);
      to[bin] = static_cast<float>(weighed - usually);
    }
    return true;
  }

  /// Adds to the filtered rows of some views.
  void add_to(Index row, Range views, float alpha, Image<const float> x, Image<float> y,
              Stream& stream) const {
    const Index reach = how->reach, bins = out.shape()[2], longer = bins + 2 * reach;
    Array lines(Space({views.size(), 1, longer}));
    std::vector<Index> open;
    for (Index view = views.first; view < views.last; ++view) {
      bool any = false;
      for (const int end : both_ends)
        any |= add_tail(&x(view, row, 0), view, row, end, lines.data() + std::ssize(open) * longer);
      if (any) open.push_back(view);
    }
    if (open.empty()) return;
    const Image<float> some{lines.data(), std::ssize(open), 1, longer, longer, longer};
    kernels::ramp(Device::cpu())
        .filter(ramps[ramps.size() == 1 ? 0 : row], false, 1, {some.data, some.n0, 1, longer, longer, longer},
                0, some, stream);
    const Range own{usual->first_row, usual->first_row + x.n1};
    const Range alike{row == 0 ? 0 : own.first + row, row == x.n1 - 1 ? y.n1 : own.first + row + 1};
    for (Index k = 0; k < std::ssize(open); ++k)
      for (Index to = alike.first; to < alike.last; ++to)
        for (Index b = 0; b < bins; ++b)
          y(open[k], to, b) +=
              alpha * usual->view_weights[open[k]] * cosine(to, b + reach) * some(k, 0, b + reach);
  }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    constexpr Index at_once = 64;
    const Image<const float> from = image(x);
    const Image<float> to = image(y);
    if (beta != 1)
      parallel_for(to.n0, [&](Index view) {
        for (Index row = 0; row < to.n1; ++row)
          for (Index b = 0; b < to.n2; ++b) to(view, row, b) = beta == 0 ? 0 : beta * to(view, row, b);
      });
    const Index blocks = ceil_div(from.n0, at_once);
    parallel_for(from.n1 * blocks, [&](Index i) {
      const Index first = i % blocks * at_once;
      add_to(i / blocks, {first, std::min(from.n0, first + at_once)}, alpha, from, to, stream);
    });
  }
  void apply_adjoint(float, ConstVectorView, float, VectorView, Stream&) const {
    throw GeometryError(
        "filter: padding circle depends on the data, and has no transpose; give padding cosine");
  }
};

}  // namespace

Index length_of_circles(Index bins, Index reach) { return kernels::transform_length(2 * (bins + reach)); }

LinearOperator circles(const Space& rows, const Space& filtered, kernels::RowFilter usual, Circles how) {
  require<GeometryError>(how.attenuation > 0 && std::isfinite(how.attenuation), "filter: padding circle of ",
                         how.attenuation, " 1/mm; an attenuation above 0 is needed");
  require<DeviceError>(!rows.device().is_cuda(),
                       "filter: padding circle is made on the CPU; give " + spelled("device") + " cpu");
  std::vector<kernels::RowFilter> ramps;
  const Index length = 2 * (std::ssize(how.response) - 1);
  const auto ramp = [&](std::vector<double> shift) {
    ramps.push_back({.length = length,
                     .response = how.response,
                     .view_weights = std::vector<float>(rows.shape()[0], 1.0f),
                     .row_shifts = std::move(shift)});
  };
  for (const double shift : usual.row_shifts) ramp({shift});
  if (ramps.empty()) ramp({});
  return CirclesMap{rows, filtered, std::make_shared<const kernels::RowFilter>(std::move(usual)),
                    std::make_shared<const Circles>(std::move(how)), std::move(ramps)};
}

}  // namespace tandem
