#include "phantom.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/parallel.hpp"
#include "../core/units.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double degree = in_radians(1);

/// The cut of an ellipsoid by a plane of constant z.
struct Ellipse {
  double attenuation, a, b, x, y, cosine, sine;

  /// How far out a point lies: below 1 inside, in units of the semi-axes.
  double radius(double px, double py) const {
    const double along = (px - x) * cosine + (py - y) * sine, across = (py - y) * cosine - (px - x) * sine;
    return std::hypot(along / a, across / b);
  }

  /// Half the width of its shadow on an axis that points along (c, s).
  double half_shadow(double c, double s) const {
    return std::hypot(a * (c * cosine + s * sine), b * (s * cosine - c * sine));
  }
};

/// 2 A a b / g^2 sqrt(g^2 - t^2) with half shadow g: the chords of one ellipse in one view.
struct Shadow {
  double centre, half, factor;
  Shadow(const Ellipse& e, double c, double s)
      : centre(e.x * c + e.y * s),
        half(e.half_shadow(c, s)),
        factor(2 * e.attenuation * e.a * e.b / (half * half)) {}
  double at(double u) const {
    const double t = u - centre;
    return std::abs(t) < half ? factor * std::sqrt((half - t) * (half + t)) : 0;
  }
};

std::vector<Ellipse> cut(const Phantom& phantom, double z) {
  std::vector<Ellipse> ellipses;
  for (const Ellipsoid& e : phantom.ellipsoids) {
    const double height = (z - e.centre[2]) / e.semi_axes[2];  // 0 for a cylinder
    if (std::abs(height) >= 1) continue;
    const double shrink = std::sqrt((1 - height) * (1 + height));
    ellipses.push_back({e.attenuation, shrink * e.semi_axes[0], shrink * e.semi_axes[1], e.centre[0],
                        e.centre[1], std::cos(e.rotation), std::sin(e.rotation)});
  }
  return ellipses;
}

bool same_at_every_height(const Phantom& phantom) {
  return std::all_of(phantom.ellipsoids.begin(), phantom.ellipsoids.end(),
                     [](const Ellipsoid& e) { return std::isinf(e.semi_axes[2]); });
}

double axis_bin(const ParallelBeam& scan, std::size_t view, Index row) {
  return scan.shift_of(view) + (scan.row_axis_bins.empty()
                                    ? scan.detector.axis_bin
                                    : scan.row_axis_bins[static_cast<std::size_t>(row)]);
}

/// Adds the chords of all ellipses to the bins of one row. Only bins inside a shadow are visited, so that a
/// foam costs little more than its area.
void add_row(const std::vector<Ellipse>& ellipses, double angle, double axis, double pitch,
             std::span<double> sums) {
  const double c = std::cos(angle), s = std::sin(angle), last = static_cast<double>(sums.size()) - 1;
  for (const Ellipse& e : ellipses) {
    const Shadow shadow(e, c, s);
    const double from = std::max(0.0, std::floor(axis + (shadow.centre - shadow.half) / pitch));
    const double to = std::min(last, std::ceil(axis + (shadow.centre + shadow.half) / pitch));
    for (double bin = from; bin <= to; ++bin)
      sums[static_cast<std::size_t>(bin)] += shadow.at((bin - axis) * pitch);
  }
}

void require_part(const char* what, Range part, Index count, std::size_t have, Index each) {
  require<GeometryError>(0 <= part.first && part.first <= part.last && part.last <= count, "phantom: ", what,
                         " ", part.first, ":", part.last, " reach outside 0:", count);
  require<SpaceError>(have == static_cast<std::size_t>(part.size() * each), "phantom: room for ", have,
                      " numbers, but ", part.size(), " ", what, " hold ", part.size() * each);
}

