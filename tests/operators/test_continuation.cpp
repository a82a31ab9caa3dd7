// Rows that the filter continues beyond their ends, against the convolution of the continued row.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Index bins = 61;

Filter padded(Padding padding, std::optional<Index> over = {}, Window window = Window::ramp) {
  return {.window = window, .cutoff = {}, .padding = padding, .padding_bins = over};
}

/// One view of one row; its end values are those of its last bins.
std::vector<double> row_with_ends() {
  std::vector<double> row;
  for (Index b = 0; b < bins; ++b) row.push_back(1.5 + std::sin(0.2 * static_cast<double>(b)));
  return row;
}

double taper_at(Padding padding, Index j, Index over) {
  if (padding == Padding::edge) return 1;
  return 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(over + 1));
}

/// The row from `over` bins before its first to `over` bins behind its last one.
std::vector<double> continued(const std::vector<double>& row, Padding padding, Index over) {
  std::vector<double> all;
  for (Index j = over; j > 0; --j) all.push_back(row.front() * taper_at(padding, j, over));
  all.insert(all.end(), row.begin(), row.end());
  for (Index j = 1; j <= over; ++j) all.push_back(row.back() * taper_at(padding, j, over));
  return all;
}

/// The ramp of the unbounded line, in double: Kak, Slaney 1988, eq. 61.
double ramp_at(const std::vector<double>& line, Index at) {
  double sum = 0;
  for (Index j = 0; j < static_cast<Index>(line.size()); ++j) {
    const Index lag = at - j;
    const double d = std::numbers::pi * static_cast<double>(lag);
    sum += line[static_cast<std::size_t>(j)] * (lag == 0 ? 0.25 : lag % 2 == 0 ? 0 : -1 / (d * d));
  }
  return sum;
}

Array filled(const Space& space, const std::vector<double>& row) {
  Array y(space);
  for (Index i = 0; i < y.size(); ++i)
    y.data()[i] = static_cast<float>(row[static_cast<std::size_t>(i) % row.size()]);
  return y;
}

TEST(Continuation, IsFilteredAsOnTheUnboundedLine) {
  const std::vector<double> row = row_with_ends();
  for (const Padding padding : {Padding::edge, Padding::cosine})
    for (const Index over : {1, 15, 30, 61, 200}) {
      // two views weigh a quarter of a turn each
      const ParallelBeam scan{{bins, 1, 1, 1, 30.2}, {0, 0.5 * std::numbers::pi}, {}};
      const Array q = ramp_filter(scan, padded(padding, over)) * filled(projection_space(scan), row);
      const std::vector<double> line = continued(row, padding, over);
      for (Index b = 0; b < bins; ++b)
        EXPECT_NEAR(q.data()[bins + b], 0.5 * std::numbers::pi * ramp_at(line, over + b),
                    tolerance::continued_row)
            << name_of(padding) << " over " << over << ", bin " << b;
    }
}

TEST(Continuation, GoesOverHalfOfTheBinsUnlessToldOtherwise) {
  const ParallelBeam scan{{bins, 1, 1, 1, 30.2}, {0, 1}, {}};
  const Array y = filled(projection_space(scan), row_with_ends());
  EXPECT_TRUE(test::same_bits(ramp_filter(scan, padded(Padding::cosine)) * y,
                              ramp_filter(scan, padded(Padding::cosine, bins / 2)) * y));
  EXPECT_TRUE(test::same_bits(ramp_filter(scan, padded(Padding::cosine, 0)) * y, ramp_filter(scan) * y));
  EXPECT_THROW(ramp_filter(scan, padded(Padding::edge, -1)), GeometryError);
}

TEST(Continuation, OfARowThatEndsInZerosChangesNothing) {
  std::vector<double> row = row_with_ends();
  row.front() = row.back() = 0;
  const ParallelBeam scan{{bins, 1, 1, 1, 30.2}, {0, 1, 2}, {}};
  const Array y = filled(projection_space(scan), row);
  EXPECT_TRUE(test::same_bits(ramp_filter(scan, padded(Padding::edge)) * y, ramp_filter(scan) * y));
}

