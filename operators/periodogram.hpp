#pragma once

#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How far the lines of each block (along the last axis, the bins of projections) are from white noise. The
/// powers of a line at the frequencies 1 to n / 2, summed up to each one and divided by the sum of all, are a
/// straight line on the average for white noise. The distance is the root mean square of what they differ
/// from it, averaged over the lines; lines of zeros do not count. It is between 0 and 1, and about 0.4 /
/// sqrt(n / 2) for white noise. Waits; vectors of a GPU are copied to the host. Source: Hansen, Kilmer,
/// Kjeldsen, BIT 46(1), 2006. @throws SpaceError for a direct sum
std::vector<double> distance_from_white(ConstVectorView x, Stream& stream);

}  // namespace tandem
