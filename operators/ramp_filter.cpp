#include "ramp_filter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/beams/ray_shares.hpp"
#include "../kernels/ramp.hpp"
#include "algebra.hpp"
#include "batches.hpp"
#include "circles.hpp"
#include "continuation.hpp"
#include "distributed/team_operator.hpp"
#include "filtered_scan.hpp"

namespace tandem {

namespace {

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

/// The detector with `reach` more bins at either end.
Detector longer(Detector d, Index reach) {
  d.bins += 2 * reach, d.axis_bin += reach;
  return d;
}

/// The circles with which rows go on, as long as the detector `wide` of their filter.
kernels::Circles circles_on(const Detector& wide, Index furthest_move, double bin_mm, const Filter& filter,
                            const Interpolation& interpolation) {
  kernels::Circles how{.attenuation = filter.attenuation,
                       .bin_mm = bin_mm,
                       .reach = wide.bins,
                       .taper = taper(filter.padding, bins_of_taper(filter, wide))};
  how.ramp.length = length_of_circles(wide.bins + furthest_move, how.reach);
  for (const double response : filter_response(filter, how.ramp.length, bin_mm, interpolation))
    how.ramp.response.push_back(static_cast<float>(response));
  return how;
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
struct FdkFilter {
  kernels::RowFilter rows;
  std::optional<kernels::Circles> circles{};
};

kernels::Circles fdk_circles(const ConeBeam& wide, const Filter& filter, const Interpolation& interpolation) {
  kernels::Circles how =
      circles_on(wide.detector, 0, wide.detector.bin_pitch / wide.magnification(), filter, interpolation);
  ConeBeam seen = wide;
  seen.detector = longer(wide.detector, how.reach);
  how.cosines = cosines(seen);
  return how;
}

FdkFilter fdk_filter(const ConeBeam& scan, const Filter& filter, const Interpolation& interpolation) {
  const ConeBeam wide = filtered_scan(scan);
  kernels::RowFilter f = with_ramp(bare_filter({wide.detector, wide.angles, {}}), filter,
                                   wide.detector.bin_pitch / wide.magnification(), interpolation);
  f.cell_weights = cosines(wide);
  f.cells_after = true;
  f.first_bin = first_bin_of(scan.detector, wide.detector);
  f.first_row = std::lround(wide.midplane_row - scan.midplane_row);
  f.beyond = continuation(filter, scan.detector, wide.detector, f.length);
  weigh_ends(f.beyond, scan.detector.rows, [&](Index row, int, Index bin) {
    return f.cell_weights[(f.first_row + row) * wide.detector.bins + f.first_bin + bin];
  });
  if (f.beyond.zeros() || filter.padding != Padding::circle) return {std::move(f)};
  return {std::move(f), fdk_circles(wide, filter, interpolation)};
}

/// The filter of some views, whose rays have these weights.
LinearOperator of_views(const ConeBeam& whole, Range views, FdkFilter common, std::span<const float> weights,
                        Device device) {
  const ConeBeam wide = filtered_scan(whole);
  kernels::RowFilter& f = common.rows;
  f.view_weights.resize(views.size());
  f.ray_weights.assign(weights.begin(), weights.end());
  const Space rows = projection_space(crop(whole, views, {0, whole.detector.rows}), device),
              filtered = projection_space(crop(wide, views, {0, wide.detector.rows}), device);
  const LinearOperator F = make(rows, filtered, f);
  return common.circles ? F + circles(rows, filtered, std::move(f), *std::move(common.circles)) : F;
}

/// Each member of a team filters its share of the views.
LinearOperator by_team(const ConeBeam& scan, const Filter& filter, Device team,
                       const Interpolation& interpolation) {
  const Space data = projection_space(scan, team);
  std::vector<LinearOperator> of_members;
  for (int k = 0; k < team.members(); ++k)
    of_members.push_back(ramp_filter_of_views(scan, filter, team.member(k),
                                              interpolation)({data.first_plane(k), data.first_plane(k + 1)}));
  return team_operator(data, projection_space(filtered_scan(scan), team), std::move(of_members));
}

}  // namespace

std::vector<float> filter_weights(const ParallelBeam& scan) { return view_shares(scan); }

std::vector<float> filter_weights(const ConeBeam& scan) { return ray_shares(scan, 1); }

std::vector<float> filter_weights(const Scan& scan) {
  return with_filter(scan, [](const auto& s) { return filter_weights(s); });
}

namespace {

/// F of some views with the usual continuation.
kernels::RowFilter usual_filter(const ParallelBeam& whole, const ParallelBeam& wide,
                                std::span<const float> weights, const Filter& filter,
                                const Interpolation& interpolation) {
  require_weights(weights, views_of(wide));
  kernels::RowFilter f =
      with_ramp(weighing(whole, wide, weights), filter, wide.detector.bin_pitch, interpolation);
  f.beyond = continuation(filter, whole, f.length);
  return f;
}

/// What circles add to it.
LinearOperator circles_of(const ParallelBeam& whole, Range views, const ParallelBeam& wide,
                          kernels::RowFilter f, const Filter& filter, Device device,
                          const Interpolation& interpolation) {
  const Detector& d = whole.detector;
  kernels::Circles how = circles_on(wide.detector, furthest_move(wide), d.bin_pitch, filter, interpolation);
  const std::vector<float> shares = bin_shares(whole, 1);
  for (Index row = 0; !shares.empty() && row < d.rows; ++row)
    for (const Index bin : {Index{0}, d.bins + 1}) how.shares.push_back(shares[row * (d.bins + 2) + bin]);
  return circles(projection_space(crop(whole, views), device), projection_space(wide, device), std::move(f),
                 std::move(how));
}

}  // namespace

LinearOperator ramp_filter(const ParallelBeam& whole, Range views, std::span<const float> weights,
                           Filter filter, Device device, const Interpolation& interpolation) {
  validate(whole);
  const ParallelBeam wide = crop(symmetric(whole), views);
  kernels::RowFilter f = usual_filter(whole, wide, weights, filter, interpolation);
  const bool goes_on = !f.beyond.zeros() && filter.padding == Padding::circle;
  const LinearOperator F =
      make(projection_space(crop(whole, views), device), projection_space(wide, device), f);
  return goes_on ? F + circles_of(whole, views, wide, std::move(f), filter, device, interpolation) : F;
}

std::optional<LinearOperator> added_circles(const ParallelBeam& scan, const Filter& filter, Device device,
                                            const Interpolation& interpolation) {
  const ParallelBeam wide = symmetric(scan);
  kernels::RowFilter f = usual_filter(scan, wide, filter_weights(scan), filter, interpolation);
  if (f.beyond.zeros() || filter.padding != Padding::circle) return {};
  return circles_of(scan, {0, views_of(scan)}, wide, std::move(f), filter, device, interpolation);
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
