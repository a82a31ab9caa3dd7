#include "geometry_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/units.hpp"
#include "../../geometry/flexible_views.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/vector3.hpp"
#include "page_text.hpp"
#include "report_page.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// Lowest and highest corner of a grid, mm.
std::array<Vector3, 2> box_of(const VolumeGrid& grid) {
  std::array<Vector3, 2> box{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double half = 0.5 * grid.size[k] * grid.pitch[k];
    box[0][k] = grid.centre[k] - half, box[1][k] = grid.centre[k] + half;
  }
  return box;
}

double reach_of(const VolumeGrid& grid) {
  const auto box = box_of(grid);
  return std::max(tandem::length(box[0]), tandem::length(box[1]));
}

/// The numbers of the views that the page shows: at most `most`, spread over all views.
std::vector<Index> shown(std::size_t views) {
  constexpr std::size_t most = 360;
  std::vector<Index> some;
  const std::size_t count = std::min(views, most);
  for (std::size_t k = 0; k < count; ++k) some.push_back(k * views / count);
  return some;
}

/// A view as it is drawn. Parallel rays begin as far away as the volume reaches.
struct Drawn {
  Vector3 source;
  std::vector<Vector3> outline;          ///< the detector, first along row 0; its corners, if it is flat
  std::array<Vector3, 4> corners, from;  ///< where rays end and begin
};

Drawn drawn(const FlexibleBeam& scan, const FlexibleView& view, double reach) {
  const Vector3 far = scan.parallel ? reach / tandem::length(view.source) * view.source : Vector3{};
  const int steps = scan.curved ? 24 : 1;
  Drawn all{scan.parallel ? view.detector - far : view.source, {}, {}, {}};
  for (const double end : {-0.5, 0.5})
    for (int k = 0; k <= steps; ++k) {
      const double along = 1.0 * k / steps - 0.5, side = end < 0 ? along : -along;
      all.outline.push_back(point_on(scan, view, end * scan.detector.rows, side * scan.detector.bins) + far);
    }
  const std::size_t half = steps + 1, last = 2 * half - 1;
  all.corners = {all.outline[0], all.outline[half - 1], all.outline[half], all.outline[last]};
  for (std::size_t k = 0; k < 4; ++k) all.from[k] = scan.parallel ? all.corners[k] - 2.0 * far : view.source;
  return all;
}

/// How many corners of a grid have their shadows on the detector.
int corners_seen(const FlexibleBeam& scan, const FlexiblePlace& place, const VolumeGrid& grid) {
  const auto within = [](double cell, Index count) { return cell >= -0.5 && cell <= count - 0.5; };
  int seen = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const auto end = [&](std::size_t axis) { return (k >> axis & 1) * grid.size[axis] - 0.5; };
    const CellPlace at = place.curve.bent(place.on_flat(end(0), end(1), end(2)));
    seen += within(at.row, scan.detector.rows) && within(at.bin, scan.detector.bins);
  }
  return seen;
}

/// A drawing of lines on white, in the plane of two axes.
class Drawing {
 public:
  static constexpr Index side = 480;
  Drawing(std::size_t across, std::size_t up, double reach)
      : across_(across), up_(up), scale_(0.46 * side / reach) {
    picture.grey.assign(side * side, 1.0F);
  }
  void line(const Vector3& from, const Vector3& to, float grey) {
    const double steps = std::ceil(scale_ * tandem::length(to - from)) + 1;
    for (double k = 0; k <= steps; ++k) point(from + k / steps * (to - from), grey, 0);
  }
  void point(const Vector3& at, float grey, Index radius) {
    const double half = 0.5 * side;
    const auto x = static_cast<Index>(half + scale_ * at[across_]),
               y = static_cast<Index>(half - scale_ * at[up_]);
    for (Index row = y - radius; row <= y + radius; ++row)
      for (Index column = x - radius; column <= x + radius; ++column)
        if (0 <= row && row < side && 0 <= column && column < side) picture.grey[row * side + column] = grey;
  }
  io::Picture picture{side, side, {}, {}};

