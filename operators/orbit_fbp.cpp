#include "orbit_fbp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/level_scan.hpp"
#include "../geometry/vector3.hpp"
#include "../kernels/flexible.hpp"
#include "../kernels/level.hpp"
#include "algebra.hpp"
#include "continuation.hpp"
#include "helix_fbp.hpp"
#include "ramp_of_rows.hpp"
#include "table_operator.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

/// Makes level rows from the views as they were measured.
struct LevelRows {
  std::shared_ptr<const LevelViews> cells;

  void make(Image<const float> views, Image<float> rows, Stream& stream) const {
    kernels::level(stream.device()).level(*cells, views, rows, stream);
  }
  void require_transpose(const Stream& stream) const {
    require<DeviceError>(kernels::level(stream.device()).transpose, "device ", stream.device(),
                         ": the filter of a flexible beam has no transpose there; give the CPU");
  }
  void back(float alpha, Image<const float> rows, float beta, Image<float> views, Stream& stream) const {
    kernels::level(stream.device()).transpose(*cells, alpha, rows, beta, views, stream);
  }
};

kernels::RowFilter row_filter(const LevelScan& level, const Filter& filter,
                              const Interpolation& interpolation) {
  const Detector& d = level.scan.detector;
  kernels::RowFilter f{};
  f.length = kernels::transform_length(2 * d.bins);
  for (const double response : filter_response(filter, f.length, d.bin_pitch, interpolation))
    f.response.push_back(static_cast<float>(response));
  f.view_weights.assign(level.scan.views.size(), 1.0f);
  f.ray_weights = level.shares;
  Detector own = d;
  own.bins = level.own_bins.size(), own.axis_bin -= level.own_bins.first;
  f.beyond = continuation(filter, own, d, f.length);
  f.beyond.row = level.own_bins;
  return f;
}

/// The views for back-projection of filtered rows, without the lengths of rays. Shadows are multiplied by the
/// volume of a voxel, by which B divides.
FlexibleViews unslanted(const FlexibleBeam& level, const VolumeGrid& grid) {
  FlexibleViews views = pack(level, grid);
  views.upright.reset();
  for (FlexiblePlace& view : views.views)
    for (std::size_t k = 0; k < 3; ++k)
      view.to_first_cell[k] = k == 0, view.to_next_bin[k] = 0, view.to_next_row[k] = 0;
  return views;
}

float over_voxel(const VolumeGrid& grid) {
  return static_cast<float>(1 / (grid.pitch[0] * grid.pitch[1] * grid.pitch[2]));
}

/// The weight of a view in a slice. `away`: the angle, rad, from the view to the place where the source is
/// level with the slice. The weights of views at the same angle in all turns sum to one.
double share_in_turn(double away, double fade) {
  const double beyond = std::abs(away) - (half_turn - fade);
  if (beyond <= 0) return 1;
  return beyond >= 2 * fade ? 0 : std::pow(std::cos(0.25 * half_turn * beyond / fade), 2);
}

/// The path of a helix along its axis.
struct Climb {
  double low, high;      ///< angles at its ends, rad
  double angle, height;  ///< angle and height of its middle, rad and mm
  double fade;           ///< see `fade_of_turn`; smaller if there is hardly more than one turn

  explicit Climb(const FittedOrbit& orbit) : angle(0), height(0) {
    const double count = orbit.angles.size();
    for (const double each : orbit.angles) angle += each / count;
    for (const double each : orbit.heights) height += each / count;
    const auto [first, last] = std::ranges::minmax(orbit.angles);
    low = first - 0.5 * orbit.steps.front(), high = last + 0.5 * orbit.steps.back();
    fade = std::min(fade_of_turn, 0.5 * (high - low - whole_turn));
  }
  /// The angle where a source is level with a height; near the ends, the middle of the last turn.
  double angle_at(double above, double rise) const {
    return std::clamp(angle + (above - height) / rise * whole_turn, low + half_turn + fade,
                      high - half_turn - fade);
  }
};

/// The operator B of a helix, slice by slice. Each slice is made from the views of its turn.
struct HelixMap {
  Space volume, projections;
  std::shared_ptr<const LevelScan> level;
  Range own;  ///< views that it has
  VolumeGrid grid;
  Execution how;
  Space domain() const { return projections; }
  Space range() const { return volume; }

  const kernels::FlexibleVariant& kernel(const Stream& stream) const {
    return kernels::flexible(stream.device()).front();
  }

  /// The weights of the views in a slice.
  std::vector<double> shares_in(Index slice) const {
    const FittedOrbit& orbit = level->orbit;
    const Vector3 place{grid.centre[0], grid.centre[1], grid.z(slice)},
        from = level->scan.parallel ? Vector3{} : orbit.centre;
    const Climb climb(orbit);
    const double middle = climb.angle_at(dot(place - from, orbit.axis), orbit.rise);
    std::vector<double> shares;
    for (Index v = own.first; v < own.last; ++v)
      shares.push_back(share_in_turn(orbit.angles[v] - middle, climb.fade));
    return shares;
  }

