#pragma once

#include <optional>

#include "../preprocess.hpp"

namespace tandem::pipeline {

/// Frames of some rows as they were read.
struct Counts {
  io::Frames projections;
  Reference reference;
};

/// What goes along the conveyor from station to station: counts, then line integrals, then a volume.
struct Chunk {
  Range slices;  ///< of the volume; in a parallel beam row k of the plan's scan is slice k
  std::optional<Counts> counts;
  std::optional<LineIntegrals> data;
  std::optional<Array> volume;
};

}  // namespace tandem::pipeline
