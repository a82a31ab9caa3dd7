// The pair for any geometry: a circle whose views are given one by one, a detector that leans, a helix, and
// laminography.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../core/rounding.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/vector3.hpp"
#include "../kernels/flexible_footprint.hpp"
#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/projector.hpp"
#include "../operators/random.hpp"
#include "../operators/tiled_projector.hpp"
#include "cone_case.hpp"
#include "footprint_error.hpp"
#include "harness.hpp"
#include "input.hpp"

namespace tandem::bench {

namespace {

constexpr double degree = std::numbers::pi / 180;

/// The geometry of views. Rays rise over the slices by `elevation`. The detector rolls about the middle ray,
/// and leans along it. All moves along z by `climb` heights of the detector's shadow.
struct Orbit {
  const char* name;
  double elevation = 0, roll = 0, pitch = 0, climb = 0;  // rad
  bool flat = false;                                     ///< whether there is a quarter of the slices
  double turns = 1;
};

constexpr Orbit orbits[]{{"circle"},
                         {.name = "leaning", .roll = 2 * degree, .pitch = 3 * degree},
                         {.name = "helix", .climb = 0.5},
                         {.name = "long_helix", .climb = 4, .turns = 8},
                         {.name = "laminography", .elevation = 45 * degree, .flat = true}};

Vector3 turned(const Vector3& a, const Vector3& about, double angle) {
  return std::cos(angle) * a + std::sin(angle) * cross(about, a) +
         (1 - std::cos(angle)) * dot(about, a) * about;
}

struct FlexibleCase {
  FlexibleBeam scan;
  VolumeGrid grid;
};

/// The case of an orbit, with cells, distances and voxels as in ConeCase.
FlexibleCase case_of(const Orbit& orbit, Index size, Index views) {
  const ConeCase circle(size, views);
  const Detector& d = circle.scan.detector;
  const double height = 0.5 * d.rows * d.row_pitch;  // at the axis
  std::vector<FlexibleView> all;
  for (std::size_t k = 0; k < circle.scan.angles.size(); ++k) {
    const double a = orbit.turns * circle.scan.angles[k], share = 1.0 * k / views - 0.5;
    const Vector3 side{std::cos(a), std::sin(a), 0},
        ray = turned({-std::sin(a), std::cos(a), 0}, side, orbit.elevation);
    const Vector3 bins = turned(side, ray, orbit.roll), rows = turned(cross(bins, ray), bins, orbit.pitch);
    const Vector3 up{0, 0, orbit.climb * height * share};
    all.push_back({up - circle.scan.sod * ray, up + (circle.scan.sdd - circle.scan.sod) * ray,
                   d.bin_pitch * bins, d.row_pitch * rows});
  }
  VolumeGrid grid = circle.grid;
  if (orbit.flat) grid.size[2] = std::max<Index>(size / 4, 1);
  return {flexible_beam(d.rows, d.bins, all, false), grid};
}

/// The share of the trapezoid of a profile that lies before a place in cells; in double.
double share_before(const kernels::Profile& p, double stretch, double place) {
  const double per_cell = p.per_flank * stretch, outer = p.outer, whole = p.whole;
  const double at = place * per_cell, within = outer - std::abs(at);
  const double risen = std::clamp(within, 0.0, 1.0), beyond = risen * (2 * within - risen) / whole;
  return at < 0 ? beyond : 1 - beyond;
}

/// Relative L2 error of x = At q at random voxels against the footprint in double.
double backward_error(const FlexibleCase& c, const Array& q, const Array& x) {
  const FlexibleViews packed = pack(c.scan, c.grid);
  if (packed.upright) return footprint_backward_error(*packed.upright, q, x);
  const Image<const float> in = image(ConstVectorView(q)), out = image(ConstVectorView(x));
  Random random(1);
  const auto any = [&](Index n) { return std::min(floor_index(random.uniform() * n), n - 1); };
  const auto middle = [](Index i, Index n) {
    const Index first = i / kernels::brick_edge * kernels::brick_edge;
    return 0.5 * (first + std::min<Index>(first + kernels::brick_edge, n) - 1);
  };
  double difference = 0, size = 0;
  for (int k = 0; k < 200; ++k) {
    const Index ix = any(out.n2), iy = any(out.n1), iz = any(out.n0);
    const double fx = ix, fy = iy, fz = iz;
    double sum = 0;
    for (Index v = 0; v < in.n0; ++v) {
      const FlexiblePlace& view = packed.views[v];
      const double bx = middle(ix, out.n2), by = middle(iy, out.n1), bz = middle(iz, out.n0);
      const kernels::BrickShadow s = kernels::shadow_of(view, bx, by, bz);
      const double depth = view.depth.at(fx, fy, fz), stretch = depth / view.depth.at(bx, by, bz);
      const double bin = view.bin.at(fx, fy, fz) / depth, row = view.row.at(fx, fy, fz) / depth;
      const double wide = s.along_bins.outer / s.along_bins.per_flank / stretch + 1,
                   high = s.along_rows.outer / s.along_rows.per_flank / stretch + 1;
      for (auto j = floor_index(row - high); j <= ceil_index(row + high); ++j)
        for (auto i = floor_index(bin - wide); i <= ceil_index(bin + wide); ++i) {
          if (j < 0 || j >= in.n1 || i < 0 || i >= in.n2) continue;
          const auto share = [&](const kernels::Profile& p, Index cell, double place) {
            const double from = cell - place;
            return share_before(p, stretch, from + 0.5) - share_before(p, stretch, from - 0.5);
          };
          sum += kernels::distance_of(view, j, i) * view.mass / (depth * depth) *
                 share(s.along_bins, i, bin) * share(s.along_rows, j, row) * in(v, j, i);
        }
    }
    difference += std::pow(sum - out(iz, iy, ix), 2), size += sum * sum;
  }
  return std::sqrt(difference / size);
}

Rows::value_type line(const FlexibleCase& c, const std::string& direction, double ms) {
  const Shape n = c.grid.shape();
  const double updates = 1.0 * (n[0] * n[1] * n[2]) * views_of(c.scan);
  return table_line({"separable_footprint"}, direction, {n[0], n[2], views_of(c.scan)}, ms, updates);
}

/// Adds both directions on a device, or on a team.
void add_on_devices(const Axes& axes, const OnLine& on_line, const FlexibleCase& c, const std::string& name,
                    Rows& rows) {
  Stream& stream = default_stream(axes.device);
  const LinearOperator A = projector(c.scan, c.grid, Model::separable_footprint, axes.device);
  {
    on_line(name + ", back");
    const Array q = input(A.range());
    Array x(A.domain());
    rows.push_back(line(c, "back, " + name, median_ms(axes, [&] { A.apply_adjoint(1, q, 0, x, stream); })));
    rows.back()["devices"] = axes.device.members();
    rows.back()["relative_error"] =
        backward_error(c, on_device(q, Device::cpu()), on_device(x, Device::cpu()));
  }
  on_line(name + ", forward");
  const Array x = input(A.domain());
  Array q(A.range());
  rows.push_back(line(c, "forward, " + name, median_ms(axes, [&] { A.apply(1, x, 0, q, stream); })));
  rows.back()["devices"] = axes.device.members();
}

/// Adds both directions from host memory and back, in tiles.
void add_in_tiles(const Axes& axes, const OnLine& on_line, const FlexibleCase& c, const std::string& name,
                  Rows& rows) {
  Array x = input(cone_volume_space(c.grid)), q = input(projection_space(c.scan));
  const Pinned pinned[] = {Pinned(x), Pinned(q)};
  for (const Index count : axes.devices)
    for (const Index streams : axes.streams) {
      const std::vector<Device> on = first_devices(axes.device, count);
      const double memory = memory_for_tiles(axes, on);
      const Tilings tiles = plan_tiles(c.scan, c.grid, on, memory);
      const LinearOperator A = tiled_projector(c.scan, c.grid, on, memory, {.streams = int_of(streams)});
      for (const bool back : {true, false}) {
        const std::string direction = (back ? "back, " : "forward, ") + name + ", streamed";
        on_line(direction + ", " + std::to_string(count) + " devices");
        Stream& stream = default_stream(Device::cpu());
        rows.push_back(line(c, direction, median_ms(axes, [&] {
                              back ? A.apply_adjoint(1, q, 0, x, stream) : A.apply(1, x, 0, q, stream);
                            })));
        Rows::value_type& row = rows.back();
        row["devices"] = count, row["streams"] = streams;
        row["strips"] = (back ? tiles.backward : tiles.forward).strips.size();
        row["blocks"] = (back ? tiles.backward : tiles.forward).views.size();
        if (back) row["relative_error"] = backward_error(c, q, x);
      }
    }
}

}  // namespace

std::vector<std::string> orbits_of_flexible() {
  std::vector<std::string> names;
  for (const Orbit& orbit : orbits) names.emplace_back(orbit.name);
  return names;
}

Rows flexible(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  for (const Orbit& orbit : orbits) {
    const std::string name = orbit.name;
    if (!axes.orbits.empty() && std::ranges::find(axes.orbits, name) == axes.orbits.end()) continue;
    const FlexibleCase c = case_of(orbit, axes.size, axes.views),
                       small =
                           case_of(orbit, std::min<Index>(axes.size, 128), std::min<Index>(axes.views, 64));
    if (axes.streamed) {
      add_in_tiles(axes, on_line, c, name, rows);
      continue;
    }
    on_line(name + ", pair");
    const Adjointness pair =
        adjointness(projector(small.scan, small.grid, Model::separable_footprint, axes.device), 2);
    for (const Index count : axes.devices) {
      Axes own = axes;
      own.device = Device::team(first_devices(axes.device, count));
      add_on_devices(own, on_line, c, name, rows);
      rows.back()["mu"] = pair.mismatch, rows.back()["kappa"] = pair.coupling;
    }
  }
  return rows;
}

}  // namespace tandem::bench