/// How much of a pixel an ellipse covers, from samples x samples points; `near` is half a pixel's diagonal in
/// the ellipse's own units, which settles all but the pixels on its rim.
double coverage(const Ellipse& e, double x, double y, double pitch_x, double pitch_y, double near,
                int samples) {
  const double centre = e.radius(x, y);
  if (centre > 1 + near) return 0;
  if (centre < 1 - near) return 1;
  int inside = 0;
  for (int j = 0; j < samples; ++j)
    for (int i = 0; i < samples; ++i)
      inside +=
          e.radius(x + ((i + 0.5) / samples - 0.5) * pitch_x, y + ((j + 0.5) / samples - 0.5) * pitch_y) <= 1;
  return static_cast<double>(inside) / (samples * samples);
}

/// One line of pixels of a slice.
void add_line(const std::vector<Ellipse>& ellipses, const VolumeGrid& grid, double y, int samples,
              std::span<double> sums) {
  const double half_diagonal = 0.5 * std::hypot(grid.pitch[0], grid.pitch[1]);
  const double first = grid.x(0), last = static_cast<double>(sums.size()) - 1;
  for (const Ellipse& e : ellipses) {
    if (std::abs(y - e.y) > e.half_shadow(0, 1) + half_diagonal) continue;
    const double reach = e.half_shadow(1, 0) + half_diagonal, near = half_diagonal / std::min(e.a, e.b);
    const double from = std::max(0.0, std::floor((e.x - reach - first) / grid.pitch[0]));
    const double to = std::min(last, std::ceil((e.x + reach - first) / grid.pitch[0]));
    for (double ix = from; ix <= to; ++ix)
      sums[static_cast<std::size_t>(ix)] +=
          e.attenuation * coverage(e, grid.x(ix), y, grid.pitch[0], grid.pitch[1], near, samples);
  }
}

constexpr std::array<std::string_view, 5> names{"shepp-logan", "disc", "ellipsoids", "foam", "plate"};

}  // namespace

Phantom shepp_logan() {
  const auto e = [](double attenuation, double a, double b, double x, double y, double rotation_deg) {
    return Ellipsoid{attenuation, {a, b, infinite}, {x, y, 0}, rotation_deg * degree};
  };
  return {{e(1, .69, .92, 0, 0, 0), e(-.8, .6624, .874, 0, -.0184, 0), e(-.2, .11, .31, .22, 0, -18),
           e(-.2, .16, .41, -.22, 0, 18), e(.1, .21, .25, 0, .35, 0), e(.1, .046, .046, 0, .1, 0),
           e(.1, .046, .046, 0, -.1, 0), e(.1, .046, .023, -.08, -.605, 0), e(.1, .023, .023, 0, -.606, 0),
           e(.1, .023, .046, .06, -.605, 0)}};
}

Phantom shepp_logan_in_space() {
  Phantom phantom = shepp_logan();
  for (Ellipsoid& e : phantom.ellipsoids) e.semi_axes[2] = e.semi_axes[1];
  return phantom;
}

Phantom disc() { return {{{1, {0.5, 0.5, infinite}, {0.2, 0.1, 0}, 0}}}; }

Phantom ellipsoids() {
  return {{{1, {0.9, 0.9, 0.9}, {0, 0, 0}, 0},
           {-0.4, {0.3, 0.2, 0.5}, {0.35, 0.2, 0.1}, 25 * degree},
           {0.5, {0.15, 0.35, 0.3}, {-0.4, 0.1, -0.2}, -40 * degree},
           {0.8, {0.1, 0.1, 0.1}, {0.1, -0.5, 0.3}, 0},
           {-0.6, {0.25, 0.1, 0.2}, {-0.1, -0.35, -0.3}, 70 * degree},
           {0.3, {0.2, 0.2, 0.6}, {0, 0.45, 0}, 0},
           {-0.9, {0.05, 0.08, 0.05}, {0.6, -0.3, 0}, 10 * degree}}};
}

