#pragma once

#include <optional>
#include <vector>

#include "../geometry/beams/parallel.hpp"
#include "../kernels/ramp.hpp"
#include "filter.hpp"
#include "linear_operator.hpp"

namespace tandem {

/// How rows go on with circles where they do not come down to air: what a round body of one attenuation adds
/// beyond the end that the row tells. Used only within operators/.
struct Circles {
  double attenuation;         ///< 1/mm
  double bin_mm;              ///< pitch of the bins where they appear at the axis
  Index reach;                ///< bins of the longest tail
  std::vector<double> taper;  ///< what the usual continuation multiplies an end value by, 1, 2, ... bins away
  std::vector<float> shares{};    ///< (row, end): weights of the rays just beyond; empty: 1
  std::vector<float> cosines{};   ///< (row, bin) of the output with `reach` more bins at either end; empty: 1
  std::vector<float> response{};  ///< the ramp for `length_of_circles`
};

/// The length of a transform in which the ramp of tails so long does not come in again at the other end.
Index length_of_circles(Index bins, Index reach);

/// What F with circles has more than F with the usual continuation, `usual`: the ramp of the circles less
/// that of the tapers. Rows of which neither end is open have nothing more, not even rounding. It is no
/// linear map, since a circle depends on the end of the row, and has no transpose. Lines are worked on some
/// at a time. Source: Hsieh et al., Med. Phys. 31, 2385 (2004). @throws GeometryError for an attenuation that
/// is not positive; DeviceError but on the CPU
LinearOperator circles(const Space& rows, const Space& filtered, kernels::RowFilter usual, Circles how);

/// The same for a parallel beam, if its rows go on with circles; `ramp_filter` has them in it.
std::optional<LinearOperator> added_circles(const ParallelBeam& scan, const Filter& filter, Device device,
                                            const Interpolation& interpolation);

}  // namespace tandem
