#include "geometry_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/vector3.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../command.hpp"
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
std::vector<std::size_t> shown(std::size_t views) {
  constexpr std::size_t most = 360;
  std::vector<std::size_t> some;
  const std::size_t count = std::min(views, most);
  for (std::size_t k = 0; k < count; ++k) some.push_back(k * views / count);
  return some;
}

/// A view as it is drawn. Parallel rays begin as far away as the volume reaches.
struct Drawn {
  Vector3 source;
  std::array<Vector3, 4> corners, from;
  std::vector<Vector3> outline;  ///< outline of the detector
};

/// Points along the edges of a detector, first along row 0; for a flat detector its corners.
std::vector<Vector3> outline_of(const FlexibleBeam& scan, const FlexibleView& view) {
  const int steps = scan.curved ? 24 : 1;
  std::vector<Vector3> points;
  for (const double end : {-0.5, 0.5})
    for (int k = 0; k <= steps; ++k) {
      const double along = 1.0 * k / steps - 0.5, side = end < 0 ? along : -along;
      points.push_back(point_on(scan, view, end * scan.detector.rows, side * scan.detector.bins));
    }
  return points;
}

Drawn drawn(const FlexibleBeam& scan, std::size_t number, double reach) {
  const FlexibleView& view = scan.views[number];
  const Vector3 far = reach / tandem::length(view.source) * view.source, none{};
  Drawn all{scan.parallel ? view.detector - far : view.source, {}, {}, outline_of(scan, view)};
  if (scan.parallel)
    for (Vector3& point : all.outline) point = point + far;
  for (std::size_t k = 0; k < 4; ++k) {
    const double side = k == 1 || k == 2 ? 0.5 : -0.5, end = k < 2 ? -0.5 : 0.5;
    const Vector3 corner = point_on(scan, view, end * scan.detector.rows, side * scan.detector.bins);
    all.corners[k] = corner + (scan.parallel ? far : none);
    all.from[k] = scan.parallel ? corner - far : view.source;
  }
  return all;
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
  const FlexibleBeam free = as_free_views(scan);
  const std::vector<double> all = io::numbers_of(free);
  json views = json::array(), numbers = json::array();
  for (const std::size_t k : shown(free.views.size())) {
    views.push_back(std::vector<double>(all.begin() + 12 * k, all.begin() + 12 * k + 12));
    numbers.push_back(k);
  }
  const json data = {{"file", file},
                     {"words", words},
                     {"views", views},
                     {"numbers", numbers},
                     {"count", free.views.size()},
                     {"parallel", free.parallel},
                     {"curved", free.curved},
                     {"axis", axis_of(scan).has_value()},
                     {"rows", free.detector.rows},
                     {"bins", free.detector.bins},
                     {"box", box_of(grid)},
                     {"reach", reach_of(grid)},
                     {"size", grid.size},
                     {"pitch", grid.pitch}};
  const std::string text = geometry_page_text, mark = "{{geometry}}";
  const std::size_t at = text.find(mark);
  return text.substr(0, at) + inside_html(data) + text.substr(at + mark.size());
}

std::vector<io::Picture> geometry_pictures(const Scan& scan, const VolumeGrid& grid) {
  const FlexibleBeam free = as_free_views(scan);
  std::vector<Drawn> views;
  double reach = 0;
  for (const std::size_t k : shown(free.views.size())) {
    views.push_back(drawn(free, k, reach_of(grid)));
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
