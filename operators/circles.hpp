#pragma once

#include <optional>

#include "../geometry/beams/parallel.hpp"
#include "../kernels/circles.hpp"
#include "filter.hpp"
#include "linear_operator.hpp"

namespace tandem {

/// The length of a transform in which the ramp of tails so long does not come in again at the other end. Used
/// only within operators/.
Index length_of_circles(Index bins, Index reach);

/// What F with circles has more than F with the usual continuation, `usual`: the ramp of the circles less
/// that of the tapers. Rows of which neither end is open have nothing more, not even rounding. It is no
/// linear map, since a circle depends on the end of the row, and has no transpose. `how` has the length and
/// the response of the ramp. Lines are worked on some at a time. Source: Hsieh et al., Med. Phys. 31, 2385
/// (2004). @throws GeometryError for an attenuation that is not positive
LinearOperator circles(const Space& rows, const Space& filtered, kernels::RowFilter usual,
                       kernels::Circles how);

/// The same for a parallel beam, if its rows go on with circles; `ramp_filter` has them in it.
std::optional<LinearOperator> added_circles(const ParallelBeam& scan, const Filter& filter, Device device,
                                            const Interpolation& interpolation);

}  // namespace tandem
