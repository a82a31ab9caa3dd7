#include "hierarchical_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::kernels {

namespace {

constexpr double quarter_turn = std::numbers::pi / 2;
constexpr int children_a_group = 4;
constexpr double rows_between_stations = 0.105;  // how far rows of a view may move between two

/// The numbers that someone reads, (columns, rows), before rows are widened to whole vectors.
struct Window {
  Range columns{0, 0}, rows{0, 0};
};

Range joined_range(Range a, Range b) {
  widen(a, b);
  return a;
}

Index vectors_before(Index row) {
  return row >= 0 ? row / rows_a_vector : -((rows_a_vector - 1 - row) / rows_a_vector);
}

/// The range of whole vectors that holds some rows; {0, 1} if there is one row.
Range in_vectors(Range rows, bool flat) {
  if (flat) return {0, 1};
  return {rows_a_vector * vectors_before(rows.first),
          rows_a_vector * vectors_before(rows.last + rows_a_vector - 1)};
}

void lay_out(std::vector<DisparityPlane>& planes) {
  Index offset = 0;
  for (DisparityPlane& plane : planes)
    plane.offset = std::exchange(offset, offset + plane.columns.size() * plane.rows.size());
}

/// Makes the tree of groups, then finds what each of them needs, from the voxels to the views.
class HierarchyMaker {
 public:
  HierarchyMaker(const ConeBeam& scan, Grouping grouping, HierarchicalViews& n)
      : scan_(scan), grouping_(grouping), n_(n), seen_(n.radius_seen()) {}

  void make() {
    for (int quarter = 0; quarter < 4; ++quarter) {
      const std::vector<int> views = views_of_quarter(quarter);
      if (views.empty()) continue;
      const std::size_t lines = n_.groups.size();
      n_.groups.push_back({quarter * quarter_turn, 0});
      n_.quarters.push_back({lines, quarter % 2 == 0});
      // seen from frames that are 45 degrees away at most
      const double width = quarter_turn / grouping_.groups_a_quarter;
      add_groups(lines, views, {(quarter - 0.5) * quarter_turn, width}, grouping_.groups_a_quarter);
      place_lines(n_.groups[lines], quarter);
    }
  }

 private:
  double angle_of(int view) const { return angles_[view]; }

  /// The views of a quarter, sorted by angle; views of equal angles in the order of the scan. Their `angles_`
  /// become angles no farther than 45 degrees from the quarter.
  std::vector<int> views_of_quarter(int quarter) {
    angles_.resize(scan_.angles.size());
    std::vector<int> views;
    for (std::size_t v = 0; v < angles_.size(); ++v) {
      const double angle = scan_.angles[v], turns = std::floor(angle / quarter_turn + 0.5);
      if (static_cast<int>(turns - 4 * std::floor(turns / 4)) != quarter) continue;
      angles_[v] = quarter * quarter_turn + (angle - turns * quarter_turn);
      views.push_back(static_cast<int>(v));
    }
    std::stable_sort(views.begin(), views.end(), [&](int a, int b) { return angle_of(a) < angle_of(b); });
    return views;
  }

  /// Adds `count` children to `parent`. A child owns the views from its lower edge up to the next one. The
  /// first and the last child also own the views outside all edges. So each view is in one group, however
  /// angles and edges are rounded.
  void add_groups(std::size_t parent, const std::vector<int>& all, Line edges, int count) {
    for (int k = 0; k < count; ++k) {
      std::vector<int> views;
      for (const int v : all)
        if ((k == 0 || angle_of(v) >= edges.at(k)) && (k + 1 == count || angle_of(v) < edges.at(k + 1)))
          views.push_back(v);
      if (!views.empty()) add_group(parent, views);
    }
  }

  void add_group(std::size_t parent, const std::vector<int>& views) {
    const double a = angle_of(views.front()), b = angle_of(views.back()),
                 step = (b - a) / children_a_group;  // 0 for equal angles, and where it would be too small
    const std::size_t own = n_.groups.size();
    n_.groups[parent].children.push_back(own);
    n_.groups.push_back({0.5 * (a + b), 0.5 * (b - a)});
    if (views.size() <= grouping_.most_views || step == 0) {
      for (const int v : views) {
        n_.groups[own].children.push_back(n_.groups.size());
        n_.groups.push_back({angle_of(v), 0, v});
      }
    } else {
      add_groups(own, views, {a, step}, children_a_group);
    }
  }

