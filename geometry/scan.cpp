#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "level_scan.hpp"

namespace tandem {

namespace {

/// A cone beam may have become a fan beam.
template <Beam Kind>
Scan as_scan(Kind scan) {
  return scan;
}
Scan as_scan(ConeBeam scan) { return point_source_scan(std::move(scan)); }

/// The member that `get` names; empty for a kind without it.
template <class Get>
const std::vector<double>& numbers_of(const Scan& scan, const Get& get) {
  static const std::vector<double> none;
  return std::visit(
      [&](const auto& s) -> const std::vector<double>& {
        if constexpr (requires { get(s); }) return get(s);
        return none;
      },
      scan);
}

/// Views in this order, dealt out.
std::vector<std::vector<Index>> dealt(const std::vector<Index>& order, Index count) {
  const Index views = order.size();
  require<GeometryError>(count >= 1 && count <= views, "subsets: count ", count, " of ", views,
                         " views; a number from 1 to the number of views is needed");
  std::vector<double> multiples;  // multiples of the inverse golden ratio
  for (Index k = 0; k < count; ++k) multiples.push_back(k / std::numbers::phi);
  // the k-th subset that is gone through is as far along as the k-th multiple among all, modulo 1
  const std::vector<Index> turns = order_of_angles(multiples, 1);
  std::vector<std::vector<Index>> subsets(count);
  for (Index place = 0; place < count; ++place) {
    std::vector<Index>& subset = subsets[turns[place]];
    for (Index k = place; k < views; k += count) subset.push_back(order[k]);
    std::sort(subset.begin(), subset.end());
  }
  return subsets;
}

}  // namespace

Scan point_source_scan(ConeBeam scan) {
  if (scan.detector.rows == 1 && std::abs(scan.midplane_row) < 0.5) return FanBeam{std::move(scan)};
  return scan;
}

const ConeBeam& point_source_of(const Scan& scan) {
  return std::visit(
      []<class Kind>(const Kind& s) -> const ConeBeam& {
        if constexpr (std::derived_from<Kind, ConeBeam>) return s;
        throw GeometryError("Scan: a " + std::string(s.kind) +
                            " beam has no point source; give a cone or a fan beam");
      },
      scan);
}

std::string_view kind_of(const Scan& scan) {
  return std::visit([](const auto& s) { return std::string_view(s.kind); }, scan);
}
bool rows_are_slices(const Scan& scan) {
  return std::visit([](const auto& s) { return s.rows_are_slices; }, scan);
}
bool rays_cross_slices(const Scan& scan) {
  return std::visit([](const auto& s) { return s.rays_cross_slices; }, scan);
}
bool needs_mm(const Scan& scan) {
  return std::visit([](const auto& s) { return s.needs_mm; }, scan);
}
const Detector& detector_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Detector& { return s.detector; }, scan);
}
Detector& detector_of(Scan& scan) {
  return std::visit([](auto& s) -> Detector& { return s.detector; }, scan);
}
const std::vector<double>& angles_of(const Scan& scan) {
  return numbers_of(scan, [](const auto& s) -> decltype((s.angles)) { return s.angles; });
}
std::vector<double>& angles_of(Scan& scan) {
  return std::visit(
      [](auto& s) -> std::vector<double>& {
        if constexpr (requires { s.angles; }) return s.angles;
        throw GeometryError("Scan: the views of a " + std::string(s.kind) + " beam have no angles");
      },
      scan);
}
std::optional<double> period_of(const Scan& scan) {
  return std::visit(
      [](const auto& s) -> std::optional<double> {
        if constexpr (requires { s.period; }) return s.period;
        return std::nullopt;
      },
      scan);
}
const std::vector<double>& row_axes_of(const Scan& scan) {
  return numbers_of(scan, [](const auto& s) -> decltype((s.row_axis_bins)) { return s.row_axis_bins; });
}
const std::vector<double>& view_shifts_of(const Scan& scan) {
  return numbers_of(scan, [](const auto& s) -> decltype((s.view_shift_bins)) { return s.view_shift_bins; });
}
std::vector<float> bin_shares_of(const Scan& scan) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { bin_shares(s); }) return bin_shares(s);
        return std::vector<float>{};
      },
      scan);
}
std::optional<double> midplane_of(const Scan& scan) {
  return std::visit(
      [](const auto& s) -> std::optional<double> {
        if constexpr (requires { s.midplane_row; }) return s.midplane_row;
        return std::nullopt;
      },
      scan);
}
bool is_curved(const Scan& scan) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.curved; }) return s.curved;
        return false;
      },
      scan);
}
bool has_upright_views(const Scan& scan) {
  return std::visit([](const auto& s) { return has_upright_views(s); }, scan);
}
void share_axis(Scan& scan) {
  std::visit(
      [](auto& s) {
        if constexpr (requires { s.row_axis_bins; }) s.row_axis_bins.clear();
      },
      scan);
}

