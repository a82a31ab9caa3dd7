#pragma once

#include <functional>

#include "work.hpp"

namespace tandem::pipeline {

/// Reads slices of a volume on the grid that is written.
using ReadSlices = std::function<void(Range slices, float* to)>;

/// Puts what `read` has into a vector of some slices on the host, on the solved grid. Voxels that are not
/// written stay, or get `beyond` beside those that are. If vectors are split over ranks, it is collective:
/// files have whole slices, so each rank reads a slab, and gives each other rank its lines.
void read_into(const Work& work, Range slices, const ReadSlices& read, float beyond, Array& x);

}  // namespace tandem::pipeline
