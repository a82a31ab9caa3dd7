#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "../../io/files/output.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../../pipeline/watch/outcome.hpp"

namespace tandem::apps {

/// The fewest slices for planes along the axis; with fewer they would be lines, and are left out.
constexpr Index fewest_slices = 8;

/// Grey values that a picture shows as black and as white.
struct GreyWindow {
  float black = 0, white = 1;
};
/// The window from the 0.5th to the 99.5th percentile, so that a few outliers do not make a picture black.
/// @pre the values are finite, and there is at least one
GreyWindow window_of(std::vector<float> values);
/// That window for pictures that are seen together, from finite values; from about `enough` of them, if there
/// are more.
GreyWindow joint_window(const std::vector<std::span<const float>>& pictures,
                        std::size_t enough = std::numeric_limits<std::size_t>::max());

/// A sheet with one window for all pictures; a line below them says which. It has the scale of the volume.
io::Sheet sheet_of(GreyWindow window, const io::VolumePlace& place);

/// Writes pictures of the middle planes, normal to z, y and x, side by side as a PNG file. If the volume has
/// few slices, it writes only the first one.
void write_preview(io::Output output, std::vector<io::Picture> pictures, const pipeline::Plan& plan);

}  // namespace tandem::apps
