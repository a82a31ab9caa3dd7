#pragma once

#include <array>

#include "frame_stack.hpp"

namespace tandem::calibration {

/// Where the cells of one scan lie among those of another one, which sees a neighbouring part of the sample
/// in the same views by parallel rays.
struct Seam {
  double bins = 0, rows = 0;  ///< cell (row, bin) lies where the other scan's (row + rows, bin + bins) is
  std::array<double, 2> uncertainty{};  ///< one standard deviation of bins and of rows; 0: not searched
  double brighter = 0;   ///< by how much its line integrals are less: the mean of the medians of views
  double agreement = 0;  ///< correlation of what both see: 1 if it is the same
  double rival = 0;      ///< how well the best other place fits, or noise might, as a share of this one
};

enum class Along { bins, rows };

/// Finds how `second` lies beside `first`, along one direction at any distance, and across it up to a
/// sixteenth of the frame, which is left at 0 where there are few rows.
///
/// What does not turn is subtracted first, since it belongs to the detectors. Coarse cells are compared at
/// all distances at which three of them overlap: by the correlation of their slopes along the direction, so
/// that a sample that goes on without a change tells nothing. Then the method of Gauss and Newton lowers the
/// squared differences of what both see, at finer and finer cells. Uncertainties are how much views differ
/// (sandwich estimate, Huber 1967).
///
/// @pre both have the same views, rows and bins. @throws GeometryError where frames are too small
Seam find_seam(const FrameStack& first, const FrameStack& second, Along along);

/// What both see, where it is known how the second one lies.
Seam seam_at(const FrameStack& first, const FrameStack& second, double bins, double rows);

}  // namespace tandem::calibration
