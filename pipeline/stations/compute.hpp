#pragma once

#include <memory>

#include "../methods/work.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Makes volumes of line integrals by the plan's method, where the plan says.
class ComputeStation {
 public:
  /// `any_external`: see io::VolumeReader, of an initial volume. @throws FileError for that volume
  ComputeStation(const Plan& plan, Watch& watch, Outcome& outcome, bool any_external);
  void operator()(Chunk& chunk);
  void finish() { computation_->finish(); }

 private:
  Work work_;
  std::unique_ptr<Computation> computation_;
};

}  // namespace tandem::pipeline
