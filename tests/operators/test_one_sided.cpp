// FBP and FDK of circles whose detector reaches farther on one side of the axis, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/projector.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Index bins = 160, views = 240;
constexpr double mu = 0.01;

/// A fan whose axis lies `offset` bins below the middle, cells of 1.5 mm, 1 mm at the axis.
FanBeam fan(double offset) {
  return {
      {{bins, 1, 1.5, 1.5, 0.5 * (bins - 1) - offset}, test::regular_angles(views, whole_turn), 300, 450, 0}};
}

VolumeGrid grid_of_field(const ConeBeam& scan) {
  VolumeGrid grid = fitting_grid(scan);
  const double across = 2 * sides(scan.detector).farther;
  grid.size[0] = grid.size[1] = static_cast<Index>(across);
  return grid;
}

Array line_integrals(const Phantom& body, const ConeBeam& scan) {
  Array y(projection_space(scan));
  project(body, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())}, 3);
  return y;
}

Phantom disc_at(double x, double y, double radius) {
  return {{{mu, {radius, radius, INFINITY}, {x, y, 0}, 0}}};
}

double patch_mean(const Array& volume, const VolumeGrid& grid, double x, double y, double radius) {
  double sum = 0, count = 0;
  for (Index iy = 0; iy < grid.size[1]; ++iy)
    for (Index ix = 0; ix < grid.size[0]; ++ix)
      if (std::hypot(grid.x(static_cast<double>(ix)) - x, grid.y(static_cast<double>(iy)) - y) < radius) {
        sum += static_cast<double>(volume.data()[iy * grid.size[0] + ix]);
        ++count;
      }
  return sum / count;
}

TEST(OneSidedCircle, DiscReadsItsAttenuationAtAnyOffset) {
  for (const double offset : {0.0, 0.6, 1.2, -2.0, 5.3, -15.3, 35.3, 60.3}) {
    const FanBeam scan = fan(offset);
    const VolumeGrid grid = grid_of_field(scan);
    const double field = 0.95 * sides(scan.detector).farther, x = 0.4 * field, y = 0.2 * field;
    const Array volume = fdk(scan, grid) * line_integrals(disc_at(x, y, 0.5 * field), scan);
    EXPECT_NEAR(patch_mean(volume, grid, x, y, 0.45 * field) / mu, 1, tolerance::fbp_patch) << offset;
  }
}

TEST(OneSidedCircle, DiscReadsItsAttenuationByEachModelOfAFan) {
  const FanBeam scan = fan(0.6);
  const VolumeGrid grid = grid_of_field(scan);
  const double field = 0.95 * sides(scan.detector).farther;
  const Array data = line_integrals(disc_at(0.2 * field, 0, 0.5 * field), scan);
  for (const Model model : {Model::separable_footprint, Model::pixel_driven, Model::hierarchical}) {
    const Array volume = fdk(scan, grid, {}, model) * data;
    EXPECT_NEAR(patch_mean(volume, grid, 0.2 * field, 0, 0.45 * field) / mu, 1, tolerance::fbp_patch)
        << name_of(model);
  }
  EXPECT_THROW(fdk(scan, grid, {}, Model::joseph), GeometryError)
      << "which would read several times too much";
}

/// A disc that one side alone sees as it goes round: without bins for its filtered rows half of it is lost.
TEST(OneSidedCircle, ReadsWhatOneSideAloneSees) {
  for (const double offset : {5.3, -9.8, 18.1}) {
    const FanBeam scan = fan(offset);
    const VolumeGrid grid = grid_of_field(scan);
    const Sides side = sides(scan.detector);
    const double radius = 0.4 * (side.farther - side.nearer), x = 0.5 * (side.farther + side.nearer) - 1;
    const Array volume = fdk(scan, grid) * line_integrals(disc_at(x, 0, radius), scan);
    EXPECT_NEAR(patch_mean(volume, grid, x, 0, radius - 2) / mu, 1, tolerance::one_sided_disc) << offset;
  }
}

/// The scan is as if the columns that only one side sees were cut away: if rays are not weighed, noise is the
/// same.
TEST(OneSidedCircle, NoiseAwayFromTheRimIsThatOfACentredDetector) {
  for (const Index missing : {3, 8, 21}) {
    FanBeam scan = fan(0.5 * static_cast<double>(missing));
    scan.angles = test::regular_angles(720, whole_turn);
    const Index cut = bins - missing;
    FanBeam centred = scan;
    centred.detector.bins = cut;
    const VolumeGrid grid = test::grid_of(71, 71, 1);  // 16 bins within the nearer side of at least 69
    Random random(5);
    Array noise(projection_space(scan)), part(projection_space(centred));
    for (Index i = 0; i < noise.size(); ++i) noise.data()[i] = static_cast<float>(random.uniform() - 0.5);
    for (Index v = 0; v < 720; ++v) std::copy_n(noise.data() + v * bins, cut, part.data() + v * cut);
    EXPECT_LE(test::relative_error(fdk(scan, grid) * noise, fdk(centred, grid) * part),
              tolerance::noise_of_weighed_rays)
        << missing;
  }
}

// ---- Parallel beams: half acquisitions

