#pragma once

#include <memory>

#include "../../io/volumes/volume_file.hpp"
#include "../methods/work.hpp"
#include "chunk.hpp"
#include "landing.hpp"
#include "prepare.hpp"
#include "sweep.hpp"

namespace tandem::pipeline {

/// One worker: makes volumes from counts by the method of the plan, on its device.
class ComputeStation {
 public:
  /// For the writer, see `Landing`. @throws FileError for the initial volume of the plan
  ComputeStation(Work work, ReadStation& read, PrepareStation& prepare, io::VolumeWriter* writer,
                 bool may_store);
  void operator()(Chunk& chunk);
  Outcome outcome() const;

 private:
  Array volume_of(Chunk& chunk);
  Array own_slab(Chunk& chunk, Array strip);

  Work work_;
  Stream stream_;  ///< of this worker alone, whatever thread it runs on
  ReadStation& read_;
  PrepareStation& prepare_;
  Landing landing_;
  std::unique_ptr<Computation> computation_;  ///< of whole chunks of data, or
  std::unique_ptr<Sweep> sweep_;              ///< of views in blocks
};

}  // namespace tandem::pipeline
