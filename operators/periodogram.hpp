#pragma once

#include <vector>

#include "../core/array.hpp"

namespace tandem {

/// The distance of each block from white noise. It looks at lines along the last axis, which are bins of
/// projections. The powers of a line at the frequencies 1 to n / 2 are summed up to each frequency, and
/// divided by the sum of all. For white noise, these sums lie on a straight line on average. The distance is
/// the root mean square of the differences from it, averaged over the lines; lines of zeros do not count. It
/// is between 0 and 1, and about 0.4 / sqrt(n / 2) for white noise. Waits; vectors of a GPU are copied to the
/// host. Source: Hansen, Kilmer, Kjeldsen, BIT 46(1), 2006. @throws SpaceError for a direct sum
std::vector<double> distance_from_white(ConstVectorView x, Stream& stream);

}  // namespace tandem
