#pragma once

// Frames of other frames: some of them, or turned. Used only within io/.

#include <memory>
#include <vector>

#include "frame_source.hpp"
#include "orientation.hpp"

namespace tandem::io {

/// Keeps views first, first + step, ..., with what is known of each of them. Angles are chosen before.
void take_views(Acquisition& found, Index first, Index step);

/// The numbers first, first + step, ... of a list.
std::vector<double> every(const std::vector<double>& numbers, Index first, Index step);

/// A range of the frames of one source.
FrameSources between(FrameSources sources, Range frames);

/// The frames of a source with other rows and bins. With `lines`, frames of one row are the lines of one
/// image, and the frames are the lines of the turned image.
std::unique_ptr<FrameSource> oriented(std::unique_ptr<FrameSource> source, const Orientation& how,
                                      bool lines = false);

/// Turns all frames, and what the file says of them: axes, midplane and pitches.
void orient(Acquisition& found, const Orientation& how);

}  // namespace tandem::io
