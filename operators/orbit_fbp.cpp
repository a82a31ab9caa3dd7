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
#include "../kernels/ramp.hpp"
#include "algebra.hpp"
#include "continuation.hpp"
#include "table_operator.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

struct LevelFilterMap {
  Space in, out;
  std::shared_ptr<const LevelViews> cells;
  std::shared_ptr<const kernels::RowFilter> filter;
  Space domain() const { return in; }
  Space range() const { return out; }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const auto filtered = [&](VectorView level) {
      kernels::level(stream.device()).level(*cells, image(x), image(level), stream);
      kernels::ramp(stream.device())
          .filter(*filter, false, alpha, image(ConstVectorView(level)), beta, image(y), stream);
    };
    if (beta == 0) return filtered(y);  // in place
    Array level(out, stream);
    filtered(level);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    const auto back = kernels::level(stream.device()).transpose;
    require<DeviceError>(back, "device ", stream.device(),
                         ": the filter of a flexible beam has no transpose there; give the CPU");
    Array level(out, stream);
    kernels::ramp(stream.device()).filter(*filter, true, 1, image(y), 0, image(VectorView(level)), stream);
    back(*cells, alpha, image(ConstVectorView(level)), beta, image(x), stream);
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
  own.bins = level.own_bins.size(), own.axis_bin -= static_cast<double>(level.own_bins.first);
  f.beyond = continuation(filter, own, d, f.length);
  f.beyond.row = level.own_bins;
  return f;
}

/// The views as they give filtered rows back: these have no lengths of rays any more. Shadows are times the
/// volume of a voxel, over which B divides.
FlexibleViews unslanted(const FlexibleBeam& level, const VolumeGrid& grid) {
  FlexibleViews views = pack(level, grid);
  for (FlexiblePlace& view : views.views)
    for (std::size_t k = 0; k < 3; ++k)
      view.to_first_cell[k] = k == 0, view.to_next_bin[k] = 0, view.to_next_row[k] = 0;
  return views;
}

float over_voxel(const VolumeGrid& grid) {
  return static_cast<float>(1 / (grid.pitch[0] * grid.pitch[1] * grid.pitch[2]));
}

/// What a view counts in a slice, which lies so far along the way from where its source is level with it,
/// rad. Views of all turns at an angle count one together.
double share_in_turn(double away, double fade) {
  const double beyond = std::abs(away) - (half_turn - fade);
  if (beyond <= 0) return 1;
  return beyond >= 2 * fade ? 0 : std::pow(std::cos(0.25 * half_turn * beyond / fade), 2);
}

/// The way of a helix along its axis.
struct Climb {
  double low, high;      ///< angles at its ends, rad
  double angle, height;  ///< in its middle, rad and mm
  double fade;           ///< see `fade_of_turn`; less where there is hardly more than a turn

  explicit Climb(const FittedOrbit& orbit) : angle(0), height(0) {
    const auto count = static_cast<double>(orbit.angles.size());
    for (const double each : orbit.angles) angle += each / count;
    for (const double each : orbit.heights) height += each / count;
    const auto [first, last] = std::ranges::minmax(orbit.angles);
    low = first - 0.5 * orbit.steps.front(), high = last + 0.5 * orbit.steps.back();
    fade = std::min(fade_of_turn, 0.5 * (high - low - whole_turn));
  }
  /// Where sources are level with a height; near the ends, the middle of the last turn.
  double angle_at(double above, double rise) const {
    return std::clamp(angle + (above - height) / rise * whole_turn, low + half_turn + fade,
                      high - half_turn - fade);
  }
};

/// Slice by slice, each from the views of a turn.
struct HelixMap {
  Space volume, projections;
  LevelScan level;
  VolumeGrid grid;
  Execution how;
  Space domain() const { return projections; }
  Space range() const { return volume; }

  const kernels::FlexibleVariant& kernel(const Stream& stream) const {
    return kernels::flexible(stream.device()).front();
  }

  /// use(views, their places) for a slice.
  template <class Use>
  void with_turn(Index slice, const Use& use) const {
    const FittedOrbit& orbit = level.orbit;
    const Vector3 place{grid.centre[0], grid.centre[1], grid.z(static_cast<double>(slice))},
        from = level.scan.parallel ? Vector3{} : orbit.centre;
    const Climb climb(orbit);
    const double middle = climb.angle_at(dot(place - from, orbit.axis), orbit.rise);
    std::vector<double> shares;
    for (const double angle : orbit.angles) shares.push_back(share_in_turn(angle - middle, climb.fade));
    const auto counts = [](double share) { return share > 0; };
    const Range views{std::ranges::find_if(shares, counts) - shares.begin(),
                      shares.rend() - std::find_if(shares.rbegin(), shares.rend(), counts)};
    const Detector& d = level.scan.detector;
    FlexibleViews turn = unslanted(crop(level.scan, views, {0, d.rows}, {0, d.bins}),
                                   region(grid, {0, grid.size[0]}, {0, grid.size[1]}, {slice, slice + 1}));
    for (Index v = views.first; v < views.last; ++v)
      turn.views[static_cast<std::size_t>(v - views.first)].mass *= shares[static_cast<std::size_t>(v)];
    use(views, turn);
  }

  template <class T>
  static Image<T> planes(Image<T> all, Range some) {
    all.data += some.first * all.s0, all.n0 = some.size();
    return all;
  }

  void apply(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    for (Index slice = 0; slice < grid.size[2]; ++slice)
      with_turn(slice, [&](Range views, const FlexibleViews& turn) {
        kernel(stream).backward(turn, how, alpha * over_voxel(grid), planes(image(y), views), beta,
                                planes(image(x), {slice, slice + 1}), stream);
      });
  }
  void apply_adjoint(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    if (beta == 0) fill(y, 0, stream);
    if (beta != 0 && beta != 1) axpby(0.0f, y, beta, y, stream);
    for (Index slice = 0; slice < grid.size[2]; ++slice)
      with_turn(slice, [&](Range views, const FlexibleViews& turn) {
        kernel(stream).forward(turn, how, alpha * over_voxel(grid), planes(image(x), {slice, slice + 1}), 1,
                               planes(image(y), views), stream);
      });
  }
};

}  // namespace

LinearOperator ramp_filter(const FlexibleBeam& scan, Filter filter, Device device,
                           const Interpolation& interpolation) {
  const LevelScan level = level_scan(scan);
  kernels::level(device);
  return LevelFilterMap{projection_space(scan, device), projection_space(level.scan, device), level.cells,
                        std::make_shared<const kernels::RowFilter>(row_filter(level, filter, interpolation))};
}

LinearOperator fdk_backprojector(const FlexibleBeam& scan, const VolumeGrid& grid, Model model,
                                 Device device) {
  require<GeometryError>(model == Model::separable_footprint, "FlexibleBeam: ", name_of(model),
                         " is a model of other beams; separable_footprint is needed");
  LevelScan level = level_scan(scan);
  const auto table = kernels::flexible(device);
  const Space volume = cone_volume_space(grid, device), projections = projection_space(level.scan, device);
  auto views = std::make_shared<const FlexibleViews>(unslanted(level.scan, grid));
  const Execution how = resolve(table, {}, Pairing::matched, *views, projections.shape(), device);
  if (level.orbit.goes_on) return HelixMap{volume, projections, std::move(level), grid, how};
  return over_voxel(grid) * adjoint(LinearOperator(Projector<FlexibleViews>{
                                volume, projections, std::move(views), &table.front(), how, 1}));
}

}  // namespace tandem
