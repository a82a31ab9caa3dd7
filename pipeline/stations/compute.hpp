#pragma once

#include "../../io/volumes/volume_file.hpp"
#include "../methods/work.hpp"
#include "../plan/route.hpp"
#include "chunk.hpp"
#include "landing.hpp"

namespace tandem::pipeline {

/// A worker that makes volumes from counts on its device, along the route of the plan.
class ComputeStation {
 public:
  /// `writer` and `may_store` are as in `Landing`. @throws FileError if the initial volume cannot be read
  ComputeStation(Work work, ReadStation& read, PrepareStation& prepare, io::VolumeWriter* writer,
                 bool may_store);
  void operator()(Chunk& chunk);
  Outcome outcome() const;

 private:
  Work work_;
  Stream stream_;  ///< used by this worker alone, on whatever thread it runs
  Landing landing_;
  Maker maker_;
};

/// Checks the voxels of some slices where they lie, on the host or on a GPU. @throws GeometryError if some
/// are not finite: since the line integrals are finite, the method made them
void require_finite(const Job& job, Range slices, ConstVectorView volume);

}  // namespace tandem::pipeline