 private:
  std::size_t across_, up_;
  double scale_;
};

void draw_box(Drawing& to, const std::array<Vector3, 2>& box, float grey) {
  const auto corner = [&](std::size_t k) {
    return Vector3{box[k & 1][0], box[k >> 1 & 1][1], box[k >> 2][2]};
  };
  for (std::size_t k = 0; k < 8; ++k)
    for (const std::size_t bit : {1U, 2U, 4U})
      if ((k & bit) == 0) to.line(corner(k), corner(k | bit), grey);
}

void draw_view(Drawing& to, const Drawn& view, float grey) {
  for (std::size_t k = 0; k < 4; ++k) to.line(view.from[k], view.corners[k], 0.75F);
  const std::size_t count = view.outline.size();
  for (std::size_t k = 0; k < count; ++k) to.line(view.outline[k], view.outline[(k + 1) % count], grey);
  to.point(view.source, grey, 3);
}

}  // namespace

Scan as_it_stands(const io::ScanInfo& info, std::optional<double> roll, std::optional<double> tilt) {
  OffCircle off = info.beside_circle();
  off.roll = in_radians(roll.value_or(info.roll_deg.value_or(0)));
  off.tilt = in_radians(tilt.value_or(info.tilt_deg.value_or(0)));
  return off.any() ? as_free_views(info.scan, off) : info.scan;
}

std::string geometry_page(const std::string& file, const std::string& words, const Scan& scan,
                          const VolumeGrid& grid) {
  FlexibleBeam free = as_free_views(scan);
  const std::size_t count = free.views.size();
  const std::vector<Index> numbers = shown(count);
  keep_views(free, numbers);
  const FlexibleViews at = places(free, grid);
  json views = json::array();
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const FlexibleView& view = free.views[k];
    const Drawn lines = drawn(free, view, reach_of(grid));
    views.push_back({{"number", numbers[k]},
                     {"source", lines.source},
                     {"outline", lines.outline},
                     {"corners", lines.corners},
                     {"from", lines.from},
                     {"seen", corners_seen(free, at.views[k], grid)},
                     {"place", view.source},
                     {"middle", view.detector},
                     {"bin", view.bin_step},
                     {"row", view.row_step}});
  }
  return with_data(geometry_page_text, {{"geometry",
                                         {{"file", file},
                                          {"words", words},
                                          {"views", views},
                                          {"count", count},
                                          {"parallel", free.parallel},
                                          {"axis", axis_of(scan).has_value()},
                                          {"rows", free.detector.rows},
                                          {"bins", free.detector.bins},
                                          {"box", box_of(grid)},
                                          {"size", grid.size},
                                          {"pitch", grid.pitch}}}});
}

std::vector<io::Picture> geometry_pictures(const Scan& scan, const VolumeGrid& grid) {
  const FlexibleBeam free = as_free_views(scan);
  std::vector<Drawn> views;
  double reach = 0;
  for (const Index k : shown(free.views.size())) {
    views.push_back(drawn(free, free.views[k], reach_of(grid)));
    reach = std::max(reach, tandem::length(views.back().source));
    for (const Vector3& corner : views.back().corners) reach = std::max(reach, tandem::length(corner));
  }
  std::vector<io::Picture> pictures;
  for (const auto& [across, up, words] : {std::tuple{0, 1, "from above: x to the right, y up"},
                                          std::tuple{0, 2, "from the front: x to the right, z up"},
                                          std::tuple{1, 2, "from the side: y to the right, z up"}}) {
    Drawing drawing(across, up, reach);
    for (const Drawn& view : views) drawing.point(view.source, 0.5F, 1);
    draw_view(drawing, views.front(), 0);
    draw_box(drawing, box_of(grid), 0.3F);
    drawing.picture.captions = {words, "dark: view 0; dots: sources"};
    pictures.push_back(std::move(drawing.picture));
  }
  return pictures;
}

}  // namespace tandem::apps