  void place_lines(ViewGroup& lines, int quarter) {
    const bool along_x = quarter % 2 == 0;
    const double p = n_.pitch, e_sign = quarter == 0 || quarter == 3 ? 1 : -1, a_sign = quarter < 2 ? 1 : -1;
    const Line e = along_x ? Line{e_sign * n_.y0, e_sign * p} : Line{e_sign * n_.x0, e_sign * p},
               a = along_x ? Line{a_sign * n_.x0, a_sign * p} : Line{a_sign * n_.y0, a_sign * p};
    std::vector<Window> needed;
    for (Index l = 0; l < (along_x ? n_.ny : n_.nx); ++l) {
      const double magnification = n_.sod / (n_.sod + e.at(l));
      DisparityPlane line{magnification * e.at(l),
                          {magnification * a.first, magnification * a.step},
                          {0, along_x ? n_.nx : n_.ny},
                          {}};
      const Line rows = n_.rows_of(line);
      const Range read = joined_range(read_by(n_.across, rows.at(0)), read_by(n_.across, rows.at(n_.nz - 1)));
      needed.push_back({line.columns, n_.flat() ? Range{0, 1} : read});
      line.rows = in_vectors(needed.back().rows, n_.flat());
      lines.planes.push_back(line);
    }
    lay_out(lines.planes);
    parallel_for(std::ssize(lines.children),
                 [&](Index k) { place(n_.groups[lines.children[k]], lines, needed); });
  }

  /// Finds the planes of a child, and of its children, from what its parent needs.
  void place(ViewGroup& child, const ViewGroup& parent, const std::vector<Window>& by_parent) {
    const FrameTurn turn = n_.turn(child, parent);
    std::vector<Range> columns;
    double low = INFINITY, high = -INFINITY;  // t'
    for (std::size_t j = 0; j < parent.planes.size(); ++j) {
      columns.push_back(columns_read(n_, turn, n_.along_u(child), parent.planes[j]));
      if (columns[j].size() <= 0) continue;
      for (const Index end : {columns[j].first, columns[j].last - 1}) {
        const double t = turn.t_of_child(u_of(end), parent.planes[j].t);
        low = std::min(low, t), high = std::max(high, t);
      }
    }
    if (child.is_view()) return place_view(child, parent, by_parent, columns, {low, high - low});
    // sin h (1 + 0.4 sin h) covers the tangents of rays aside
    const double sine = std::sin(child.half),
                 finest = n_.step_u / (n_.depth_oversampling * sine * (1 + 0.4 * sine));
    const double step = std::min(finest, seen_ / 4 + n_.step_u);
    // with one plane more before and behind, where rounding may read
    child.t = {step * (read_by(n_.depth, low / step).first - 1), step};
    const std::vector<Window> turned = needed_of(child, turn, parent, by_parent, columns, high);
    std::vector<Window> own;
    for (std::size_t k = 0; k < turned.size(); ++k) {
      const double t = child.t.at(k);
      DisparityPlane plane{t, n_.columns(), turned[k].columns, in_vectors(turned[k].rows, n_.flat())};
      child.turned.push_back(plane);
      own.push_back(
          {turned[k].columns, rows_of_views(child, turned[k].columns, t, rows_read(turn, turned[k], t))});
      plane.rows = in_vectors(own.back().rows, n_.flat());
      child.planes.push_back(plane);
    }
    lay_out(child.turned), lay_out(child.planes);
    for (const std::size_t next : child.children) place(n_.groups[next], child, own);
  }

  double u_of(Index column) const { return n_.columns().at(column); }

  /// What each plane of a child is read at.
  std::vector<Window> needed_of(const ViewGroup& child, const FrameTurn& turn, const ViewGroup& parent,
                                const std::vector<Window>& by_parent, const std::vector<Range>& columns,
                                double highest) const {
    std::vector<Window> turned(read_by(n_.depth, (highest - child.t.first) / child.t.step).last + 1);
    for (std::size_t j = 0; j < parent.planes.size(); ++j) {
      Range run{columns[j].first, columns[j].first}, planes{};
      const auto end_run = [&] {  // ends a run of columns that read the same planes
        for (Index k = planes.first; k < planes.last; ++k) {
          Window& window = turned[k];
          widen(window.columns, run);
          widen(window.rows, by_parent[j].rows);
        }
      };
      for (Index column = columns[j].first; column < columns[j].last; ++column) {
        const double t = turn.t_of_child(u_of(column), parent.planes[j].t);
        const Range read = read_by(n_.depth, (t - child.t.first) / child.t.step);
        if (read != planes) end_run(), run.first = column, planes = read;
        run.last = column + 1;
      }
      end_run();
    }
    return turned;
  }

