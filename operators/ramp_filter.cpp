#include "ramp_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/newest_results.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/beams/ray_shares.hpp"
#include "../kernels/ramp.hpp"
#include "algebra.hpp"
#include "batches.hpp"
#include "continuation.hpp"
#include "distributed/team_operator.hpp"
#include "filtered_scan.hpp"

namespace tandem {

namespace {

using std::numbers::pi;

/// What is the same in all pictures, whatever the interpolation. If the response were the same for all waves,
/// waves near the Nyquist frequency would have aliases as strong as themselves. So for a bare ramp the noise
/// is the same.
enum class Alike {
  response,  ///< the response to each wave, unless the aliases are too strong
  noise,     ///< the noise that linear interpolation leaves at each frequency
  all_noise,
  nothing
};

/// A window over g = f / cut-off.
struct WindowShape {
  Window window;
  std::string_view name;
  double (*at)(double g);
  double cutoff = 1;       ///< default, as a fraction of the Nyquist frequency
  bool ends_there = true;  ///< whether it is zero above the cut-off
  Alike alike = Alike::response;
};

/// One line for each window.
constexpr WindowShape shapes[] = {
    {Window::ramp, "ramp", [](double) { return 1.0; }, 1, true, Alike::noise},
    {Window::sharp, "sharp", [](double) { return 1.0; }, 1, true, Alike::all_noise},
    {Window::shepp, "shepp", [](double g) { return g == 0 ? 1 : std::sin(pi * g / 2) / (pi * g / 2); }},
    {Window::cosine, "cosine", [](double g) { return std::cos(pi * g / 2); }},
    {Window::hamming, "hamming", [](double g) { return 0.54 + 0.46 * std::cos(pi * g); }},
    {Window::hann, "hann", [](double g) { return 0.5 + 0.5 * std::cos(pi * g); }},
    {Window::parzen, "parzen",
     [](double g) { return g <= 0.5 ? 1 - 6 * g * g * (1 - g) : 2 * std::pow(1 - g, 3); }},
    {Window::blackman, "blackman",
     [](double g) { return 0.42 + 0.5 * std::cos(pi * g) + 0.08 * std::cos(2 * pi * g); }},
    {Window::butterworth, "butterworth", [](double g) { return 1 / (1 + std::pow(g, 8)); }, 0.5, false},
    {Window::none, "none", [](double) { return 1.0; }, 1, false, Alike::nothing}};

const WindowShape& shape_of(Window window) {
  return *std::find_if(std::begin(shapes), std::end(shapes),
                       [window](const WindowShape& shape) { return shape.window == window; });
}

double cutoff_of(const Filter& filter) { return filter.cutoff.value_or(shape_of(filter.window).cutoff); }

/// The power of the noise that linear interpolation aliases, over the power of the noise that is no alias, if
/// the filter compensates for the mean response.
double share_of_aliases(const Filter& filter) {
  constexpr int count = 512;
  double aliases = 0, rest = 0;
  for (int k = 0; k < count; ++k) {
    const double f = 0.5 * (k + 0.5) / count, power = std::pow(f * window_at(filter, f), 2);
    aliases += power * (noise_of_linear(f) / std::pow(mean_response({}, f), 2) - 1);
    rest += power;
  }
  return aliases / rest;
}

/// What is the same for a filter. The limit of aliases is a tenth of the power, which is 5 % of the noise.
Alike alike_of(const Filter& filter) {
  constexpr double most_aliases = 0.1;
  const Alike wanted = shape_of(filter.window).alike;
  return wanted == Alike::response && share_of_aliases(filter) > most_aliases ? Alike::noise : wanted;
}

/// The factor that compensates for the mean response at f cycles per bin. A picture has no waves shorter than
/// two pixels, so the factor stays constant beyond. Pixels wider than bins blur more than linear
/// interpolation, and at two bins per pixel no factor can compensate for that.
double over_mean_response(const Interpolation& interpolation, double f) {
  if (interpolation.kind == Interpolation::Kind::polynomial) return 1;
  const double pixel_bins = interpolation.pixel_bins, held = std::min(f, 0.5 / std::max(pixel_bins, 1.0));
  return mean_response({}, std::clamp(pixel_bins - 1, 0.0, 1.0) * held) / mean_response(interpolation, held);
}

/// The factor, at f cycles per bin, that makes the pictures of all interpolations alike.
double factor_at(Alike alike, const Interpolation& interpolation, double f) {
  switch (alike) {
    case Alike::response:
      return over_mean_response(interpolation, f);
    case Alike::noise:
      return std::sqrt(noise_of_linear(f) / mean_power(interpolation, f));
    case Alike::all_noise:
      return 1 / std::sqrt(mean_power(interpolation, f));
    case Alike::nothing:
      break;
  }
  return 1;
}

struct RowFilterMap {
  Space in, out;
  std::shared_ptr<const kernels::RowFilter> filter;
  Space domain() const { return in; }
  Space range() const { return out; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    kernels::ramp(stream.device()).filter(*filter, false, alpha, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels::ramp(stream.device()).filter(*filter, true, alpha, image(y), beta, image(x), stream);
  }

  // rows of a batch are rows of one set of projections, unless each row has its own numbers
  Index together() const {
    return filter->row_shifts.empty() && filter->cell_weights.empty() ? slices_together(in) : 1;
  }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, const Batch& batch,
             Stream& stream) const {
    with_slices_together(x, y, batch, [&](Image<const float> from, Image<float> to) {
      kernels::ramp(stream.device()).filter(*filter, false, alpha, from, beta, to, stream);
    });
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, const Batch& batch,
                     Stream& stream) const {
    with_slices_together(y, x, batch, [&](Image<const float> from, Image<float> to) {
      kernels::ramp(stream.device()).filter(*filter, true, alpha, from, beta, to, stream);
    });
  }
};

/// The largest move of any row of the detector, not only of the rows that are there, so that the result for a
/// row does not depend on other rows.
Index furthest_move(const ParallelBeam& scan) {
  return scan.row_axis_bins.empty() ? 0 : ceil_index(furthest_axis(scan.detector));
}

/// A filter that moves rows. Its transform is so long that neither the moved rows nor the tail of the kernel,
/// with lags of bins + furthest on both sides, come in again at the other end.
kernels::RowFilter bare_filter(const ParallelBeam& scan) {
  validate(scan);
  kernels::RowFilter f;
  for (double axis : scan.row_axis_bins) f.row_shifts.push_back(scan.detector.axis_bin - axis);
  f.length = kernels::transform_length(2 * (scan.detector.bins + furthest_move(scan)));
  f.response.assign(f.length / 2 + 1, 1.0f);
  f.view_weights.assign(scan.angles.size(), 1.0f);
  return f;
}

LinearOperator make(Space in, Space out, kernels::RowFilter filter) {
  kernels::ramp(in.device());
  return RowFilterMap{std::move(in), std::move(out),
                      std::make_shared<const kernels::RowFilter>(std::move(filter))};
}

/// The filter `f` with the ramp over bins of that pitch, and a window.
kernels::RowFilter with_ramp(kernels::RowFilter f, const Filter& filter, double bin_pitch,
                             const Interpolation& interpolation) {
  const std::vector<double> response = filter_response(filter, f.length, bin_pitch, interpolation);
  std::copy(response.begin(), response.end(), f.response.begin());
  return f;
}

void require_weights(std::span<const float> weights, Index count) {
  require<GeometryError>(std::ssize(weights) == count, "filter: ", weights.size(), " weights; ", count,
                         " are needed for these views");
}

/// The operator F of some views without the ramp: it weighs rays, and moves rows onto the detector of `wide`.
kernels::RowFilter weighing(const ParallelBeam& whole, const ParallelBeam& wide,
                            std::span<const float> weights) {
  require<GeometryError>(
      !half_acquisition(whole) || whole.view_shift_bins.empty(),
      "filter: the rays of a half acquisition with shifted views are not weighed yet; give "
      "an iterative method");
  const Detector& d = whole.detector;
  kernels::RowFilter f = bare_filter(wide);
  f.view_weights.assign(weights.begin(), weights.end());
  f.first_bin = first_bin_of(d, wide.detector);
  const std::vector<float> shares = bin_shares(whole);
  if (shares.empty()) return f;
  f.cell_weights.assign(d.rows * wide.detector.bins, 1.0f);
  for (Index row = 0; row < d.rows; ++row)
    std::copy_n(shares.begin() + row * d.bins, d.bins,
                f.cell_weights.begin() + row * wide.detector.bins + f.first_bin);
  return f;
}

/// The cosine of the angle between each ray and the central ray, (row, bin).
std::vector<float> cosines(const ConeBeam& scan) {
  const Detector& d = scan.detector;
  std::vector<float> all(d.rows * d.bins);
  parallel_for(d.rows, [&](Index row) {
    const double v = (row - scan.midplane_row) * d.row_pitch;
    for (Index bin = 0; bin < d.bins; ++bin) {
      const double u = (bin - d.axis_bin) * d.bin_pitch;
      all[row * d.bins + bin] = static_cast<float>(scan.sdd / std::hypot(scan.sdd, u, v));
    }
  });
  return all;
}

/// The common part of the filters of all views of a scan.
kernels::RowFilter fdk_filter(const ConeBeam& scan, const Filter& filter,
                              const Interpolation& interpolation) {
  const ConeBeam wide = symmetric(scan);
  kernels::RowFilter f = with_ramp(bare_filter({wide.detector, wide.angles, {}}), filter,
                                   wide.detector.bin_pitch / wide.magnification(), interpolation);
  f.cell_weights = cosines(wide);
  f.cells_after = true;
  f.first_bin = first_bin_of(scan.detector, wide.detector);
  f.beyond = continuation(filter, scan.detector, wide.detector, f.length);
  weigh_ends(f.beyond, wide.detector.rows, [&](Index row, int, Index bin) {
    return f.cell_weights[row * wide.detector.bins + f.first_bin + bin];
  });
  return f;
}

/// The filter of some views, whose rays have these weights.
LinearOperator of_views(const ConeBeam& whole, Range views, kernels::RowFilter f,
                        std::span<const float> weights, Device device) {
  const Range rows{0, whole.detector.rows};
  f.view_weights.resize(views.size());
  f.ray_weights.assign(weights.begin(), weights.end());
  return make(projection_space(crop(whole, views, rows), device),
              projection_space(crop(symmetric(whole), views, rows), device), std::move(f));
}

/// Each member of a team filters its share of the views.
LinearOperator by_team(const ConeBeam& scan, const Filter& filter, Device team,
                       const Interpolation& interpolation) {
  const Space data = projection_space(scan, team);
  std::vector<LinearOperator> of_members;
  for (int k = 0; k < team.members(); ++k)
    of_members.push_back(ramp_filter_of_views(scan, filter, team.member(k),
                                              interpolation)({data.first_plane(k), data.first_plane(k + 1)}));
  return team_operator(data, projection_space(symmetric(scan), team), std::move(of_members));
}

}  // namespace

Window window_named(std::string_view name) {
  return named(shapes, name, "filter:", &WindowShape::name).window;
}

std::vector<std::string_view> window_names() {
  std::vector<std::string_view> names;
  for (const WindowShape& shape : shapes) names.push_back(shape.name);
  return names;
}

constexpr std::pair<Padding, std::string_view> paddings[] = {
    {Padding::none, "none"}, {Padding::edge, "edge"}, {Padding::cosine, "cosine"}};

Padding padding_named(std::string_view name) {
  return named(paddings, name, "padding:", &std::pair<Padding, std::string_view>::second).first;
}

std::string_view name_of(Padding padding) {
  return std::ranges::find(paddings, padding, &std::pair<Padding, std::string_view>::first)->second;
}

namespace {

/// The response for a pitch of one.
std::vector<double> unit_ramp(Index length) {
  // h[0] = 1/4, h[n] = -1 / (pi n)^2 for odd n, 0 for even n (in units of pitch^-2); H[k] = pitch sum h[n]
  // cos(2 pi k n / P)
  std::vector<double> cosine(length);
  for (Index j = 0; j < length; ++j) cosine[j] = std::cos(2 * pi * j / length);
  std::vector<double> response(length / 2 + 1);
  parallel_for(std::ssize(response), [&](Index k) {
    double sum = 0;
    for (Index n = 1, turn = k; n <= length / 2; n += 2) {  // turn: k n modulo the length
      const double both_sides = 2 * n == length ? 1 : 2;
      sum += both_sides * cosine[turn] / (n * n);
      turn += 2 * k;
      if (turn >= length) turn -= length;
    }
    response[k] = 0.25 - sum / (pi * pi);
  });
  return response;
}

}  // namespace

std::vector<double> ramp_response(Index length, double bin_pitch) {
  static NewestResults<Index, std::vector<double>> kept(4);
  std::vector<double> response = *kept.result(length, [&] { return unit_ramp(length); });
  for (double& one : response) one /= bin_pitch;
  return response;
}

std::vector<double> filter_response(const Filter& filter, Index length, double bin_pitch,
                                    const Interpolation& interpolation) {
  const double cutoff = cutoff_of(filter);
  require<GeometryError>(cutoff > 0 && cutoff <= 1, "filter: cut-off ", cutoff,
                         " of the Nyquist frequency; a number above 0 and up to 1 is needed");
  if (filter.window == Window::none) return std::vector<double>(length / 2 + 1, 1.0);
  std::vector<double> response = ramp_response(length, bin_pitch);
  const Alike alike = alike_of(filter);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const double f = 1.0 * k / length;
    response[k] *= window_at(filter, f) * factor_at(alike, interpolation, f);
  }
  return response;
}

