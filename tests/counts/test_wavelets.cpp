#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../../counts/steps/stripes/wavelets.hpp"

namespace tandem::pipeline::stripes {
namespace {

/// A filter is orthogonal to its even shifts, and its high-pass filter is blind to polynomials: so many
/// conditions leave these numbers only, or those of another phase.
TEST(Wavelets, AreOrthogonalAndHaveTheirMoments) {
  for (const Wavelet& wavelet : wavelets()) {
    const std::vector<double>& h = wavelet.low;
    const std::size_t n = h.size();
    for (std::size_t shift = 0; shift < n; shift += 2) {
      double product = 0;
      for (std::size_t k = 0; k + shift < n; ++k) product += h[k] * h[k + shift];
      EXPECT_NEAR(product, shift == 0, 1e-10) << wavelet.name << ' ' << shift;
    }
    for (std::size_t power = 0; power < n / 2; ++power) {
      double moment = 0, scale = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double t =
            std::pow((static_cast<double>(k) + 0.5) / static_cast<double>(n), static_cast<double>(power));
        moment += (k % 2 == 0 ? 1 : -1) * h[k] * t, scale += std::abs(h[k]) * t;
      }
      EXPECT_NEAR(moment / scale, 0, 1e-9) << wavelet.name << ' ' << power;
    }
  }
}

/// Lines may also be shorter than the filter.
TEST(Wavelets, GiveBackWhatTheyAnalysed) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (const Wavelet& wavelet : wavelets())
    for (const auto& [rows, columns] : {std::pair<Index, Index>{37, 20}, {1, 5}, {8, 1}, {64, 33}}) {
      Plane plane(rows, columns);
      for (float& v : plane.values) v = normal(random);
      const Plane back = synthesised(analysed(plane, wavelet), wavelet);
      ASSERT_GE(back.rows, rows);
      ASSERT_GE(back.columns, columns);
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) EXPECT_NEAR(back(r, c), plane(r, c), 2e-6) << wavelet.name;
    }
}

}  // namespace
}  // namespace tandem::pipeline::stripes
