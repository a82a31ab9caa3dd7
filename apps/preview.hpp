#pragma once

#include <vector>

#include "../io/output.hpp"
#include "../pipeline/outcome.hpp"
#include "../pipeline/plan.hpp"

namespace tandem::apps {

/// Writes pictures of the middle planes, along z, y and x, side by side as a PNG file, grey values from the
/// 0.5th to the 99.5th percentile. Of a volume of few slices the first one alone.
void write_preview(io::Output output, std::vector<io::Picture> pictures, const pipeline::Plan& plan);

}  // namespace tandem::apps
