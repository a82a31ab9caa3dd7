#include "phantom.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

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
  return scan.shift_of(view) +
         (scan.row_axis_bins.empty() ? scan.detector.axis_bin : scan.row_axis_bins[row]);
}

/// Adds the chords of all ellipses to the bins of one row. Only bins inside a shadow are visited, so that a
/// foam costs little more than its area.
void add_row(const std::vector<Ellipse>& ellipses, double angle, double axis, double pitch,
             std::span<double> sums) {
  const double c = std::cos(angle), s = std::sin(angle), last = sums.size() - 1.0;
  for (const Ellipse& e : ellipses) {
    const Shadow shadow(e, c, s);
    const double from = std::max(0.0, std::floor(axis + (shadow.centre - shadow.half) / pitch));
    const double to = std::min(last, std::ceil(axis + (shadow.centre + shadow.half) / pitch));
    for (double bin = from; bin <= to; ++bin) sums[floor_index(bin)] += shadow.at((bin - axis) * pitch);
  }
}

void require_part(const char* what, Range part, Index count, std::size_t have, Index each) {
  require<GeometryError>(0 <= part.first && part.first <= part.last && part.last <= count, "phantom: ", what,
                         " ", part.first, ":", part.last, " reach outside 0:", count);
  require<SpaceError>(have == static_cast<std::size_t>(part.size() * each), "phantom: room for ", have,
                      " numbers, but ", part.size(), " ", what, " hold ", part.size() * each);
}

void require_samples(int samples) {
  require<GeometryError>(samples > 0, "phantom: ", samples, " samples; at least 1 is needed");
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
  return 1.0 * inside / (samples * samples);
}

/// One line of pixels of a slice.
void add_line(const std::vector<Ellipse>& ellipses, const VolumeGrid& grid, double y, int samples,
              std::span<double> sums) {
  const double half_diagonal = 0.5 * std::hypot(grid.pitch[0], grid.pitch[1]);
  const double first = grid.x(0), last = sums.size() - 1.0;
  for (const Ellipse& e : ellipses) {
    if (std::abs(y - e.y) > e.half_shadow(0, 1) + half_diagonal) continue;
    const double reach = e.half_shadow(1, 0) + half_diagonal, near = half_diagonal / std::min(e.a, e.b);
    const double from = std::max(0.0, std::floor((e.x - reach - first) / grid.pitch[0]));
    const double to = std::min(last, std::ceil((e.x + reach - first) / grid.pitch[0]));
    for (double ix = from; ix <= to; ++ix)
      sums[floor_index(ix)] +=
          e.attenuation * coverage(e, grid.x(ix), y, grid.pitch[0], grid.pitch[1], near, samples);
  }
}

/// An ellipsoid with the cosine and the sine of its rotation, which all rays share.
struct TurnedEllipsoid {
  Ellipsoid shape;
  double c, s;
};

std::vector<TurnedEllipsoid> turned(const Phantom& phantom) {
  std::vector<TurnedEllipsoid> all;
  for (const Ellipsoid& e : phantom.ellipsoids)
    all.push_back({e, std::cos(e.rotation), std::sin(e.rotation)});
  return all;
}

/// Calls `met` with the chord of each ellipsoid that a ray meets: attenuation, middle and half of the chord,
/// in units of the distance between the two points.
template <class Met>
void visit_chords(const std::vector<TurnedEllipsoid>& ellipsoids, const Vector3& from, const Vector3& to,
                  const Met& met) {
  for (const TurnedEllipsoid& one : ellipsoids) {
    const Ellipsoid& e = one.shape;
    const double c = one.c, s = one.s;
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
    if (qq > 0 && inside > 0) met(e.attenuation, -pq / qq, std::sqrt(inside / qq));
  }
}

double distance(const Vector3& from, const Vector3& to) {
  return std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
}

double line_integral(const std::vector<TurnedEllipsoid>& ellipsoids, const Vector3& from, const Vector3& to) {
  const double length = distance(from, to);
  double sum = 0;
  visit_chords(ellipsoids, from, to,
               [&](double attenuation, double, double half) { sum += attenuation * 2 * half * length; });
  return sum;
}

/// The same of those parts where the attenuation is above a value. Between the ends of chords it is constant.
double dense_integral(const std::vector<TurnedEllipsoid>& ellipsoids, double above, const Vector3& from,
                      const Vector3& to) {
  std::vector<std::array<double, 2>> ends;  // where, and by how much the attenuation rises there
  visit_chords(ellipsoids, from, to, [&](double attenuation, double middle, double half) {
    ends.push_back({middle - half, attenuation}), ends.push_back({middle + half, -attenuation});
  });
  std::ranges::sort(ends);
  double sum = 0, value = 0;
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
    value += ends[k][1];
    if (value > above) sum += value * (ends[k + 1][0] - ends[k][0]);
  }
  return sum * distance(from, to);
}

}  // namespace