/// The end value of a long row is the mean of its last 128th.
TEST(Continuation, TakesTheMeanOfSomeBinsAsTheEndValue) {
  constexpr Index many = 256;
  const ParallelBeam scan{{many, 1, 1, 1, 127.5}, {0, 1}, {}};
  std::vector<double> row(many, 1.0), swapped = row;
  row[0] = 3, row[1] = 1, swapped[0] = 1, swapped[1] = 3;
  const auto beyond = [&](const std::vector<double>& values) {
    const Array y = filled(projection_space(scan), values);
    Array q = ramp_filter(scan, padded(Padding::cosine)) * y;
    const Array bare = ramp_filter(scan) * y;
    for (Index i = 0; i < q.size(); ++i) q.data()[i] -= bare.data()[i];
    return q;
  };
  EXPECT_LE(test::relative_error(beyond(row), beyond(swapped)), tolerance::continued_row);
}

TEST(Continuation, LeavesTheFiltersTheirTransposes) {
  const Filter filter = padded(Padding::cosine);
  const ParallelBeam wobbling = test::wobbling_scan();
  EXPECT_LE(adjointness(ramp_filter(wobbling, filter)).mismatch, tolerance::mismatch);
  const ConeBeam cone{{21, 3, 1, 1, 9.3}, test::regular_angles(12, whole_turn), 60, 90, 1};
  EXPECT_LE(adjointness(ramp_filter(cone, filter)).mismatch, tolerance::mismatch);
  EXPECT_LE(adjointness(fourier_fbp(wobbling, test::grid_of(43, 41, 3), filter)).mismatch,
            tolerance::composed_mismatch);
}

/// The result is that of a detector as wide as the continued row.
TEST(Continuation, IsThatOfAWiderDetectorByBothModelsAndEveryWindow) {
  constexpr Index over = 30, wide_bins = bins + 2 * over;
  const ParallelBeam scan{{bins, 1, 1, 1, 28.4}, test::regular_angles(50), {}},
      wide{{wide_bins, 1, 1, 1, 28.4 + over}, test::regular_angles(50), {}};
  const VolumeGrid inside = test::grid_of(33, 35, 1);
  const std::vector<double> row = row_with_ends();
  const Array y = filled(projection_space(scan), row),
              all = filled(projection_space(wide), continued(row, Padding::cosine, over));
  for (const Window window : {Window::ramp, Window::hann, Window::shepp}) {
    const Filter filter = padded(Padding::cosine, over, window), none{.window = window};
    EXPECT_LE(test::relative_error(fbp(projector(scan, inside), scan, inside, filter) * y,
                                   fbp(projector(wide, inside), wide, inside, none) * all),
              tolerance::continued_image);
    const Execution exact{.accuracy = 1e-5};
    EXPECT_LE(test::relative_error(fourier_fbp(scan, inside, filter, Device::cpu(), exact) * y,
                                   fourier_fbp(wide, inside, none, Device::cpu(), exact) * all),
              tolerance::continued_image);
  }
}

/// A half acquisition goes on at its farther end alone, where its rays count twice.
TEST(Continuation, OfAHalfAcquisitionIsAtItsFartherEnd) {
  const ParallelBeam scan{{bins, 1, 1, 1, 10}, test::regular_angles(80, whole_turn), {}};
  const VolumeGrid grid = test::grid_of(61, 61, 1);
  const Filter filter = padded(Padding::cosine, 30);
  ParallelBeam wide = scan;
  wide.detector.bins += 30;
  const std::vector<double> row = row_with_ends();
  std::vector<double> longer = continued(row, Padding::cosine, 30);
  longer.erase(longer.begin(), longer.begin() + 30);
  const Array y = filled(projection_space(scan), row), all = filled(projection_space(wide), longer);
  EXPECT_LE(test::relative_error(fbp(projector(symmetric(scan), grid), scan, grid, filter) * y,
                                 fbp(projector(symmetric(wide), grid), wide, grid) * all),
            tolerance::continued_image);
}

}  // namespace
}  // namespace tandem
