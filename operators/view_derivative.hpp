#pragma once

#include <span>
#include <vector>

#include "../geometry/scan.hpp"
#include "linear_operator.hpp"

namespace tandem {

// How the pair for any geometry changes if sources and detectors move: derivatives of the very coefficients
// that `projector` has for views that lean, on the CPU, for flat detectors. All sums are in double. Changes
// of a view are numbers of a `FlexibleView`, in mm. Cost: some 20 projections in float. Second derivatives
// are not there. All functions throw GeometryError as `projector` does and for a curved detector, and
// SpaceError unless the numbers are as many as the scan and the grid say.

/// J: changes of all views -> the change of A x, to first order. The domain is (view, vector, axis) with the
/// four vectors source, detector, bin step and row step, and x, y, z; the range is that of A. The adjoint
/// makes of data y the gradient of <y, A x> by all views. x is copied. @throws also DeviceError unless x lies
/// on the CPU
LinearOperator view_derivative(const Scan& scan, const VolumeGrid& grid, ConstVectorView x);

/// A x and At y with numbers in double, and the gradient of <y, A x> by each view.
std::vector<double> project_in_double(const Scan& scan, const VolumeGrid& grid, std::span<const double> x);
std::vector<double> back_project_in_double(const Scan& scan, const VolumeGrid& grid,
                                           std::span<const double> y);
std::vector<FlexibleView> gradient_by_views(const Scan& scan, const VolumeGrid& grid,
                                            std::span<const double> x, std::span<const double> y);

}  // namespace tandem