bool falls_off(const Filter& filter) { return alike_of(filter) == Alike::response; }

double window_at(const Filter& filter, double f) {
  const WindowShape& shape = shape_of(filter.window);
  const double g = 2 * f / cutoff_of(filter);  // 1 at the cut-off
  return g > 1 && shape.ends_there ? 0 : shape.at(g);
}

std::vector<float> filter_weights(const ParallelBeam& scan) { return view_shares(scan); }

std::vector<float> filter_weights(const ConeBeam& scan) { return ray_shares(scan, 1); }

std::vector<float> filter_weights(const Scan& scan) {
  return with_filter(scan, [](const auto& s) { return filter_weights(s); });
}

LinearOperator ramp_filter(const ParallelBeam& whole, Range views, std::span<const float> weights,
                           Filter filter, Device device, const Interpolation& interpolation) {
  validate(whole);
  require_weights(weights, views.size());
  const ParallelBeam wide = crop(symmetric(whole), views);
  kernels::RowFilter f =
      with_ramp(weighing(whole, wide, weights), filter, wide.detector.bin_pitch, interpolation);
  f.beyond = continuation(filter, whole, f.length);
  return make(projection_space(crop(whole, views), device), projection_space(wide, device), std::move(f));
}

LinearOperator weigh_rays(const ParallelBeam& scan, Device device) {
  validate(scan);
  const ParallelBeam wide = symmetric(scan);
  kernels::RowFilter f = weighing(scan, wide, filter_weights(scan));
  f.row_shifts.clear();
  return make(projection_space(scan, device), projection_space(wide, device), std::move(f));
}