void validate(const Ellipsoid& ellipsoid) {
  const auto& [attenuation, semi_axes, centre, rotation] = ellipsoid;
  for (std::size_t k = 0; k < 3; ++k) {
    require<GeometryError>(semi_axes[k] > 0 && (k == 2 || std::isfinite(semi_axes[k])),
                           "ellipsoid: semi-axis ", k, " is ", semi_axes[k], " mm; give a positive length",
                           k == 2 ? ", or infinity" : "");
    require<GeometryError>(std::isfinite(centre[k]), "ellipsoid: centre ", k, " is ", centre[k],
                           " mm; give a finite number");
  }
  require<GeometryError>(std::isfinite(attenuation) && std::isfinite(rotation), "ellipsoid: attenuation ",
                         attenuation, ", rotation ", rotation, "; give finite numbers");
}

Phantom scaled(Phantom phantom, double length, double attenuation) {
  require<GeometryError>(length > 0 && std::isfinite(length) && std::isfinite(attenuation), "scaled: length ",
                         length, ", attenuation ", attenuation, "; give a factor above 0 and a finite one");
  for (Ellipsoid& e : phantom.ellipsoids) {
    e.attenuation *= attenuation;
    for (double& v : e.semi_axes) v *= length;
    for (double& v : e.centre) v *= length;
  }
  return phantom;
}

double half_width(const VolumeGrid& grid) { return 0.5 * grid.size[0] * grid.pitch[0]; }

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
  return line_integral(turned(phantom), from, to);
}

double row_height(const ParallelBeam& scan, Index row) {
  return (row - 0.5 * (scan.detector.rows - 1)) * scan.detector.row_pitch;
}

