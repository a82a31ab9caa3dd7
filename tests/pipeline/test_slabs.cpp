// FDK by groups of views in slabs of slices, each with its own rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../../pipeline/plan/grids.hpp"
#include "../../pipeline/plan/make_problem.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::regular_angles;

/// A tall detector, since a slab needs some 20 rows beside its own.
Simulation tall_simulation() {
  Simulation s;
  s.phantom = "ellipsoids";
  s.scan = ConeBeam{{31, 150, 0.5, 0.5, 15.4}, regular_angles(40, whole_turn), 120, 180, 70.6};
  s.grid = fitting_grid(s.scan);
  s.photons = 2e4;
  return s;
}

class Slabs : public ::testing::Test {
 protected:
  Slabs() {
    test::write_scan(path_, SimulatedScan(tall_simulation()));
    recipe_.model = Model::hierarchical;
  }
  Plan plan() const { return make_plan(io::open_scan(path_)->info(), recipe_); }
  std::vector<float> volume(Index slices_at_once = 0) {
    return reconstructed(path_, recipe_, slices_at_once);
  }
  /// The largest difference between a volume in slabs and that at once, over the largest value.
  double difference(Index slices_at_once) {
    const std::vector<float> whole = volume(), slabs = volume(slices_at_once);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(whole[i]) - static_cast<double>(slabs[i])));
      largest = std::max(largest, std::abs(static_cast<double>(whole[i])));
    }
    return worst / largest;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  Recipe recipe_;
};

TEST_F(Slabs, MakeNoDifference) {
  EXPECT_EQ(route_of(plan().flow).name, "slabs");
  EXPECT_EQ(plan().flow.chunk_slices, 150);
  for (const Index slices : {1, 16, 33, 80}) EXPECT_LE(difference(slices), tolerance::region) << slices;
}

TEST_F(Slabs, ReadTheRowsThatTheyNeed) {
  const Plan all = plan();
  for (const Range slices : {Range{0, 16}, Range{64, 80}, Range{100, 150}}) {
    const Range rows = rows_of(all, slices), met = rows_met(all.job.scan, all.job.grid, slices);
    EXPECT_EQ(rows.first, std::max<Index>(0, met.first - all.job.rows_beside));
    EXPECT_EQ(rows.last, std::min<Index>(150, met.last + all.job.rows_beside));
    EXPECT_LT(rows.size(), 120);
    EXPECT_LE(rows.size(), route_of(all.flow).rows_made(all, slices.size()));
  }
  EXPECT_EQ(rows_of(all, {0, 150}), (Range{0, 150}));
}

TEST_F(Slabs, MakeNoDifferenceAfterStepsOnNeighbours) {
  recipe_.steps["remove-stripe-method"] = std::string("sf");
  recipe_.steps["dezinger"] = 3;
  EXPECT_LE(difference(48), tolerance::region);
}

TEST_F(Slabs, AreSharedByDevices) {
  const std::vector<float> whole = volume();
  recipe_.devices = {Device::cpu(), Device::cpu(), Device::cpu()};
  const Plan shared = plan();
  EXPECT_EQ(shared.flow.workers.size(), 3u);
  EXPECT_EQ(shared.flow.chunk_slices, 64);  // a third, in whole vectors
  const std::vector<float> slabs = volume();
  const float largest = *std::ranges::max_element(whole);
  for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(whole[i], slabs[i], tolerance::region * largest);
}

/// What a slab's kernels take is planned from what those of all slices take.
TEST_F(Slabs, TakeNoMoreMemoryThanPlanned) {
  const Plan all = plan();
  const Worker& worker = all.flow.workers.front();
  for (const Range slices : {Range{0, 16}, Range{16, 32}, Range{48, 112}, Range{90, 150}}) {
    const auto [nx, ny, nz] = all.job.grid.size;
    const ConeBeam scan = filtered_scan(std::get<ConeBeam>(scan_of(all, slices)));
    EXPECT_LE(scan.detector.rows, route_of(all.flow).rows_made(all, slices.size()));
    const WorkingMemory planned = all.flow.pair.placement->working_memory(
        all, worker, {slices.size(), ny, nx}, {views_of(all.job.scan), scan.detector.rows, 31});
    const WorkingMemory taken = hierarchical_memory(scan, region(all.job.grid, {0, nx}, {0, ny}, slices),
                                                    Device::cpu(), {}, AlongRows::as_footprints);
    EXPECT_LE(taken.backward, planned.backward) << slices.first;
    EXPECT_GE(taken.backward, 0.5 * planned.backward) << slices.first;
  }
}

}  // namespace
}  // namespace tandem::pipeline
