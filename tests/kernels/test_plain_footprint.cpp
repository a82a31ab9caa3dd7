// The work of a thread of the plain footprint kernels, on the CPU against the projector there; needs no GPU.

#include <gtest/gtest.h>

#include <vector>

#include "../../geometry/flexible_views.hpp"
#include "../../kernels/cuda/footprint/plain_footprint.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

using namespace kernels;
using namespace kernels::cuda;

/// Projects as the kernel does: two bins and `run` rows a thread, four threads a pair of bins.
template <int run>
Array project(const ConeViews& views, const Array& x, const Space& range) {
  const Image<const float> volume = image(ConstVectorView(x));
  Array out(range);
  const Image<float> cells = image(tandem::VectorView(out));
  for (Index v = 0; v < cells.n0; ++v)
    for (Index row = 0; row < cells.n1; row += run)
      for (Index bin = 0; bin < cells.n2; bin += 2) {
        const ConeView& view = views.views[static_cast<std::size_t>(v)];
        const PlainFrame n(view);
        const PlainRay ray = ray_between(n, bin, row, volume);
        float sum[2][run] = {};
        for (int phase = 0; phase < 4; ++phase) add_lines(n, ray, volume, phase, 4, sum);
        for (Index b = 0; b < std::min<Index>(2, cells.n2 - bin); ++b)
          for (Index r = 0; r < std::min<Index>(run, cells.n1 - row); ++r)
            cells(v, row + r, bin + b) =
                sum[b][r] *
                static_cast<float>(slant_of<double>(view, row + r, bin + b) * views.pitch * n.voxel);
      }
  return out;
}

template <int run>
Array back_project(const ConeViews& views, const Array& q, const Space& domain) {
  const Image<const float> in = image(ConstVectorView(q));
  Array out(domain);
  const Image<float> volume = image(tandem::VectorView(out));
  std::vector<float> slants;
  for (const ConeView& view : views.views)
    for (Index row = 0; row < in.n1; ++row)
      for (Index bin = 0; bin < in.n2; ++bin) slants.push_back(slant_of<float>(view, row, bin));
  for (Index z = 0; z < volume.n0; z += run)
    for (Index y = 0; y < volume.n1; y += columns_a_thread)
      for (Index x = 0; x < volume.n2; ++x) {
        float sum[columns_a_thread][run] = {};
        for (Index v = 0; v < in.n0; ++v)
          add_view(PlainFrame(views.views[static_cast<std::size_t>(v)]),
                   {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)},
                   {&in(v, 0, 0), in.s1, &slants[static_cast<std::size_t>(v * in.n1 * in.n2)],
                    static_cast<int>(in.n1), static_cast<int>(in.n2)},
                   sum);
        for (Index j = 0; j < std::min<Index>(columns_a_thread, volume.n1 - y); ++j)
          for (Index k = 0; k < std::min<Index>(run, volume.n0 - z); ++k)
            volume(z + k, y + j, x) = sum[j][k] * static_cast<float>(views.pitch);
      }
  return out;
}

ConeViews views_in(const ConeBeam& scan, const VolumeGrid& grid) { return pack(scan, grid); }
ConeViews views_in(const FlexibleBeam& scan, const VolumeGrid& grid) { return *pack(scan, grid).upright; }

template <int run>
void expect_agreement(const auto& scan, const VolumeGrid& grid, const std::string& what) {
  const LinearOperator A = projector(scan, grid);
  const ConeViews views = views_in(scan, grid);
  const Array x = random_array(A.domain(), 2), q = random_array(A.range(), 3);
  EXPECT_LE(relative_error(project<run>(views, x, A.range()), A * x), tolerance::devices)
      << "forward, " << what;
  EXPECT_LE(relative_error(back_project<run>(views, q, A.domain()), adjoint(A) * q), tolerance::devices)
      << "back, " << what;
}