Phantom plate() {
  return {{{1, {0.8, 0.8, 0.08}, {0, 0, 0}, 0},
           {0.6, {0.25, 0.06, 0.02}, {0.3, 0.25, 0}, 30 * degree},
           {-0.5, {0.08, 0.08, 0.04}, {-0.35, 0.2, 0.01}, 0},
           {0.8, {0.05, 0.05, 0.03}, {0.1, -0.4, -0.02}, 0},
           {-0.7, {0.04, 0.15, 0.03}, {-0.2, -0.3, 0}, 20 * degree},
           {0.5, {0.1, 0.03, 0.015}, {-0.1, 0.05, 0.03}, -50 * degree},
           {-0.6, {0.03, 0.03, 0.03}, {0.5, -0.15, -0.01}, 0}}};
}

Phantom foam(std::uint64_t seed) {
  constexpr double radius = 0.9, wall = 0.01;
  constexpr int tries = 6000;  // about 500 spheres find room
  Phantom body{{{1, {radius, radius, infinite}, {0, 0, 0}, 0}}};
  Random random(seed);
  for (int i = 0; i < tries; ++i) {
    const double share = random.uniform();
    const double r = 0.02 + 0.18 * share * share * share;  // few large, many small
    const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1, z = 2 * random.uniform() - 1;
    if (std::hypot(x, y) + r + wall > radius) continue;
    const bool free =
        std::none_of(body.ellipsoids.begin() + 1, body.ellipsoids.end(), [&](const Ellipsoid& e) {
          return std::hypot(x - e.centre[0], y - e.centre[1], z - e.centre[2]) < r + wall + e.semi_axes[0];
        });
    if (free) body.ellipsoids.push_back({-1, {r, r, r}, {x, y, z}, 0});
  }
  return body;
}

std::span<const std::string_view> phantom_names() { return names; }

Phantom named_phantom(std::string_view name, std::uint64_t seed) {
  if (name == names[0]) return shepp_logan();
  if (name == names[1]) return disc();
  if (name == names[2]) return ellipsoids();
  if (name == names[3]) return foam(seed);
  if (name == names[4]) return plate();
  throw GeometryError("phantom '" + std::string(name) + "' is unknown; known are " + joined(names, ", "));
}

Phantom scaled(Phantom phantom, double length, double attenuation) {
  for (Ellipsoid& e : phantom.ellipsoids) {
    e.attenuation *= attenuation;
    for (double& v : e.semi_axes) v *= length;
    for (double& v : e.centre) v *= length;
  }
  return phantom;
}

double half_width(const VolumeGrid& grid) { return 0.5 * static_cast<double>(grid.size[0]) * grid.pitch[0]; }

double value_at(const Phantom& phantom, double x, double y, double z) {
  double value = 0;
  for (const Ellipse& e : cut(phantom, z)) value += e.radius(x, y) <= 1 ? e.attenuation : 0;
  return value;
}

double line_integral(const Phantom& phantom, double angle, double u, double z) {
  const double c = std::cos(angle), s = std::sin(angle);
  double sum = 0;
  for (const Ellipse& e : cut(phantom, z)) sum += Shadow(e, c, s).at(u);
  return sum;
}

double line_integral(const Phantom& phantom, const std::array<double, 3>& from,
                     const std::array<double, 3>& to) {
  const double length = std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
  double sum = 0;
  for (const Ellipsoid& e : phantom.ellipsoids) {
    const double c = std::cos(e.rotation), s = std::sin(e.rotation);
    const auto own = [&](double x, double y, double z) {  // in semi-axes
      return std::array{(x * c + y * s) / e.semi_axes[0], (y * c - x * s) / e.semi_axes[1],
                        z / e.semi_axes[2]};
    };
    const auto p = own(from[0] - e.centre[0], from[1] - e.centre[1], from[2] - e.centre[2]);
    const auto q = own(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    // |p + t q| = 1
    const double qq = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], pq = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    const std::array nearest{p[0] - pq / qq * q[0], p[1] - pq / qq * q[1], p[2] - pq / qq * q[2]};
    const double inside = 1 - nearest[0] * nearest[0] - nearest[1] * nearest[1] - nearest[2] * nearest[2];
    if (qq > 0 && inside > 0) sum += e.attenuation * 2 * std::sqrt(inside / qq) * length;
  }
  return sum;
}