LinearOperator ramp_filter(const ConeBeam& whole, Range views, std::span<const float> weights, Filter filter,
                           Device device, const Interpolation& interpolation) {
  validate(whole);
  require_weights(weights, views.size() * (whole.detector.bins + 2));
  return of_views(whole, views, fdk_filter(whole, filter, interpolation), weights, device);
}

FilterOfViews ramp_filter_of_views(const ConeBeam& whole, Filter filter, Device device,
                                   const Interpolation& interpolation) {
  validate(whole);
  return [whole, f = fdk_filter(whole, filter, interpolation), shares = filter_weights(whole),
          device](Range views) {
    const std::size_t bins = whole.detector.bins + 2;
    const std::span weights(shares);
    return of_views(whole, views, f, weights.subspan(views.first * bins, views.size() * bins), device);
  };
}

LinearOperator ramp_filter(const ParallelBeam& scan, Filter filter, Device device,
                           const Interpolation& interpolation) {
  validate(scan);
  return ramp_filter(scan, {0, views_of(scan)}, filter_weights(scan), filter, device, interpolation);
}

LinearOperator ramp_filter(const ConeBeam& scan, Filter filter, Device device,
                           const Interpolation& interpolation) {
  validate(scan);
  if (device.members() > 1) return by_team(scan, filter, device, interpolation);
  return ramp_filter(scan, {0, views_of(scan)}, filter_weights(scan), filter, device, interpolation);
}

LinearOperator align_rows(const ConeBeam& scan, Device device) {
  return identity(projection_space(scan, device));
}

LinearOperator align_rows(const ParallelBeam& scan, Device device) {
  return align_rows(scan, scan, Padding::none, device);
}

LinearOperator align_rows(const ParallelBeam& scan, const ParallelBeam& wide, Padding padding,
                          Device device) {
  validate(scan);
  kernels::RowFilter f = bare_filter(wide);
  f.first_bin = std::lround(wide.detector.axis_bin - scan.detector.axis_bin);
  f.beyond = continuation_of_moved(padding, scan.detector.bins, f.first_bin, f.length);
  return make(projection_space(scan, device), projection_space(wide, device), std::move(f));
}

}  // namespace tandem
