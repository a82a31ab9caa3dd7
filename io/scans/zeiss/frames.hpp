#pragma once

// Images in compound files. Used only within io/scans/zeiss/.

#include <memory>
#include <string>
#include <vector>

#include "../frame_source.hpp"
#include "compound_file.hpp"

namespace tandem::io {

/// The images in streams of a file, one in each, of `rows` x `bins` pixels of this type. @throws FileError if
/// a stream is not there, or too short
std::unique_ptr<FrameSource> frames_in_streams(std::shared_ptr<const CompoundFile> file,
                                               const std::vector<std::string>& streams, PixelType type,
                                               Index rows, Index bins);

/// The move of an image before it is used, in whole pixels towards higher rows and bins.
struct Move {
  Index rows, bins;
};

/// Transmissions in float32: frames divided by the mean of all flats, and then moved. Pixels beyond an edge
/// are as at the edge.
std::unique_ptr<FrameSource> moved_transmissions(std::unique_ptr<FrameSource> frames,
                                                 std::unique_ptr<FrameSource> flats, std::vector<Move> moves);

}  // namespace tandem::io
