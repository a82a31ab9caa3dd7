// Slices of trials against their definition in double.

#include "../../kernels/trial_slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../support/instruction_sets.hpp"
#include "../support/trial_slices.hpp"

namespace tandem::kernels {
namespace {

/// The cubic spline that falls to nothing at a distance of two.
double spline(double away) {
  const double d = std::abs(away);
  return d >= 2 ? 0 : d >= 1 ? std::pow(2 - d, 3) / 6 : 2.0 / 3 - d * d + d * d * d / 2;
}

/// What a ray sees, by the sum over all cells.
double seen(const Image<const float>& frames, Index view, double row, double bin) {
  if (bin < 0 || bin >= frames.n2 - 1 || row < 1 || row >= frames.n1 - 2) return 0;
  double sum = 0;
  for (Index r = 0; r < frames.n1; ++r)
    for (Index b = 0; b < frames.n2; ++b)
      sum += spline(row - r) * std::max(0.0, 1 - std::abs(bin - b)) * frames(view, r, b);
  return sum;
}

double at(const OverSlice& number, double x, double y) {
  return double{number.middle} + number.along_x * x + number.along_y * y;
}

TEST(TrialSlices, AreSumsOverEvenAndOddViews) {
  const test::TrialCase all;
  const Image<const float> frames = all.image();
  const auto [planes, width, lines] = all.slices();
  with_each_instruction_set([&, planes = planes, width = width] {
    Array slices(Space({planes, width, width}));
    std::fill_n(slices.data(), slices.size(), NAN);
    trial_slices(Device::cpu())
        .back_project(all.trials, frames, image(VectorView(slices)), default_stream(Device::cpu()));
    int missed = 0;
    for (Index k = 0; k < slices.size(); ++k) {
      const Index plane = k / (width * width);
      const double middle = 0.5 * (width - 1), x = k % width - middle, y = k / width % width - middle;
      double sum = 0;
      for (Index view = plane % 2; view < frames.n0; view += 2) {
        const TrialPlace& place = all.trials.places[plane / 2 * frames.n0 + view];
        const double near = 1 / at(place.depth, x, y), row = near * at(place.row, x, y),
                     bin = near * at(place.bin, x, y), value = seen(frames, view, row, bin);
        sum += near * near * value, missed += value == 0;
      }
      const bool inside = std::hypot(x, y) <= all.trials.radius;
      // Places are floats of up to 64, so they err by 2^-18 at most, and values differ by up to 1 a cell.
      const double scale = plane < 2 ? 1 : std::pow(1 / 75.0, 2);
      EXPECT_NEAR(slices.data()[k], inside ? sum : 0, 5 * 4e-6 * 2 * scale) << plane << ' ' << x << ' ' << y;
    }
    EXPECT_GT(missed, 100);
  });
}

}  // namespace
}  // namespace tandem::kernels