  /// The rows of a child from which the rows of a turned plane come.
  Range rows_read(const FrameTurn& turn, const Window& turned, double t) const {
    if (n_.flat() || turned.columns.size() <= 0) return {0, n_.flat() ? 1 : 0};
    Range read{};
    for (const Index column : {turned.columns.first, turned.columns.last - 1})
      for (const Index row : {turned.rows.first, turned.rows.last - 1})
        widen(read, read_by(n_.across, n_.rows_of(turn, u_of(column), t).at(row)));
    return read;
  }

  int levels_below(const ViewGroup& group) const {
    int levels = 0;
    for (const std::size_t child : group.children)
      levels = std::max(levels, 1 + levels_below(n_.groups[child]));
    return levels;
  }

  /// The rows of a plane, out of some, that its views can reach: the others are zero.
  Range rows_of_views(const ViewGroup& group, Range columns, double t, Range rows) const {
    if (n_.flat() || columns.size() <= 0) return rows;
    double least = INFINITY, most = 0;  // rows of the plane over those of a view, which are v and v'
    for (const Index column : {columns.first, columns.last - 1}) {
      const double u = u_of(column), stationary = std::atan2(t < 0 ? u : -u, std::abs(t));
      for (const double turn : {-group.half, std::clamp(stationary, -group.half, group.half), group.half}) {
        const double q = FrameTurn{std::cos(turn), std::sin(turn), n_.sod}.q(u, t);
        least = std::min(least, q), most = std::max(most, q);
      }
    }
    const double beside = most_taps * levels_below(group);  // twice what taps reach, level by level
    const auto at = [&](double row, double outward) {
      return n_.middle_row + (row - n_.middle_row) * ((row - n_.middle_row) * outward > 0 ? most : least);
    };
    const Range seen{floor_index(at(n_.view_rows().first - beside, -1)),
                     ceil_index(at(n_.view_rows().last + beside, 1))};
    const Range both{std::max(rows.first, seen.first), std::min(rows.last, seen.last)};
    return both.size() > 0 ? both : Range{rows.first, std::min(rows.first + 1, rows.last)};
  }

  /// Rows of a view that a group needs are made at a few t, between which they hardly move.
  void place_view(ViewGroup& view, const ViewGroup& parent, const std::vector<Window>& by_parent,
                  const std::vector<Range>& columns, Line reach) {
    view.planes.push_back({0, n_.columns(), n_.view_columns(), n_.view_rows()});
    lay_out(view.planes);
    Window all;
    for (std::size_t j = 0; j < columns.size(); ++j)
      widen(all.columns, columns[j]), widen(all.rows, by_parent[j].rows);
    // for all rows of the detector and all that the scan sees, so that no part of a volume moves them
    const double farthest = scan_.farthest_row() * n_.cell_v() / n_.step_v;
    const Index planes = n_.depth.count / 2 + 1;
    const double beside = parent.t.step * planes, before = seen_ / (1 - seen_ / n_.sod);
    const Line seen{-before - beside, before + seen_ / (1 + seen_ / n_.sod) + 2 * beside};
    const double turned = 1 - n_.turn(view, parent).c, moved = farthest * turned * seen.step / n_.sod;
    Index steps = 0;
    if (n_.flat() || moved < 0.2 * rows_between_stations || all.columns.size() <= 0) {
      view.t = {seen.at(0.5), 1};
    } else {
      const double step = seen.step * rows_between_stations / moved,
                   first = std::floor((reach.first - seen.first) / step),
                   last = std::ceil((reach.at(1) - seen.first) / step);
      view.t = {seen.first + step * first, step};
      steps = static_cast<Index>(last - first);
    }
    for (Index k = 0; k <= steps; ++k)
      view.turned.push_back({view.t.at(k), n_.columns(), all.columns, in_vectors(all.rows, n_.flat())});
    lay_out(view.turned);
  }

  const ConeBeam& scan_;
  const Grouping grouping_;
  HierarchicalViews& n_;
  const double seen_;
  std::vector<double> angles_{};
};

}  // namespace

void make_groups(const ConeBeam& scan, Grouping grouping, HierarchicalViews& n) {
  HierarchyMaker(scan, grouping, n).make();
}

int hierarchical_levels(const ConeBeam& scan, Grouping grouping) {
  const auto [first, last] = std::minmax_element(scan.angles.begin(), scan.angles.end());
  const double count = scan.angles.size(), arc = std::min(*last - *first, 2 * std::numbers::pi);
  double views = arc > 0 ? count * std::min(1.0, quarter_turn / grouping.groups_a_quarter / arc) : count;
  int levels = 1;
  for (; views > grouping.most_views && arc > 0; views /= children_a_group) ++levels;
  return levels;
}

}  // namespace tandem::kernels