double row_height(const ParallelBeam& scan, Index row) {
  return (static_cast<double>(row) - 0.5 * static_cast<double>(scan.detector.rows - 1)) *
         scan.detector.row_pitch;
}

void project(const Phantom& phantom, const ParallelBeam& scan, Range rows, std::span<float> out) {
  const Index bins = scan.detector.bins, views = views_of(scan);
  require_part("rows", rows, scan.detector.rows, out.size(), bins * views);
  std::vector<std::vector<Ellipse>> cuts;
  for (Index row = rows.first; row < rows.last; ++row) cuts.push_back(cut(phantom, row_height(scan, row)));
  const bool alike = same_at_every_height(phantom) && scan.row_axis_bins.empty();
  parallel_for(views, [&](Index view) {
    std::vector<double> sums(static_cast<std::size_t>(bins));
    float* line = out.data() + view * rows.size() * bins;
    for (Index i = 0; i < rows.size(); ++i, line += bins) {
      if (alike && i > 0) {
        std::copy_n(line - bins, bins, line);
        continue;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      const auto v = static_cast<std::size_t>(view);
      add_row(cuts[static_cast<std::size_t>(i)], scan.angles[v], axis_bin(scan, v, rows.first + i),
              scan.detector.bin_pitch, sums);
      std::transform(sums.begin(), sums.end(), line, [](double sum) { return static_cast<float>(sum); });
    }
  });
}

namespace {

using Ray = std::array<Vector3, 2>;  ///< two points of it

/// Means over samples x samples rays in each cell. `rays_of(view)` gives a function of row and bin.
template <class RaysOf>
void project_rays(const Phantom& phantom, const Detector& d, Index views, Range rows, std::span<float> out,
                  int samples, const RaysOf& rays_of) {
  require_part("rows", rows, d.rows, out.size(), d.bins * views);
  require<GeometryError>(samples > 0, "phantom: ", samples, " samples per cell; at least 1 is needed");
  const auto shifted = [&](Index cell, int k) {
    return static_cast<double>(cell) + (k + 0.5) / samples - 0.5;
  };
  parallel_for(views, [&](Index view) {
    const auto ray = rays_of(view);
    float* cell = out.data() + view * rows.size() * d.bins;
    for (Index row = rows.first; row < rows.last; ++row)
      for (Index bin = 0; bin < d.bins; ++bin, ++cell) {
        double sum = 0;
        for (int k = 0; k < samples * samples; ++k) {
          const Ray to = ray(shifted(row, k / samples), shifted(bin, k % samples));
          sum += line_integral(phantom, to[0], to[1]);
        }
        *cell = static_cast<float>(sum / (samples * samples));
      }
  });
}

/// The largest value of a scan, row by row.
template <class Kind>
double largest_of_rows(const Phantom& phantom, const Kind& scan) {
  std::vector<float> row(static_cast<std::size_t>(views_of(scan) * scan.detector.bins));
  float largest = 0;
  for (Index r = 0; r < scan.detector.rows; ++r) {
    project(phantom, scan, {r, r + 1}, row);
    largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  }
  return static_cast<double>(largest);
}

}  // namespace

void project(const Phantom& phantom, const ConeBeam& scan, Range rows, std::span<float> out, int samples) {
  const Detector& d = scan.detector;
  project_rays(phantom, d, views_of(scan), rows, out, samples, [&](Index view) {
    const double a = scan.angles[static_cast<std::size_t>(view)], c = std::cos(a), s = std::sin(a);
    const Vector3 source{scan.sod * s, -scan.sod * c, 0.0};
    return [&d, &scan, source, c, s](double row, double bin) {
      const double u = (bin - d.axis_bin) * d.bin_pitch, v = (row - scan.midplane_row) * d.row_pitch;
      return Ray{source, {source[0] - scan.sdd * s + u * c, source[1] + scan.sdd * c + u * s, v}};
    };
  });
}

void project(const Phantom& phantom, const FlexibleBeam& scan, Range rows, std::span<float> out,
             int samples) {
  const Detector& d = scan.detector;
  const double middle_bin = 0.5 * static_cast<double>(d.bins - 1),
               middle_row = 0.5 * static_cast<double>(d.rows - 1);
  project_rays(phantom, d, views_of(scan), rows, out, samples, [&](Index k) {
    return [&, view = scan.views[static_cast<std::size_t>(k)]](double row, double bin) {
      const Vector3 cell =
          view.detector + (bin - middle_bin) * view.bin_step + (row - middle_row) * view.row_step;
      return scan.parallel ? Ray{cell, cell + view.source} : Ray{view.source, cell};
    };
  });
}

void project(const Phantom& phantom, const Scan& scan, Range rows, std::span<float> out, int samples) {
  std::visit(
      [&]<class Kind>(const Kind& s) {
        if constexpr (std::is_same_v<Kind, ParallelBeam>)
          project(phantom, s, rows, out);
        else
          project(phantom, s, rows, out, samples);
      },
      scan);
}

double largest_line_integral(const Phantom& phantom, const ParallelBeam& scan) {
  const Index bins = scan.detector.bins;
  const bool alike = same_at_every_height(phantom) && scan.row_axis_bins.empty();
  std::vector<std::vector<Ellipse>> cuts;
  for (Index row = 0; row < (alike ? 1 : scan.detector.rows); ++row)
    cuts.push_back(cut(phantom, row_height(scan, row)));
  std::vector<double> largest(scan.angles.size());
  parallel_for(views_of(scan), [&](Index view) {
    std::vector<double> sums(static_cast<std::size_t>(bins));
    const auto v = static_cast<std::size_t>(view);
    for (std::size_t row = 0; row < cuts.size(); ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      add_row(cuts[row], scan.angles[v], axis_bin(scan, v, static_cast<Index>(row)), scan.detector.bin_pitch,
              sums);
      largest[v] = std::max(largest[v], *std::max_element(sums.begin(), sums.end()));
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

double largest_line_integral(const Phantom& phantom, const ConeBeam& scan) {
  return largest_of_rows(phantom, scan);
}

double largest_line_integral(const Phantom& phantom, const FlexibleBeam& scan) {
  return largest_of_rows(phantom, scan);
}

double largest_line_integral(const Phantom& phantom, const Scan& scan) {
  return std::visit([&](const auto& s) { return largest_line_integral(phantom, s); }, scan);
}

void voxelise(const Phantom& phantom, const VolumeGrid& grid, Range slices, std::span<float> out,
              int samples) {
  const Index nx = grid.size[0], ny = grid.size[1];
  require_part("slices", slices, grid.size[2], out.size(), nx * ny);
  require<GeometryError>(samples > 0, "phantom: ", samples, " samples per pixel; at least 1 is needed");
  std::vector<std::vector<Ellipse>> cuts;
  for (Index iz = slices.first; iz < slices.last; ++iz)
    cuts.push_back(cut(phantom, grid.z(static_cast<double>(iz))));
  parallel_for(slices.size() * ny, [&](Index i) {
    std::vector<double> sums(static_cast<std::size_t>(nx));
    add_line(cuts[static_cast<std::size_t>(i / ny)], grid, grid.y(static_cast<double>(i % ny)), samples,
             sums);
    std::transform(sums.begin(), sums.end(), out.data() + i * nx,
                   [](double v) { return static_cast<float>(v); });
  });
}

}  // namespace tandem
