// Which views walk together in the projection by tensor cores; needs no GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../kernels/cuda/parallel/view_groups.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::kernels::cuda {
namespace {

struct Case {
  ParallelViews packed;
  Index nx, ny;
  int segment;  ///< one that nobody chose

  Index pixels(bool turned) const { return turned ? ny : nx; }
  Index lines(bool turned) const { return turned ? nx : ny; }
  Plan chosen(bool turned) const { return plan(packed, turned, pixels(turned), lines(turned)); }
  std::vector<Plan> plans(bool turned) const {
    return {chosen(turned), {segment, groups_of(packed, order_of(packed, turned), turned, segment)}};
  }
};

/// Arcs of a few degrees to a whole turn, odd grids, pixels of 0.5 to 1.4 bins; multiples of 45 degrees too.
std::vector<Case> cases() {
  std::vector<Case> all;
  Random random(17);
  const auto up_to = [&](Index most) { return 1 + static_cast<Index>(random.bits() % most); };
  const auto add = [&](ParallelBeam scan, Index nx, Index ny, double pitch) {
    scan.detector.rows = 1;
    for (const Model model : {Model::pixel_driven, Model::joseph})
      all.push_back({pack(scan, test::grid_of(nx, ny, 1, pitch * scan.detector.bin_pitch), model), nx, ny,
                     tile_lines * static_cast<int>(up_to(40))});
  };
  for (int trial = 0; trial < 60; ++trial) {
    ParallelBeam scan = test::scan_of(up_to(150), 1, 61, 1, random.bits());
    const double arc = 2 * random.uniform() * random.uniform();
    for (double& angle : scan.angles) angle *= arc;
    add(scan, up_to(500), up_to(500), 0.5 + 0.9 * random.uniform());
  }
  for (const test::ProjectorCase& c : test::projector_cases())
    for (const double pitch : {0.5, 1.0, 1.4}) add(c.scan, c.grid.size[0], c.grid.size[1], pitch);
  return all;
}

/// Real positions between which the hats of a strip's pixels lie.
struct Reach {
  double lowest = INFINITY, highest = -INFINITY;
};

Reach reach_of(const ParallelView& v, bool turned, const Group& g, int segment, int left, int line0) {
  const double along = turned ? v.step_y : v.step_x, across = turned ? v.step_x : v.step_y;
  const double radius = static_cast<double>(v.height) / v.slope;
  Reach reach;
  for (int line = 0; line < segment; ++line)
    for (int p = 0; p < strip; ++p) {
      const int pixel = left + moved(g.drift, line / 2 * 2) + p;  // lines move in pairs
      const double position = v.origin + along * pixel + across * (line0 + line);
      reach.lowest = std::min(reach.lowest, position - radius);
      reach.highest = std::max(reach.highest, position + radius);
    }
  return reach;
}

TEST(ViewGroups, HaveEveryViewOnceAmongThoseOfItsKind) {
  for (const Case& c : cases()) {
    std::vector<int> times(c.packed.views.size());
    for (const bool turned : {false, true})
      for (const Group& g : c.chosen(turned).groups)
        for (const int v : g.views) {
          if (v < 0) continue;
          const ParallelView& view = c.packed.views[static_cast<std::size_t>(v)];
          ++times[static_cast<std::size_t>(v)];
          EXPECT_EQ(std::abs(view.step_y) > std::abs(view.step_x), turned);
        }
    EXPECT_EQ(times, std::vector<int>(times.size(), 1));
  }
}

TEST(ViewGroups, HaveAllBinsThatAStripMeetsInTheWindow) {
  for (const Case& c : cases())
    for (const bool turned : {false, true})
      for (const auto& [segment, groups] : c.plans(turned))
        for (const Group& g : groups)
          for (const int v : g.views) {
            if (v < 0) continue;
            const ParallelView& view = c.packed.views[static_cast<std::size_t>(v)];
            const int last = columns_of(c.pixels(turned), segment) * strips - 1,
                      line0 = (parts_of(c.lines(turned), segment) - 1) * segment;
            for (const int left : {g.left, g.left + last / 2 * strip, g.left + last * strip}) {
              const int first = first_bin(view, turned, g.drift, segment, left, line0);
              const Reach reach = reach_of(view, turned, g, segment, left, line0);
              ASSERT_GE(reach.lowest - tolerance::tensor_position, first - 1) << "view " << v;
              ASSERT_LE(reach.highest + tolerance::tensor_position, first + window) << "view " << v;
            }
          }
}

TEST(ViewGroups, MeetEveryPixelOfEveryLine) {
  for (const Case& c : cases())
    for (const bool turned : {false, true})
      for (const auto& [segment, groups] : c.plans(turned))
        for (const Group& g : groups)
          for (int line = 0; line < segment; line += 2) {
            const int left = g.left + moved(g.drift, line);
            ASSERT_LE(left, 0);
            ASSERT_GE(left + columns_of(c.pixels(turned), segment) * width, c.pixels(turned));
          }
}

}  // namespace
}  // namespace tandem::kernels::cuda
