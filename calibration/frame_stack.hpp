#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_memory.hpp"

namespace tandem::calibration {

/// Line integrals of whole frames, and the geometry of their views.
struct FrameStack {
  UnsetVector<float> values{};  ///< (view, row, bin)
  Index rows = 0, bins = 0;
  std::vector<double> angles{};  ///< rad, one per view
  double bin_angle = 0;          ///< the pitch of a bin over the distance of the detector; 0: parallel rays
  double aspect = 1;             ///< the pitch of rows over that of bins
  Index views() const { return angles.size(); }
};

/// Whether there are too few rows to tell a roll.
inline bool few_rows(const FrameStack& frames) { return frames.rows <= 4; }

/// How much frames are smoothed: the variance of what becomes of a point, cells of the result squared.
struct Smoothing {
  double bins = 1, rows = 1;  ///< 1: by 1 4 6 4 1
};

/// Means of factor x factor cells, smoothed so that interpolation between cells does not reduce the noise. If
/// there are few rows, each stays by itself.
FrameStack smoothed(const FrameStack& frames, Index factor, const Smoothing& by = {});

/// Subtracts from each cell its mean over the views, which removes rings and all that does not turn.
void subtract_means(FrameStack& frames);

/// The values of a stack as a vector of a space, on its device, and the values of a vector.
Array vector_of(const FrameStack& frames, const Space& space);
UnsetVector<float> values_of(const Array& vector);

/// A value and its slopes.
struct Sample {
  double value = 0, by_bin = 0, by_row = 0;
};

/// The weights of four neighbours at a part of the way from the second to the third (Catmull, Rom 1974).
template <class Real>
std::array<Real, 4> cubic_weights(Real f) {
  constexpr Real half = 0.5, two = 2, five_halves = 2.5, three_halves = 1.5;
  return {f * (-half + f * (1 - half * f)), 1 + f * f * (-five_halves + three_halves * f),
          f * (half + f * (two - three_halves * f)), f * f * (half * f - half)};
}

/// Cubic interpolation at a place (`cubic_weights`), the same for all views. There must be a bin before it
/// and two behind it; rows beyond the ends are as the last ones.
class Sampler {
 public:
  Sampler(const FrameStack& frames, double bin, double row);
  Sample of(Index view) const;
  float value(Index view) const;  ///< that of `of` alone

 private:
  /// Weights of four neighbours, and their slopes.
  struct Cubic {
    Index first;
    std::array<float, 4> weight, slope;
    explicit Cubic(double place);
  };
  const float* values_;
  Index cells_;  ///< the cells of a view
  Cubic bin_, row_;
  std::array<Index, 4> lines_;  ///< where they begin in a view
};

}  // namespace tandem::calibration