void validate(const Scan& scan) {
  std::visit([](const auto& s) { validate(s); }, scan);
}

Index views_of(const Scan& scan) {
  return std::visit([](const auto& s) { return views_of(s); }, scan);
}
std::vector<Index> order_of_views(const Scan& scan) {
  if (half_acquisition(scan))  // views see other rays after half a turn
    return order_of_angles(angles_of(scan), whole_turn);
  return std::visit([](const auto& s) { return order_of_views(s); }, scan);
}
std::optional<double> axis_of(const Scan& scan) {
  return std::visit([](const auto& s) { return axis_of(s); }, scan);
}

bool half_acquisition(const Scan& scan) {
  return std::visit([](const auto& s) { return half_acquisition(s); }, scan);
}

Scan symmetric(const Scan& scan) {
  return std::visit([]<class Kind>(const Kind& s) -> Scan { return Kind{symmetric(s)}; }, scan);
}

Scan crop(const Scan& scan, Range views, Range rows, Range bins) {
  return std::visit([&](const auto& s) { return as_scan(crop(s, views, rows, bins)); }, scan);
}

Scan of_rows_needed(const Scan& scan, Range rows) {
  return std::visit([&](const auto& s) -> Scan { return of_rows_needed(s, rows); }, scan);
}

Scan crop(const Scan& scan, Range views) {
  return crop(scan, views, {0, detector_of(scan).rows}, {0, detector_of(scan).bins});
}

Scan bin_down(const Scan& scan, int level, bool pitch_known) {
  return std::visit([&](const auto& s) { return as_scan(bin_down(s, level, pitch_known)); }, scan);
}

VolumeGrid fitting_grid(const Scan& scan) {
  return std::visit([](const auto& s) { return fitting_grid(s); }, scan);
}

Space projection_space(const Scan& scan, Device device) {
  return std::visit([&](const auto& s) { return projection_space(s, device); }, scan);
}

Detector filtered_detector(const Scan& scan) { return filtered_rows(scan).detector; }

FilteredRows filtered_rows(const Scan& scan) {
  return std::visit(
      [](const auto& s) -> FilteredRows {
        if constexpr (requires { level_rows(s); })
          return level_rows(s);
        else if constexpr (requires { filtered_scan(s); })
          return {filtered_scan(s).detector};
        else
          return {symmetric(s).detector};
      },
      scan);
}

Range rows_met(const Scan& scan, const VolumeGrid& grid, Range slices) {
  return std::visit([&](const auto& s) { return rows_met(s, grid, slices); }, scan);
}
Range slices_met(const Scan& scan, const VolumeGrid& grid, Range rows) {
  return std::visit([&](const auto& s) { return slices_met(s, grid, rows); }, scan);
}
double distance_from_axis(const Scan& scan, double on_detector) {
  return std::visit([&](const auto& s) { return distance_from_axis(s, on_detector); }, scan);
}

std::vector<std::vector<Index>> view_subsets(const Scan& scan, Index count) {
  return dealt(order_of_views(scan), count);
}

std::vector<std::vector<Index>> view_subsets(std::span<const double> angles, double period, Index count) {
  return dealt(order_of_angles(angles, period), count);
}

Scan with_views(Scan scan, std::span<const Index> views) {
  const Index count = views_of(scan);
  require<GeometryError>(!views.empty(), "views: none is given; a scan has one at least");
  for (const Index view : views)
    require<GeometryError>(view >= 0 && view < count, "views: ", view,
                           " is not a view of the scan, which has ", count, "; count from 0");
  std::visit([&](auto& s) { keep_views(s, views); }, scan);
  return scan;
}

}  // namespace tandem
