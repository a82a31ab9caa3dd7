#pragma once

#include <optional>

#include "profiles.hpp"

namespace tandem::pipeline::stripes {

/// The constants of broad stripes, which may begin and end softly, beyond doubt; all 0 if there are none.
///
/// Windows of 7 to 91 columns move along the profiles of the blocks. The excess of a window over the cubic
/// polynomial through the columns on both sides is a stripe if
/// - it is the same in all blocks of views: the mean over them is so many standard errors from 0 as chance
///   gives in one of 1000 sinograms;
/// - it is at least 0.05 %, which no picture shows, and less than 10 %, which is no gain but a wall;
/// - it does not move over the blocks, as parts of a sample near the axis do;
/// - its mirror image about the axis is not there, as that of a round body is. If the axis is not known, no
///   place has it; if the detector does not see the place of the image, nobody knows.
/// The strongest for its width is taken out, until there are no more.
/// `known`: what is taken out of the columns already. `axis`: the bin of it.
std::vector<double> soft_stripes(const BlockMedians& medians, std::span<const double> known,
                                 std::optional<double> axis);

}  // namespace tandem::pipeline::stripes
