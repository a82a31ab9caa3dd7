#pragma once

// Frames that are made from other frames: some of them, or turned ones. Used only within io/.

#include <memory>
#include <vector>

#include "frame_source.hpp"
#include "orientation.hpp"

namespace tandem::io {

/// Keeps views first, first + step, ..., with what is known about each of them. Angles have been chosen
/// before.
void take_views(Acquisition& found, Index first, Index step);

/// The items first, first + step, ... of a list.
template <class Item>
std::vector<Item> every(const std::vector<Item>& all, Index first, Index step) {
  std::vector<Item> some;
  for (auto k = first; k < std::ssize(all); k += step) some.push_back(all[k]);
  return some;
}

/// A range of the frames of one source.
FrameSources between(FrameSources sources, Range frames);

/// The frames of a source with rows and bins exchanged or flipped. With `lines`, frames of one row are the
/// lines of one image, and the result has the lines of the turned image.
std::unique_ptr<FrameSource> oriented(std::unique_ptr<FrameSource> source, const Orientation& how,
                                      bool lines = false);

/// Turns all frames, and what the file says about them: axes, midplane and pitches.
void orient(Acquisition& found, const Orientation& how);

}  // namespace tandem::io