TEST(PlainFootprint, FansAgreeWithTheProjector) {
  ConeBeam scan = far_cone(31, 1, 83);
  for (const double pitch : {0.05, 0.5, 0.8, 1.1, 3.0})
    for (const auto& [nx, ny] : {std::pair<Index, Index>{37, 41}, {1, 29}, {30, 1}}) {
      const VolumeGrid grid = box(nx, ny, 1, pitch);
      const std::string what = std::to_string(pitch) + " mm, " + std::to_string(nx) + " columns";
      scan.midplane_row = 0.2;
      expect_agreement<1>(scan, grid, what);
      expect_agreement<1>(scan, tall_voxels(FanBeam{scan}, grid), "tall, " + what);
      expect_agreement<1>(scan, flat_voxels(FanBeam{scan}, grid), "flat, " + what);
    }
}

TEST(PlainFootprint, RightAnglesAndOddPlacesAgreeWithTheProjector) {
  ConeBeam scan = far_cone(8, 3, 65);
  for (std::size_t v = 0; v < 8; ++v) scan.angles[v] = static_cast<double>(v) * half_turn / 4;
  expect_agreement<4>(scan, box(37, 41, 5, 0.5), "right angles");
  expect_agreement<4>(scan, region(box(37, 41, 29, 0.5), {20, 37}, {3, 11}, {2, 27}), "a region");
  scan.midplane_row = -20, scan.detector.axis_bin = 80;
  expect_agreement<4>(scan, {{37, 41, 29}, {0.5, 0.5, 0.5}, {-5, 3, 12}}, "off the midplane");
}

TEST(PlainFootprint, AnySizeAgreesWithTheProjector) {
  for (const Index rows : {1, 2, 5, 30})
    for (const Index slices : {1, 3, 4, 21}) {
      const std::string what = std::to_string(rows) + " rows, " + std::to_string(slices) + " slices";
      expect_agreement<1>(far_cone(7, rows, 43), box(21, 19, slices, 0.7), what);
      expect_agreement<4>(far_cone(7, rows, 43), box(21, 19, slices, 0.7), what);
    }
  for (const double pitch_z : {0.05, 0.2, 1.5, 40.0}) {
    VolumeGrid grid = box(21, 19, 9, 0.5);
    grid.pitch[2] = pitch_z;
    expect_agreement<4>(far_cone(7, 31, 43), grid, std::to_string(pitch_z) + " mm high");
  }
}

/// Up to the source; and bins whose edges lie on both sides of a line's direction.
TEST(PlainFootprint, NearAndWideOnesAgreeWithTheProjector) {
  ConeBeam scan = odd_cone(23, 5, 43);
  scan.sod = 14;
  expect_agreement<4>(scan, box(25, 27, 5, 0.7), "near");
  for (const Index bins : {1, 2, 3}) {
    ConeBeam wide = far_cone(23, 3, bins);
    wide.detector.bin_pitch = 400.0 / static_cast<double>(bins);
    wide.detector.axis_bin = 0.5 * static_cast<double>(bins - 1) + 0.1;
    expect_agreement<4>(wide, box(37, 41, 3, 0.5), std::to_string(bins) + " bins");
  }
}

/// Sizes at which float holds a position among thousands of bins or rows to 1e-4 only.
TEST(PlainFootprint, LargeOnesAgreeWithTheProjector) {
  ConeBeam scan = far_cone(5, 2, 6001);
  scan.detector.bin_pitch = 0.013, scan.detector.axis_bin = 2900.3;
  expect_agreement<1>(scan, box(301, 5, 1, 0.007), "bins");
  expect_agreement<1>(scan, region(box(3001, 2903, 1, 0.007), {2950, 3001}, {11, 31}, {0, 1}), "columns");
  scan = far_cone(5, 2900, 61);
  scan.detector.row_pitch = 0.013, scan.midplane_row = 1450.3;
  VolumeGrid grid = box(21, 9, 2000, 0.5);
  grid.pitch[2] = 0.007;
  expect_agreement<4>(scan, region(grid, {0, 21}, {0, 9}, {1900, 2000}), "rows");
}

TEST(PlainFootprint, UprightViewsAgreeWithTheProjector) {
  Random random(9);
  for (const double pitch : {0.3, 0.8}) {
    expect_agreement<4>(random_upright_views(9, 7, 43, 30 * pitch, random), box(21, 19, 9, pitch),
                        std::to_string(pitch));
    expect_agreement<1>(random_upright_views(9, 1, 43, 30 * pitch, random), box(21, 19, 1, pitch),
                        std::to_string(pitch));
  }
}

}  // namespace
}  // namespace tandem::test
