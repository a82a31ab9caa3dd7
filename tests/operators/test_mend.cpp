#include <gtest/gtest.h>

#include <cmath>

#include "../../geometry/phantom.hpp"
#include "../../operators/mend.hpp"
#include "../support/cone_scans.hpp"
#include "../support/operators.hpp"
#include "../support/property.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

using kernels::MetalRow;
using kernels::MetalTrace;

/// A row, with the trace where `within` says so, and what a prior has of it; mended.
std::vector<float> mended(std::vector<float> q, const std::vector<float>& within,
                          const std::vector<float>& prior) {
  MetalRow{q.data(), within.data(), prior.data(), std::ssize(q), MetalTrace{0.5F, 0.1F}}.mend();
  return q;
}

TEST(Mend, FindsWhatThePriorHasUpToAFactor) {
  EXPECT_TRUE(holds("a row that is proportional to its prior is restored", [] {
    const int bins = *rc::gen::inRange(3, 40), from = *rc::gen::inRange(1, bins),
              to = *rc::gen::inRange(from, bins + 1);
    const float factor = 0.25F * static_cast<float>(*rc::gen::inRange(1, 20));
    std::vector<float> within(bins, 0.0F), prior, truth, metal;
    for (int b = 0; b < bins; ++b) {
      within[b] = b >= from && b < to ? 1.0F : 0.0F;
      prior.push_back(0.2F + static_cast<float>(*rc::gen::inRange(0, 100)));
      truth.push_back(factor * prior.back());
      metal.push_back(within[b] > 0 ? 99.0F : truth.back());
    }
    const std::vector<float> found = mended(metal, within, prior);
    const bool one_left = from + (bins - to) < 2;  // a single ray tells no ratio to go by
    for (int b = 0; b < bins; ++b)
      if (!one_left) RC_ASSERT(std::abs(found[b] - truth[b]) <= 1e-5F * truth[b]);
  }));
}

TEST(Mend, IsLinearWhereThePriorTellsNothing) {
  const std::vector<float> nothing(7, 0.0F), row{9, 1, 9, 9, 4, 9, 9};
  EXPECT_EQ(mended(row, {1, 0, 1, 1, 0, 1, 1}, nothing), (std::vector<float>{1, 1, 2, 3, 4, 4, 4}));
  EXPECT_EQ(mended(row, {1, 1, 1, 1, 1, 1, 1}, nothing), row) << "no ray is outside";
  EXPECT_EQ(mended(row, {0, 0, 0.5F, 0, 0, 0, 0}, nothing), row) << "no ray is inside";
}

/// A brick of metal in a cuboid, on a grid whose voxels are twice as wide as bins.
MetalFound found_on(const VolumeGrid& grid) {
  Array grown(Space(grid.shape())), prior(Space(grid.shape())), values(Space(grid.shape()));
  const auto [nx, ny, nz] = grid.size;
  for (Index z = 0; z < nz; ++z)
    for (Index y = 0; y < ny; ++y)
      for (Index x = 0; x < nx; ++x) {
        const Index at = (z * ny + y) * nx + x;
        const bool body = x > 1 && x < nx - 2 && y > 2 && y < ny - 2,
                   metal = x == nx / 2 && y == ny / 3 && z > 0;
        prior.data()[at] = body ? 0.02F + 0.001F * static_cast<float>(x + z) : 0.0F;
        grown.data()[at] = metal ? 1.0F : 0.0F,
        values.data()[at] = metal ? 0.5F + 0.1F * static_cast<float>(z) : 0.0F;
      }
  return {std::move(grown), std::move(prior), std::move(values), {0.05F, 0.001F}};
}

VolumeGrid wide(const Scan& scan, Index rows_together) {
  VolumeGrid grid = fitting_grid(scan);
  for (int axis = 0; axis < 3; ++axis) {
    const Index times = axis < 2 ? 2 : rows_together;
    grid.size[axis] = grid.size[axis] / times, grid.pitch[axis] *= static_cast<double>(times);
  }
  return grid;
}

