#pragma once

// Frames that are made from numbers or from other frames. Used only within io/.

#include <memory>

#include "frame_source.hpp"

namespace tandem::io {

/// One frame of rows x bins in which all pixels have a value.
std::unique_ptr<FrameSource> constant_frame(const std::string& where, float value, Index rows, Index bins);

/// The frames of a source, divided by a number, in float32.
std::unique_ptr<FrameSource> divided_frames(std::unique_ptr<FrameSource> source, double divisor);

}  // namespace tandem::io
