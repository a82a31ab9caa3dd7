#pragma once

#include <array>
#include <string>

#include "job.hpp"

namespace tandem::pipeline {

/// Whether the first, and the last, row of the job's scan has to see air, because rays of slices pass below,
/// and above, the detector. A solver has no slices for all that these rows see. FDK takes the sample to go on
/// as in these rows (`filtered_scan`).
std::array<bool, 2> outer_rows_matter(const Job& job);

/// What follows if these rows see the sample, with the slices that this concerns.
std::string consequence_of_outer_rows(const Job& job);

}  // namespace tandem::pipeline
