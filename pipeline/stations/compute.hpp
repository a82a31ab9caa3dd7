#pragma once

#include "../../io/volumes/volume_file.hpp"
#include "../methods/work.hpp"
#include "../plan/route.hpp"
#include "chunk.hpp"
#include "landing.hpp"

namespace tandem::pipeline {

/// One worker: makes volumes from counts along the route of the plan, on its device.
class ComputeStation {
 public:
  /// For the writer, see `Landing`. @throws FileError for the initial volume of the plan
  ComputeStation(Work work, ReadStation& read, PrepareStation& prepare, io::VolumeWriter* writer,
                 bool may_store);
  void operator()(Chunk& chunk);
  Outcome outcome() const;

 private:
  Work work_;
  Stream stream_;  ///< of this worker alone, whatever thread it runs on
  Landing landing_;
  Maker maker_;
};

/// Looks at the voxels of some slices where they lie, on the host or on a GPU. @throws GeometryError if some
/// are not finite: the line integrals are, so what is not was made here
void require_finite(const Job& job, Range slices, ConstVectorView volume);

}  // namespace tandem::pipeline
