#pragma once

#include <vector>

#include "../../io/files/output.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../../pipeline/watch/outcome.hpp"

namespace tandem::apps {

/// A plane along the axis through fewer slices is a line, and left out.
constexpr Index fewest_slices = 8;

/// Grey values that a picture shows as black and as white.
struct GreyWindow {
  float black = 0, white = 1;
};
/// From the 0.5th to the 99.5th percentile, so that a few outliers do not turn a picture black. The values
/// are finite, and there is at least one.
GreyWindow window_of(std::vector<float> values);

/// A sheet with one window for all, which a line below the pictures says; the scale is that of the volume.
io::Sheet sheet_of(GreyWindow window, const io::VolumePlace& place);

/// Writes pictures of the middle planes, along z, y and x, side by side as a PNG file. Of a volume of few
/// slices the first one alone.
void write_preview(io::Output output, std::vector<io::Picture> pictures, const pipeline::Plan& plan);

}  // namespace tandem::apps
