#pragma once

#include <memory>

#include "../methods/work.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Makes volumes from line integrals by the method of the plan, on the device of the plan.
class ComputeStation {
 public:
  /// For `any_external` of an initial volume see io::VolumeReader. @throws FileError for that volume
  ComputeStation(const Plan& plan, Watch& watch, Outcome& outcome, bool any_external);
  void operator()(Chunk& chunk);
  void finish() { computation_->finish(); }

 private:
  Work work_;
  std::unique_ptr<Computation> computation_;
};

}  // namespace tandem::pipeline
