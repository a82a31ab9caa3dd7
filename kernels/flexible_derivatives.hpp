#pragma once

// What the pair for any geometry changes by if source and detector move: the coefficient of
// flexible_footprint.hpp in double, and its derivatives by the numbers of a brick (where it falls, how wide
// its trapezoids are, its mass), and from there by the 12 numbers of the view. A share is the difference of
// two areas of a trapezoid, so its derivative by the place is the difference of two heights. Where trapezoids
// have a corner the derivative is that of one side.

#include <array>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../geometry/beams/flexible.hpp"

namespace tandem::kernels {

/// One number for each of the 12 of a view: x, y and z of source, detector, bin step and row step.
constexpr std::size_t numbers_of_view = 12;
using ViewNumbers = std::array<double, numbers_of_view>;

/// Views of a flat detector, and the grid whose voxels the projector has.
struct MovingViews {
  std::vector<FlexibleView> views;
  Detector detector;
  bool parallel;
  VolumeGrid grid;
};

/// All on the CPU, in double, dense: volumes (slice, y, x), projections (view, row, bin). Bits depend on no
/// number of threads. T is float or double.
///
/// y <- A x
template <class T>
void project(const MovingViews& n, const T* volume, T* projections);
/// x <- At y
template <class T>
void back_project(const MovingViews& n, const T* projections, T* volume);
/// y <- the derivative of A x along changes of all views
template <class T>
void project_changes(const MovingViews& n, const T* volume, std::span<const ViewNumbers> changes,
                     T* projections);
/// The gradient of <y, A x> by the numbers of each view.
template <class T>
std::vector<ViewNumbers> gradient_by_views(const MovingViews& n, const T* volume, const T* projections);

}  // namespace tandem::kernels
