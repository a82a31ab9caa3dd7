#pragma once

#include <array>
#include <cstddef>

#include "../../../../core/space.hpp"

// Stripes are the same in all views. Blocks of views that follow one another tell them from a sample.

namespace tandem::pipeline::stripes {

constexpr std::size_t view_blocks = 16;

/// The share of the usual variance of a row by which each variance is made larger: sixteen numbers that
/// happen to be alike, or data without noise, do not make a number certain.
constexpr double usual_share = 0.5;

inline Range views_of_block(std::size_t block, Index views) {
  const Index k = block, of = view_blocks;
  return {views * k / of, views * (k + 1) / of};
}

/// A number of each block.
struct OfBlocks : std::array<double, view_blocks> {
  OfBlocks& operator+=(const OfBlocks& other) {
    for (std::size_t k = 0; k < size(); ++k) (*this)[k] += other[k];
    return *this;
  }
  OfBlocks& operator-=(const OfBlocks& other) {
    for (std::size_t k = 0; k < size(); ++k) (*this)[k] -= other[k];
    return *this;
  }
  OfBlocks& operator/=(double by) {
    for (double& x : *this) x /= by;
    return *this;
  }
  friend OfBlocks operator*(double factor, OfBlocks x) {
    for (double& own : x) own *= factor;
    return x;
  }
};

/// The mean without the two largest and the two smallest, and the square of its standard error by the
/// winsorised variance (Tukey and McLaughlin, Sankhya A 25, 331, 1963). Their ratio has Student's
/// distribution. `of_batches` is the same by the means of four blocks each: it is larger if what is there
/// changes slowly, as a sample does.
struct TrimmedMean {
  double mean, variance, of_batches;
};
constexpr int freedom_of_blocks = 11;  ///< degrees of freedom of that variance
TrimmedMean trimmed_mean(const OfBlocks& values);

/// The ratio that chance exceeds, in either direction, with this probability. `freedom`: an odd number.
double ratio_by_chance(double probability, int freedom);

/// Whether numbers of blocks change smoothly from block to block, beyond doubt: by the F test of a parabola.
bool change_smoothly(const OfBlocks& values);

}  // namespace tandem::pipeline::stripes
