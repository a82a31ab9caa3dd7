// Transforms of lines side by side, against sums in double.

#include "../../kernels/cpu/fourier_transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "../../kernels/cpu/scratch.hpp"
#include "../support/instruction_sets.hpp"
#include "../support/tolerances.hpp"

namespace tandem::kernels::cpu {
namespace {

using Complex = std::complex<double>;

/// Small primes and their products, a prime whose sums are written out, one that goes through a longer
/// transform, and its double.
constexpr Index lengths[] = {1, 2, 3, 4, 5, 7, 8, 11, 12, 30, 47, 64, 66, 125, 343, 480, 1021, 2042};

std::vector<Complex> transformed(const std::vector<Complex>& line, int sign) {
  const std::size_t n = line.size();
  std::vector<Complex> turns, result(n);
  for (std::size_t k = 0; k < n; ++k)
    turns.push_back(
        std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i) result[k] += line[i] * turns[i * k % n];
  return result;
}

std::vector<Complex> random_line(Index length, bool real, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Complex> line;
  for (Index i = 0; i < length; ++i) {
    const float re = uniform(random), im = uniform(random);
    line.emplace_back(re, real ? 0 : im);
  }
  return line;
}

/// The length of the difference over that of what is due.
double error(const std::vector<Complex>& found, const std::vector<Complex>& due) {
  double difference = 0, all = 0;
  for (std::size_t k = 0; k < due.size(); ++k) {
    difference += std::norm(found[k] - due[k]);
    all += std::norm(due[k]);
  }
  return std::sqrt(difference / all);
}

std::size_t at(Index position, Index part, Index lane) {
  return static_cast<std::size_t>((2 * position + part) * lanes + lane);
}

std::vector<Complex> complex_transform(const std::vector<Complex>& line, Index lane, Direction direction,
                                       float beside) {
  const auto n = static_cast<Index>(line.size());
  Lines lines(2 * n * lanes);
  std::fill_n(lines.data(), 2 * n * lanes, beside);
  for (Index i = 0; i < n; ++i) {
    lines.data()[at(i, 0, lane)] = static_cast<float>(line[static_cast<std::size_t>(i)].real());
    lines.data()[at(i, 1, lane)] = static_cast<float>(line[static_cast<std::size_t>(i)].imag());
  }
  transform(lines.data(), n, direction);
  std::vector<Complex> result;
  for (Index i = 0; i < n; ++i)
    result.emplace_back(lines.data()[at(i, 0, lane)], lines.data()[at(i, 1, lane)]);
  return result;
}

/// All frequencies of a real line, and the line that comes back, over its length.
std::pair<std::vector<Complex>, std::vector<Complex>> real_transforms(const std::vector<Complex>& line,
                                                                      Index lane) {
  const auto n = static_cast<Index>(line.size());
  Lines lines(n * lanes);
  float* numbers = lines.data() + lane;
  for (Index i = 0; i < n; ++i)
    numbers[i * lanes] = static_cast<float>(line[static_cast<std::size_t>(i)].real());
  transform_real(lines.data(), n, Direction::forward);
  std::vector<Complex> spectrum(line.size());
  for (Index k = 0; k <= n / 2; ++k) {
    const Complex value(numbers[std::max<Index>(0, 2 * k - 1) * lanes],
                        k > 0 && 2 * k < n ? numbers[2 * k * lanes] : 0.0f);
    spectrum[static_cast<std::size_t>(k ? n - k : 0)] = std::conj(value);
    spectrum[static_cast<std::size_t>(k)] = value;
  }
  transform_real(lines.data(), n, Direction::backward);
  std::vector<Complex> back;
  for (Index i = 0; i < n; ++i) back.emplace_back(numbers[i * lanes] / static_cast<double>(n));
  return {spectrum, back};
}

TEST(FourierTransform, IsTheSumOfItsFormula) {
  with_each_instruction_set([] {
    for (const Index n : lengths)
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        const Index lane = n % lanes;
        const std::vector<Complex> line = random_line(n, false, 3);
        EXPECT_LE(error(complex_transform(line, lane, direction, 0),
                        transformed(line, direction == Direction::forward ? -1 : 1)),
                  tolerance::transform(n))
            << n;
      }
  });
}

TEST(FourierTransform, OfRealLinesIsThatOfComplexOnes) {
  with_each_instruction_set([] {
    for (const Index n : lengths) {
      const std::vector<Complex> line = random_line(n, true, 4);
      const auto [spectrum, back] = real_transforms(line, n % lanes);
      EXPECT_LE(error(spectrum, transformed(line, -1)), tolerance::transform(n)) << n;
      EXPECT_LE(error(back, line), 2 * tolerance::transform(n)) << n;
    }
  });
}

TEST(FourierTransform, OfALineDoesNotDependOnItsLaneOrOnTheOthers) {
  with_each_instruction_set([] {
    for (const Index n : lengths) {
      const std::vector<Complex> line = random_line(n, false, 5);
      const auto due = complex_transform(line, 0, Direction::forward, 0);
      for (const Index lane : {Index{3}, lanes - 1})
        EXPECT_EQ(complex_transform(line, lane, Direction::forward, std::numeric_limits<float>::quiet_NaN()),
                  due)
            << n << ' ' << lane;
    }
  });
}

TEST(Scratch, IsKeptForWhoTakesAboutAsMuch) {
  void* first = take_scratch(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  give_scratch(first);
  void* less = take_scratch(700);
  EXPECT_EQ(less, first);
  give_scratch(less);
  void* little = take_scratch(100);
  EXPECT_NE(little, first);
  give_scratch(little);
}

}  // namespace
}  // namespace tandem::kernels::cpu
