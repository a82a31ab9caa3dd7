// Views whose images are shifted on the detector, because sample or detector moved.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Index bins = 53, views = 40, rows = 2;

ParallelBeam shifted_scan() {
  ParallelBeam scan{{bins, rows, 1, 1, 25.3}, test::regular_angles(views), {}};
  Random random(3);
  for (Index v = 0; v < views; ++v) scan.view_shift_bins.push_back(6 * random.uniform() - 3);
  return scan;
}

/// One view, whose axis is where the shift puts it.
ParallelBeam alone(const ParallelBeam& scan, Index view) {
  ParallelBeam one = crop(scan, {view, view + 1}, {0, rows}, {0, bins});
  one.detector.axis_bin += one.view_shift_bins.at(0);
  one.view_shift_bins.clear();
  return one;
}

TEST(ViewShifts, MoveTheAxisOfEachView) {
  const ParallelBeam scan = shifted_scan();
  const VolumeGrid grid = test::grid_of(37, 41, rows);
  const Array x = test::random_array(volume_space(grid), 1);
  for (const Model model : {Model::pixel_driven, Model::joseph}) {
    const Array y = projector(scan, grid, model) * x;
    for (Index v = 0; v < views; ++v) {
      const Array one = projector(alone(scan, v), grid, model) * x;
      Array part(one.space());
      std::copy_n(y.data() + v * rows * bins, rows * bins, part.data());
      EXPECT_LE(test::relative_error(part, one), tolerance::moved_axis) << name_of(model) << ", view " << v;
    }
  }
}

TEST(ViewShifts, AreInThePhantomsLineIntegrals) {
  const ParallelBeam scan = shifted_scan();
  const Phantom body{{{1, {9, 5, INFINITY}, {4, -3, 0}, 0.4}}};
  Array y(projection_space(scan));
  project(body, scan, {0, rows}, {y.data(), static_cast<std::size_t>(y.size())});
  for (Index v = 0; v < views; ++v) {
    const ParallelBeam one = alone(scan, v);
    Array part(projection_space(one));
    project(body, one, {0, rows}, {part.data(), static_cast<std::size_t>(part.size())});
    EXPECT_TRUE(std::equal(part.data(), part.data() + rows * bins, y.data() + v * rows * bins)) << v;
  }
}

TEST(ViewShifts, LeavePairsMatched) {
  const ParallelBeam scan = shifted_scan();
  const VolumeGrid grid = test::grid_of(37, 41, rows);
  for (const Model model : {Model::pixel_driven, Model::joseph})
    EXPECT_LE(adjointness(projector(scan, grid, model)).mismatch, tolerance::mismatch);
  EXPECT_LE(adjointness(fourier_projector(scan, grid)).mismatch, tolerance::fourier_pair);
}

TEST(ViewShifts, GoWithTheirViewsAndShrinkWithTheBins) {
  const ParallelBeam scan = shifted_scan();
  const ParallelBeam part = crop(scan, {5, 9}, {0, 1}, {3, 50});
  EXPECT_EQ(part.view_shift_bins,
            (std::vector<double>(scan.view_shift_bins.begin() + 5, scan.view_shift_bins.begin() + 9)));
  EXPECT_EQ(bin_down(scan, 1, true).view_shift_bins[7], 0.5 * scan.view_shift_bins[7]);
  ParallelBeam other = scan;
  other.view_shift_bins[7] += 0.1;
  EXPECT_NE(fingerprint(scan), fingerprint(other));
  other.view_shift_bins[7] = static_cast<double>(bins);
  EXPECT_THROW(validate(other), GeometryError);
  other.view_shift_bins.resize(3);
  EXPECT_THROW(validate(other), GeometryError);
}

/// Jitter of up to three bins: with the shifts FBP is as good as without jitter, without them it is blurred,
/// and with the wrong sign more so.
TEST(ViewShifts, TakeJitterAway) {
  ParallelBeam scan{{181, 1, 1, 1, 89.4}, test::regular_angles(300), {}};
  const VolumeGrid grid = test::grid_of(161, 161, 1);
  const Phantom body = scaled(shepp_logan(), 78, 1);
  Array truth(volume_space(grid));
  voxelise(body, grid, {0, 1}, {truth.data(), static_cast<std::size_t>(truth.size())});
  const auto data = [&](const ParallelBeam& of) {
    Array y(projection_space(of));
    project(body, of, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    return y;
  };
  const auto error = [&](const ParallelBeam& taken, const Array& y, bool through_frequencies) {
    Array here(projection_space(taken));
    std::copy_n(y.data(), y.size(), here.data());
    const Filter hann{.window = Window::hann};
    const LinearOperator B =
        through_frequencies ? fourier_fbp(taken, grid, hann) : fbp(projector(taken, grid), taken, grid, hann);
    return test::relative_error(B * here, truth);
  };
  ParallelBeam moved = scan, wrong = scan;
  Random random(7);
  for (std::size_t v = 0; v < scan.angles.size(); ++v) {
    moved.view_shift_bins.push_back(6 * random.uniform() - 3);
    wrong.view_shift_bins.push_back(-moved.view_shift_bins.back());
  }
  const Array still = data(scan), jittered = data(moved);
  for (const bool through_frequencies : {false, true}) {
    const double best = error(scan, still, through_frequencies),
                 known = error(moved, jittered, through_frequencies),
                 unknown = error(scan, jittered, through_frequencies),
                 opposite = error(wrong, jittered, through_frequencies);
    std::cout << "no jitter " << best << ", known " << known << ", unknown " << unknown << ", wrong sign "
              << opposite << '\n';
    EXPECT_LE(known, 1.1 * best);
    EXPECT_GE(unknown, 1.5 * best);
    EXPECT_GE(opposite, 1.2 * unknown);
  }
}

TEST(ViewShifts, OfAHalfAcquisitionAreRefusedByFbp) {
  ParallelBeam scan{{50, 1, 1, 1, 9}, test::regular_angles(20, whole_turn), {}};
  scan.view_shift_bins.assign(20, 0.5);
  EXPECT_THROW(ramp_filter(scan), GeometryError);
  EXPECT_THROW(fourier_fbp(scan, fitting_grid(scan)), GeometryError);
  EXPECT_NO_THROW(projector(scan, fitting_grid(scan)));
}

}  // namespace
}  // namespace tandem
