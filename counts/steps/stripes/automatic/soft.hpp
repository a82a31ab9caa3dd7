#pragma once

#include <optional>

#include "profiles.hpp"

namespace tandem::pipeline::stripes {

struct SoftStripes {
  std::vector<double> constants;  ///< one a column, all 0 if there are no stripes
  double left;  ///< the usual constant that stays in a column: an estimate, of at most 7 columns
};

/// Stripes of one column to about 100, which may begin and end softly, beyond doubt.
///
/// Windows of 1 to 91 columns move along the profiles of the blocks. The excess of a window over the cubic
/// polynomial through the columns on both sides is a stripe if
/// - it is the same in all blocks of views: the mean over them is so many standard errors from 0 as chance
///   gives in one of 1000 sinograms. Once a stripe is found, narrow ones need fewer. Narrow ones may become
///   stronger or weaker in a straight line;
/// - it is at least 0.05 %, which no picture shows, and less than 30 %, which is no gain but a wall;
/// - it does not move over the blocks, as parts of a sample near the axis do;
/// - its mirror image about the axis is not there, as that of a round body is. If the axis is not known, no
///   place has it, and a wide window may be about the axis; if the detector does not see the place of the
///   image, nobody knows. Where most of what is there has no image, an image must be exact;
/// - it does not come from what was left alone: from edges beside a narrow window, or parts of a wide one.
/// The strongest for its width is taken out, until there are no more.
/// `known`: what is taken out of the columns already. `axis`: the bin of it.
SoftStripes soft_stripes(const BlockMedians& medians, std::span<const double> known,
                         std::optional<double> axis);

}  // namespace tandem::pipeline::stripes