Array part_of_rows(const Array& all, Range rows) {
  const Image<const float> from = image(ConstVectorView(all));
  Array part(Space({from.n0, rows.size(), from.n2}));
  copy({&from(0, rows.first, 0), from.n0, rows.size(), from.n2, from.s0, from.s1}, image(VectorView(part)),
       default_stream(Device::cpu()));
  return part;
}

TEST(Mend, RowsOfAParallelBeamTakeTheirSlices) {
  const ParallelBeam scan = scan_of(17, 6, 32);
  const Mend mend(wide(scan, 2), found_on(wide(scan, 2)));
  Array whole = random_array(projection_space(scan), 5);
  const Array before = whole.clone();
  Array parts = before.clone();
  mend(whole, scan, {0, 2});
  EXPECT_EQ(relative_error(part_of_rows(whole, {0, 2}), part_of_rows(before, {0, 2})), 0) << "no metal there";
  EXPECT_GT(relative_error(part_of_rows(whole, {2, 4}), part_of_rows(before, {2, 4})), 0.01);
  for (const Range rows : {Range{0, 1}, Range{1, 5}, Range{5, 6}}) {
    Array part = part_of_rows(before, rows);
    Array some(projection_space(with_rows(scan, rows.size())));
    std::copy_n(part.data(), part.size(), some.data());
    mend(some, with_rows(scan, rows.size()), {rows.first, 2});
    EXPECT_EQ(relative_error(some, part_of_rows(whole, rows)), 0) << rows.first;
  }
}

TEST(Mend, RowsOfAConeTakeTheRaysThatCrossMetal) {
  const ConeBeam scan = far_cone(9, 8, 24);
  const VolumeGrid grid = wide(scan, 2);
  const MetalFound found = found_on(grid);
  const Array lengths =
      line_integrals_of(found.grown, grid, {0, grid.size[2]}, scan, default_stream(Device::cpu()));
  const Mend mend(grid, found);
  Array y = random_array(projection_space(scan), 5);
  const Array before = y.clone();
  mend(y, scan);
  Index changed = 0;
  for (Index k = 0; k < y.size(); ++k) {
    changed += y.data()[k] != before.data()[k] ? 1 : 0;
    if (lengths.data()[k] < 0.049F) {
      EXPECT_EQ(y.data()[k], before.data()[k]) << k;
    }
  }
  EXPECT_GT(changed, 0);
  const Index views = 4;
  Array some(projection_space(crop(scan, {2, 2 + views})));
  std::copy_n(before.data() + 2 * (y.size() / 9), some.size(), some.data());
  mend(some, crop(Scan(scan), {2, 2 + views}));
  for (Index k = 0; k < some.size(); ++k)
    EXPECT_NEAR(some.data()[k], y.data()[2 * (y.size() / 9) + k], 1e-5) << k;
}

TEST(Mend, MetalComesBackWhereItLies) {
  const ParallelBeam scan = scan_of(5, 6, 32);
  const VolumeGrid coarse = wide(scan, 2), fine = fitting_grid(scan);
  const Mend mend(coarse, found_on(coarse));
  const Range x{10, 24}, y{3, 20}, z{1, 5};
  const VolumeGrid part = region(fine, x, y, z);
  Array volume(Space(part.shape()));
  mend.put_back(volume, part);
  for (Index iz = z.first; iz < z.last; ++iz)
    for (Index iy = y.first; iy < y.last; ++iy)
      for (Index ix = x.first; ix < x.last; ++ix) {
        const bool metal = ix / 2 == coarse.size[0] / 2 && iy / 2 == coarse.size[1] / 3 && iz / 2 > 0;
        const float value =
            volume.data()[((iz - z.first) * y.size() + iy - y.first) * x.size() + ix - x.first];
        EXPECT_EQ(value, metal ? 0.5F + 0.1F * static_cast<float>(iz / 2) : 0.0F)
            << ix << ' ' << iy << ' ' << iz;
      }
}

}  // namespace
}  // namespace tandem::test