namespace {

/// Parallel rays are exact without samples.
void project_kind(const Phantom& phantom, const ParallelBeam& scan, Range rows, std::span<float> out, int) {
  const Index bins = scan.detector.bins, views = views_of(scan);
  require_part("rows", rows, scan.detector.rows, out.size(), bins * views);
  std::vector<std::vector<Ellipse>> cuts;
  for (Index row = rows.first; row < rows.last; ++row) cuts.push_back(cut(phantom, row_height(scan, row)));
  const bool alike = same_at_every_height(phantom) && scan.row_axis_bins.empty();
  parallel_for(views, [&](Index view) {
    std::vector<double> sums(bins);
    float* line = out.data() + view * rows.size() * bins;
    for (Index i = 0; i < rows.size(); ++i, line += bins) {
      if (alike && i > 0) {
        std::copy_n(line - bins, bins, line);
        continue;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      const std::size_t v = view;
      add_row(cuts[i], scan.angles[v], axis_bin(scan, v, rows.first + i), scan.detector.bin_pitch, sums);
      std::transform(sums.begin(), sums.end(), line, [](double sum) { return static_cast<float>(sum); });
    }
  });
}

using Ray = std::array<Vector3, 2>;  ///< two points of it

/// Means over samples x samples rays in each cell. `rays_of(view)` gives a function of row and bin, and
/// `value` is that of a ray.
template <class RaysOf, class Value>
void project_rays(const Detector& d, Index views, Range rows, std::span<float> out, int samples,
                  const RaysOf& rays_of, const Value& value) {
  require_part("rows", rows, d.rows, out.size(), d.bins * views);
  require_samples(samples);
  const auto shifted = [&](Index cell, int k) { return cell + (k + 0.5) / samples - 0.5; };
  parallel_for(views, [&](Index view) {
    const auto ray = rays_of(view);
    float* cell = out.data() + view * rows.size() * d.bins;
    for (Index row = rows.first; row < rows.last; ++row)
      for (Index bin = 0; bin < d.bins; ++bin, ++cell) {
        double sum = 0;
        for (int k = 0; k < samples * samples; ++k)
          sum += value(ray(shifted(row, k / samples), shifted(bin, k % samples)));
        *cell = static_cast<float>(sum / (samples * samples));
      }
  });
}

auto rays_of(const ParallelBeam& scan) {
  return [&scan](Index view) {
    const double c = std::cos(scan.angles[view]), s = std::sin(scan.angles[view]);
    return [&scan, view, c, s](double row, double bin) {
      const Index r = floor_index(row);
      const double u = (bin - axis_bin(scan, view, r)) * scan.detector.bin_pitch, z = row_height(scan, r);
      return Ray{Vector3{u * c, u * s, z}, {u * c - s, u * s + c, z}};
    };
  };
}

auto rays_of(const ConeBeam& scan) {
  return [&scan](Index view) {
    const double a = scan.angles[view], c = std::cos(a), s = std::sin(a);
    const Vector3 source{scan.sod * s, -scan.sod * c, 0.0};
    return [&scan, source, c, s](double row, double bin) {
      const Detector& d = scan.detector;
      const double u = (bin - d.axis_bin) * d.bin_pitch, v = (row - scan.midplane_row) * d.row_pitch;
      return Ray{source, {source[0] - scan.sdd * s + u * c, source[1] + scan.sdd * c + u * s, v}};
    };
  };
}

auto rays_of(const FlexibleBeam& scan) {
  return [&scan](Index k) {
    return [&scan, view = scan.views[k]](double row, double bin) {
      const Detector& d = scan.detector;
      const double middle_bin = 0.5 * (d.bins - 1), middle_row = 0.5 * (d.rows - 1);
      const Vector3 cell = point_on(scan, view, row - middle_row, bin - middle_bin);
      return scan.parallel ? Ray{cell, cell + view.source} : Ray{view.source, cell};
    };
  };
}

template <class Kind>
void project_kind(const Phantom& phantom, const Kind& scan, Range rows, std::span<float> out, int samples) {
  project_rays(scan.detector, views_of(scan), rows, out, samples, rays_of(scan),
               [all = turned(phantom)](const Ray& ray) { return line_integral(all, ray[0], ray[1]); });
}

/// The largest value of a scan, row by row.
template <class Kind>
double largest_of_kind(const Phantom& phantom, const Kind& scan) {
  std::vector<float> row(views_of(scan) * scan.detector.bins);
  float largest = 0;
  for (Index r = 0; r < scan.detector.rows; ++r) {
    project_kind(phantom, scan, {r, r + 1}, row, 1);
    largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  }
  return largest;
}

double largest_of_kind(const Phantom& phantom, const ParallelBeam& scan) {
  const Index bins = scan.detector.bins;
  const bool alike = same_at_every_height(phantom) && scan.row_axis_bins.empty();
  std::vector<std::vector<Ellipse>> cuts;
  for (Index row = 0; row < (alike ? 1 : scan.detector.rows); ++row)
    cuts.push_back(cut(phantom, row_height(scan, row)));
  std::vector<double> largest(scan.angles.size());
  parallel_for(views_of(scan), [&](Index view) {
    std::vector<double> sums(bins);
    const std::size_t v = view;
    for (std::size_t row = 0; row < cuts.size(); ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      add_row(cuts[row], scan.angles[v], axis_bin(scan, v, row), scan.detector.bin_pitch, sums);
      largest[v] = std::max(largest[v], *std::max_element(sums.begin(), sums.end()));
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

}  // namespace

void project(const Phantom& phantom, const Scan& scan, Range rows, std::span<float> out, int samples) {
  require_samples(samples);  // parallel rays refuse none, too
  std::visit([&](const auto& s) { project_kind(phantom, s, rows, out, samples); }, scan);
}

void project_dense(const Phantom& phantom, double above, const Scan& scan, Range rows, std::span<float> out) {
  const auto value = [all = turned(phantom), above](const Ray& ray) {
    return dense_integral(all, above, ray[0], ray[1]);
  };
  std::visit([&](const auto& s) { project_rays(s.detector, views_of(s), rows, out, 1, rays_of(s), value); },
             scan);
}

double largest_line_integral(const Phantom& phantom, const Scan& scan) {
  return std::visit([&](const auto& s) { return largest_of_kind(phantom, s); }, scan);
}

void voxelise(const Phantom& phantom, const VolumeGrid& grid, Range slices, std::span<float> out,
              int samples) {
  const Index nx = grid.size[0], ny = grid.size[1];
  require_part("slices", slices, grid.size[2], out.size(), nx * ny);
  require_samples(samples);
  std::vector<std::vector<Ellipse>> cuts;
  for (Index iz = slices.first; iz < slices.last; ++iz) cuts.push_back(cut(phantom, grid.z(iz)));
  parallel_for(slices.size() * ny, [&](Index i) {
    std::vector<double> sums(nx);
    add_line(cuts[i / ny], grid, grid.y(i % ny), samples, sums);
    std::transform(sums.begin(), sums.end(), out.data() + i * nx,
                   [](double v) { return static_cast<float>(v); });
  });
}

}  // namespace tandem
