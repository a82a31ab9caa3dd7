#include "../../kernels/spectra.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace tandem::kernels {
namespace {

/// A real gain is the filter sum over frequencies of gain cos, which is written out here.
TEST(Spectra, AreMultipliedByTheirGains) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{1, 9}, {1, 12}, {5, 7}, {4, 6}, {3, 1}, {1, 1}}) {
    const auto size = static_cast<std::size_t>(rows * columns);
    std::vector<float> images(2 * size);
    for (float& v : images) v = uniform(random);
    std::vector<double> gain;  // even in both frequencies together, as multiply_spectra takes it
    const auto gain_at = [&](Index r, Index c) {
      return 1.0 / static_cast<double>(1 + std::min(r, rows - r) + 2 * std::min(c, columns - c));
    };
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c <= columns / 2; ++c) gain.push_back(gain_at(r, c));
    std::vector<float> found = images;
    multiply_spectra(found, rows, columns, gain);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto place = static_cast<Index>(i % size);
      double expected = 0;
      for (std::size_t j = 0; j < size; ++j) {
        const auto other = static_cast<Index>(j);
        double kernel = 0;
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < columns; ++c)
            kernel += gain_at(r, c) * std::cos(2 * std::numbers::pi *
                                               (static_cast<double>(r * (place / columns - other / columns)) /
                                                    static_cast<double>(rows) +
                                                static_cast<double>(c * (place % columns - other % columns)) /
                                                    static_cast<double>(columns)));
        expected += kernel / static_cast<double>(size) * images[i / size * size + j];
      }
      EXPECT_NEAR(found[i], expected, 1e-6) << rows << " x " << columns << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tandem::kernels
