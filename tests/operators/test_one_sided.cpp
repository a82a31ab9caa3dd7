// FDK of circles whose detector reaches farther on one side of the axis, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
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

/// As if the columns that only one side sees were cut away: where rays are not weighed, noise is the same.
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

}  // namespace
}  // namespace tandem
