// Filters of images by their frequencies, against dense transforms and against phase retrieval of others.

#include "../../kernels/image_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <functional>
#include <numbers>

#include "../../core/random.hpp"
#include "../support/npy.hpp"
#include "../support/phase_of_others.hpp"
#include "../support/test_data.hpp"

namespace tandem::kernels {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

const std::filesystem::path vectors = test::test_data() / "vectors";

TEST(FastLength, IsTheNextProductOfSmallPrimes) {
  for (const auto& [count, length] : std::vector<std::pair<Index, Index>>{
           {0, 1}, {1, 1}, {7, 7}, {11, 12}, {13, 14}, {121, 125}, {256, 256}, {257, 270}, {1025, 1029}})
    EXPECT_EQ(fast_length(count), length) << count;
}

/// One row of the transform after another, in double.
std::vector<float> filtered_densely(const std::vector<float>& image, Index rows, Index bins,
                                    const std::function<double(Index, Index)>& response) {
  std::vector<float> result;
  const auto turn = [](Index a, Index n) {
    return 2 * pi * static_cast<double>(a % n) / static_cast<double>(n);
  };
  std::vector<Complex> spectrum;
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < bins; ++l) {
      Complex sum = 0;
      for (Index r = 0; r < rows; ++r)
        for (Index b = 0; b < bins; ++b)
          sum += static_cast<double>(image[static_cast<std::size_t>(r * bins + b)]) *
                 std::polar(1.0, -turn(k * r, rows) - turn(l * b, bins));
      spectrum.push_back(sum * response(k, l));
    }
  for (Index r = 0; r < rows; ++r)
    for (Index b = 0; b < bins; ++b) {
      Complex sum = 0;
      for (Index k = 0; k < rows; ++k)
        for (Index l = 0; l < bins; ++l)
          sum += spectrum[static_cast<std::size_t>(k * bins + l)] *
                 std::polar(1.0, turn(k * r, rows) + turn(l * b, bins));
      result.push_back(static_cast<float>(sum.real() / static_cast<double>(rows * bins)));
    }
  return result;
}

TEST(ImageFilter, IsTheDenseTransform) {
  Random random(4);
  for (const auto& [rows, bins] : {std::pair<Index, Index>{9, 7}, {8, 10}, {1, 12}, {5, 1}}) {
    const auto response = [rows = rows, bins = bins](Index k, Index l) {
      const auto f = static_cast<double>(std::min(k, rows - k)),
                 g = static_cast<double>(std::min(l, bins - l));
      return 1 / (1 + 0.3 * f + 0.7 * g * g);
    };
    std::vector<float> image;
    for (Index i = 0; i < rows * bins; ++i) image.push_back(static_cast<float>(random.uniform()));
    const std::vector<float> due = filtered_densely(image, rows, bins, response);
    ImageFilter filter{rows, bins};
    for (Index k = 0; k < rows; ++k)
      for (Index l = 0; l <= bins / 2; ++l) filter.response.push_back(static_cast<float>(response(k, l)));
    filter_image(filter, image.data());
    for (std::size_t i = 0; i < due.size(); ++i) EXPECT_NEAR(image[i], due[i], 1e-6) << rows << ' ' << i;
  }
}

/// Images in the middle of 256 x 256 pixels, which go on with those at their edges.
double largest_difference(const ImageFilter& filter, const std::string& output) {
  const test::Npy in = test::read_npy(vectors / "phase_input.npy"), out = test::read_npy(vectors / output);
  const Index rows = in.shape[1], bins = in.shape[2], n = filter.rows;
  const Index above = (n - rows) / 2, left = (n - bins) / 2;
  double most = 0;
  for (Index v = 0; v < in.shape[0]; ++v) {
    std::vector<float> image;
    for (Index r = 0; r < n; ++r)
      for (Index b = 0; b < n; ++b) {
        const Index row = std::clamp<Index>(r - above, 0, rows - 1),
                    bin = std::clamp<Index>(b - left, 0, bins - 1);
        image.push_back(
            static_cast<float>(in.values[static_cast<std::size_t>((v * rows + row) * bins + bin)]));
      }
    filter_image(filter, image.data());
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b)
        most = std::max(most, std::abs(double{image[static_cast<std::size_t>((r + above) * n + b + left)]} -
                                       out.values[static_cast<std::size_t>((v * rows + r) * bins + b)]));
  }
  return most;
}

TEST(ImageFilter, DoesThePhaseRetrievalOfOthers) {
  if (!exists(vectors)) GTEST_SKIP() << vectors << " is not there";
  for (const test::PhaseOfOthers& phase : test::phases_of_others())
    EXPECT_LE(largest_difference(phase.filter, phase.output), phase.tolerance) << phase.output;
}

}  // namespace
}  // namespace tandem::kernels
