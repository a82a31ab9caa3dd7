#pragma once

#include <memory>

#include "../../io/volume_file.hpp"
#include "../methods/work.hpp"
#include "chunk.hpp"
#include "prepare.hpp"

namespace tandem::pipeline {

/// One worker: makes volumes from counts by the method of the plan, on its device.
class ComputeStation {
 public:
  /// The writer may be null: then nobody says where volumes are to lie. `may_store`: whether they may come as
  /// the writer stores them. @throws FileError for the initial volume of the plan
  ComputeStation(Work work, PrepareStation& prepare, io::VolumeWriter* writer, bool may_store);
  void operator()(Chunk& chunk);
  const Outcome& outcome() const { return work_.outcome; }

 private:
  Array volume_of(Chunk& chunk);
  void bring_home(Array volume, Chunk& chunk);
  bool bring_stored(const Array& volume, Chunk& chunk);

  Work work_;
  Stream stream_;  ///< of this worker alone, whatever thread it runs on
  PrepareStation& prepare_;
  io::VolumeWriter* writer_;
  bool may_store_;
  std::unique_ptr<Computation> computation_;
};

}  // namespace tandem::pipeline
