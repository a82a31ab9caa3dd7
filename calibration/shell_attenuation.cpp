#include "shell_attenuation.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "median.hpp"
#include "ray_across.hpp"

namespace tandem::calibration {

namespace {

constexpr double edge = 0.4;  // bins by which the radius of a fitted disc may err
constexpr double least_depth = 10 * edge;

/// Attenuations along the rays of a row: of those in the inner half of the shell, and of those before it that
/// an edge which errs does not change by more than a twentieth.
struct RaysInShell {
  std::vector<double> outer, inner;

  void add(const RaysInShell& other) {
    outer.insert(outer.end(), other.outer.begin(), other.outer.end());
    inner.insert(inner.end(), other.inner.begin(), other.inner.end());
  }
};

RaysInShell rays_in_shell(const float* lines, Index views_apart, const FlexibleBeam& scan, Index row,
                          const Disc& disc, double shell) {
  RaysInShell rays;
  const double least = std::min(0.5 * shell, least_depth * width_of_bin(scan, row));
  for (Index view = 0; view < views_of(scan); ++view)
    for (Index bin = 0; bin < scan.detector.bins; ++bin) {
      const RayAcross ray = ray_across(scan, view, row, static_cast<double>(bin));
      const double aside = std::abs(ray.offset - ray.x * disc.x - ray.y * disc.y),
                   depth = disc.radius - aside;
      if (depth < least || depth > shell) continue;
      const double chord = 2 * ray.slope * std::sqrt(disc.radius * disc.radius - aside * aside);
      (depth < 0.5 * shell ? rays.outer : rays.inner).push_back(lines[view * views_apart + bin] / chord);
    }
  return rays;
}

}  // namespace

ShellAttenuation attenuation_of_shell(const std::vector<float>& lines, const FlexibleBeam& scan,
                                      const std::vector<Index>& rows, const Disc& disc, double shell) {
  constexpr Index fewest = 20;
  require<GeometryError>(shell < disc.radius, spelled("shell"), " ", shell, ": the support has a radius of ",
                         disc.radius, "; give a thinner shell");
  const Index bins = scan.detector.bins, count = std::ssize(rows);
  std::vector<RaysInShell> of_rows;
  std::vector<double> medians;
  for (Index k = 0; k < count; ++k) {
    of_rows.push_back(rays_in_shell(lines.data() + k * bins, count * bins, scan, rows[k], disc, shell));
    medians.push_back(median_of(of_rows.back().inner));
  }
  const double largest = *std::ranges::max_element(medians);
  RaysInShell rays;
  for (Index k = 0; k < count; ++k)
    if (medians[k] >= 0.5 * largest) rays.add(of_rows[k]);
  require<GeometryError>(
      std::ssize(rays.inner) >= fewest, spelled("levels"), " LOW:auto: ", rays.inner.size(),
      " rays run in the inner half of the ", spelled("shell"), ", ", shell, " thick, and ", fewest,
      " are needed; give a thicker one if the object has it, or ", spelled("levels"), " LOW:HIGH");
  require<GeometryError>(largest > 0, spelled("levels"), " LOW:auto: rays in the ", spelled("shell"),
                         " have the attenuation ", largest, "; is the object there?");
  ShellAttenuation found{median_of(rays.inner), edge * width_of_bin(scan, rows[0]) / (2 * 0.75 * shell),
                         std::ssize(rays.inner)};
  if (std::ssize(rays.outer) >= fewest) found.change = found.value / median_of(rays.outer);
  return found;
}

}  // namespace tandem::calibration