  /// Calls `use` for a slice with its views, counted from the first own view, and their geometry, if there
  /// are any.
  template <class Use>
  void with_turn(Index slice, const Use& use) const {
    const std::vector<double> shares = shares_in(slice);
    const auto counts = [](double share) { return share > 0; };
    const Index first = std::ranges::find_if(shares, counts) - shares.begin(),
                last = shares.rend() - std::find_if(shares.rbegin(), shares.rend(), counts);
    if (first >= last) return;
    FlexibleViews turn = unslanted(crop(level->scan, {own.first + first, own.first + last}),
                                   region(grid, {0, grid.size[0]}, {0, grid.size[1]}, {slice, slice + 1}));
    for (Index v = first; v < last; ++v) turn.views[v - first].mass *= shares[v];
    use(Range{first, last}, turn);
  }

  template <class T>
  static Image<T> planes(Image<T> all, Range some) {
    all.data += some.first * all.s0, all.n0 = some.size();
    return all;
  }
  static void scale(VectorView x, float beta, Stream& stream) {
    if (beta == 0) fill(x, 0, stream);
    if (beta != 0 && beta != 1) axpby(0.0f, x, beta, x, stream);
  }

  void apply(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    scale(x, beta, stream);
    for (Index slice = 0; slice < grid.size[2]; ++slice)
      with_turn(slice, [&](Range views, const FlexibleViews& turn) {
        kernel(stream).backward(turn, how, alpha * over_voxel(grid), planes(image(y), views), 1,
                                planes(image(x), {slice, slice + 1}), stream);
      });
  }
  void apply_adjoint(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    scale(y, beta, stream);
    for (Index slice = 0; slice < grid.size[2]; ++slice)
      with_turn(slice, [&](Range views, const FlexibleViews& turn) {
        kernel(stream).forward(turn, how, alpha * over_voxel(grid), planes(image(x), {slice, slice + 1}), 1,
                               planes(image(y), views), stream);
      });
  }
};

template <class T>
std::vector<T> some_of(const std::vector<T>& all, Range views, Index each = 1) {
  return {all.begin() + views.first * each, all.begin() + views.last * each};
}

/// The helix of a scan, if it can be reconstructed by weighted filtered back-projection; else null.
std::shared_ptr<const HelixScan> weighted_helix(const FlexibleBeam& scan) {
  std::optional<HelixScan> helix = helix_scan(scan, fitted_orbit(scan));
  return helix ? std::make_shared<const HelixScan>(*std::move(helix)) : nullptr;
}

}  // namespace

std::function<Range(Range views)> views_behind_filtered(const FlexibleBeam& scan) {
  const auto helix = weighted_helix(scan);
  return [helix](Range views) { return helix ? views_behind(*helix, views) : views; };
}

FilterOfViews ramp_filter_of_views(const FlexibleBeam& scan, Filter filter, Device device,
                                   const Interpolation& interpolation) {
  require<GeometryError>(
      filter.padding != Padding::circle,
      "filter: padding circle is for parallel, fan and cone beams on a circle; give another");
  if (const auto helix = weighted_helix(scan)) return helix_filter(helix, scan, filter, device);
  kernels::level(device);
  const auto level = std::make_shared<const LevelScan>(level_scan(scan));
  return [scan, level, all = row_filter(*level, filter, interpolation),
          device](Range views) -> LinearOperator {
    const LevelViews& cells = *level->cells;
    kernels::RowFilter some = all;
    some.view_weights = some_of(all.view_weights, views);
    some.ray_weights = some_of(all.ray_weights, views, level->scan.detector.bins + 2);
    return RampOfRows<LevelRows>{
        projection_space(crop(scan, views), device),
        projection_space(crop(level->scan, views), device),
        {std::make_shared<const LevelViews>(LevelViews{some_of(cells.views, views), cells.rows, cells.bins})},
        std::make_shared<const kernels::RowFilter>(std::move(some))};
  };
}

LinearOperator ramp_filter(const FlexibleBeam& scan, Filter filter, Device device,
                           const Interpolation& interpolation) {
  return ramp_filter_of_views(scan, filter, device, interpolation)({0, views_of(scan)});
}

BackprojectorOfViews fdk_backprojector_of_views(const FlexibleBeam& scan, const VolumeGrid& whole,
                                                Device device) {
  if (const auto helix = weighted_helix(scan)) return helix_backprojector(helix, scan, whole, device);
  const auto table = kernels::flexible(device);
  const auto level = std::make_shared<const LevelScan>(level_scan(scan));
  return [level, grid = flat_voxels(level->scan, whole), table, device](Range some) -> LinearOperator {
    const FlexibleBeam own = crop(level->scan, some);
    const Space volume = cone_volume_space(grid, device), projections = projection_space(own, device);
    auto views = std::make_shared<const FlexibleViews>(unslanted(own, grid));
    const Execution how = resolve(table, {}, Pairing::matched, *views, projections.shape(), device);
    if (level->orbit.goes_on) return HelixMap{volume, projections, level, some, grid, how};
    return over_voxel(grid) * adjoint(LinearOperator(Projector<FlexibleViews>{
                                  volume, projections, std::move(views), &table.front(), how, 1}));
  };
}

LinearOperator fdk_backprojector(const FlexibleBeam& scan, const VolumeGrid& grid, Model model,
                                 Device device) {
  require<GeometryError>(model == Model::separable_footprint, "FlexibleBeam: ", name_of(model),
                         " is a model of other beams; separable_footprint is needed");
  return fdk_backprojector_of_views(scan, grid, device)({0, views_of(scan)});
}

}  // namespace tandem
