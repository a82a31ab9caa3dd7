#pragma once

#include "../../calibration/measured_frames.hpp"
#include "../../core/array.hpp"
#include "../../counts/preprocess.hpp"
#include "complete.hpp"

namespace tandem::pipeline {

/// The frames that a calibration searches: those that a recipe takes from a scan, made by its steps. Frames
/// are not resampled. Some views are in memory at a time. Reader and recipe outlive it. @throws GeometryError
/// for a scan without a pixel size, since a geometry has lengths, and for steps that need all views at once
calibration::MeasuredFrames frames_of(io::ScanReader& reader, const Recipe& recipe, const Listener& listener);

/// Views whose line integrals are made some at a time: `read` and `bins` of the file, with margins of the
/// reference.
struct BlocksRead {
  const Preprocessing& how;
  const Reference& reference;
  Range read, bins, views;
  Index rows_made, bins_made, at_once;
};
/// Gets the line integrals (view, row, bin) of some views, and the number of the first one, on any thread.
using TakeBlock = std::function<void(Index first, const Array& lines)>;
void for_each_block(io::ScanReader& reader, const BlocksRead& what, const Listener& listener,
                    const TakeBlock& take);

/// The number of views whose line integrals take some 32 MB: more is taken from the system, page by page,
/// each time.
Index views_at_once(Range rows, Range bins);

}  // namespace tandem::pipeline