/// A detector that reaches `beyond` bins less on one side, `low` or not, of the axis in the middle of
/// `whole`.
struct HalfAndWhole {
  ParallelBeam half, whole;
  Range bins;  ///< bins of the whole
};
HalfAndWhole half_and_whole(Index whole_bins, Index missing, bool low, Index rows = 1) {
  ParallelBeam whole{{whole_bins, rows, 1, 1, 0.5 * static_cast<double>(whole_bins - 1)},
                     test::regular_angles(240, whole_turn),
                     {}};
  const Range kept = low ? Range{missing, whole_bins} : Range{0, whole_bins - missing};
  const ParallelBeam half = crop(whole, {0, 240}, {0, rows}, kept);
  return {half, std::move(whole), kept};
}

Array cut(const Array& y, const ParallelBeam& half, Range kept) {
  Array part(projection_space(half));
  const Image<const float> all = image(ConstVectorView(y));
  const Image<float> some = image(VectorView(part));
  for (Index v = 0; v < some.n0; ++v)
    for (Index row = 0; row < some.n1; ++row)
      for (Index b = 0; b < some.n2; ++b) some(v, row, b) = all(v, row, kept.first + b);
  return part;
}

Array line_integrals(const Phantom& body, const ParallelBeam& scan) {
  Array y(projection_space(scan));
  project(body, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())});
  return y;
}

LinearOperator direct_fbp(const ParallelBeam& scan, const VolumeGrid& grid) {
  return fbp(projector(symmetric(scan), grid), scan, grid);
}

/// Opposite rays of a circle of an even number of views have the same line integrals. So it does not matter
/// which of them count, if the rays of each line count one together. The axis is on a bin or between two.
TEST(HalfAcquisition, IsTheWholeScanWhereOppositeRaysFallOnBins) {
  for (const Index whole_bins : {161, 160})
    for (const auto& [missing, low] :
         {std::pair<Index, bool>{9, false}, {34, true}, {61, false}, {79, true}}) {
      const auto [half, whole, kept] = half_and_whole(whole_bins, missing, low);
      ASSERT_TRUE(half_acquisition(half));
      const VolumeGrid grid = test::grid_of(149, 151, 1);
      const Array y = line_integrals(disc_at(20, 31, 30), whole);
      const Array expected = direct_fbp(whole, grid) * y;
      EXPECT_LE(test::relative_error(direct_fbp(half, grid) * cut(y, half, kept), expected),
                tolerance::opposite_rays)
          << whole_bins << ", " << missing;
      EXPECT_LE(
          test::relative_error(fourier_fbp(half, grid) * cut(y, half, kept), fourier_fbp(whole, grid) * y),
          tolerance::opposite_rays)
          << whole_bins << ", " << missing;
    }
}

TEST(HalfAcquisition, DiscReadsItsAttenuationForAnyAxis) {
  for (const double axis : {20.37, 3.9, 131.2}) {
    const ParallelBeam scan{{160, 1, 1, 1, axis}, test::regular_angles(361, whole_turn), {}};
    const double field = 0.95 * sides(scan.detector).farther, x = 0.4 * field, y = 0.2 * field;
    const VolumeGrid grid = fitting_grid(scan);
    const Array data = line_integrals(disc_at(x, y, 0.5 * field), scan);
    for (const LinearOperator& B : {direct_fbp(scan, grid), fourier_fbp(scan, grid)})
      EXPECT_NEAR(patch_mean(B * data, grid, x, y, 0.45 * field) / mu, 1, tolerance::fbp_patch) << axis;
  }
}

LinearOperator fbp_by(bool through_frequencies, const ParallelBeam& scan, const VolumeGrid& grid) {
  return through_frequencies ? fourier_fbp(scan, grid) : direct_fbp(scan, grid);
}

/// Each row about its own axis, as if it were alone with this axis.
TEST(HalfAcquisition, RowsHaveAxesOfTheirOwn) {
  ParallelBeam scan{{160, 3, 1, 1, 40}, test::regular_angles(240, whole_turn), {40, 34, 47}};
  const VolumeGrid grid = test::grid_of(149, 149, 3);
  for (const bool through_frequencies : {false, true}) {
    Array data(projection_space(scan)), expected(volume_space(grid));
    for (Index row = 0; row < 3; ++row) {
      ParallelBeam alone = scan;
      alone.row_axis_bins.clear();
      alone.detector.rows = 1, alone.detector.axis_bin = scan.row_axis_bins[static_cast<std::size_t>(row)];
      const Array y = line_integrals(disc_at(20, 31, 35), alone);
      for (Index v = 0; v < 240; ++v) std::copy_n(y.data() + v * 160, 160, data.data() + (v * 3 + row) * 160);
      const VolumeGrid slice = test::grid_of(149, 149, 1);
      const Array x = fbp_by(through_frequencies, alone, slice) * y;
      std::copy_n(x.data(), x.size(), expected.data() + row * x.size());
    }
    EXPECT_LE(test::relative_error(fbp_by(through_frequencies, scan, grid) * data, expected),
              through_frequencies ? tolerance::fourier_of_moved_rows : tolerance::opposite_rays);
  }
}

/// The weights change nothing about the operators' being each other's transpose.
TEST(HalfAcquisition, FbpHasItsTranspose) {
  const ParallelBeam scan{{31, 2, 1, 1, 8.3}, test::regular_angles(24, whole_turn), {8.3, 9.1}};
  const VolumeGrid grid = fitting_grid(scan);
  EXPECT_LE(adjointness(direct_fbp(scan, grid)).mismatch, tolerance::composed_mismatch);
  EXPECT_LE(adjointness(fourier_fbp(scan, grid)).mismatch, tolerance::composed_mismatch);
}

}  // namespace
}  // namespace tandem
