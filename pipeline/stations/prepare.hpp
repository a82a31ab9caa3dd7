#pragma once

#include <string>

#include "../open_ends.hpp"
#include "../outcome.hpp"
#include "../plan.hpp"
#include "../progress.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Turns counts into line integrals and checks whether the data lack something. It runs together with the
/// reading of frames, so that the CPU does this work while a GPU computes.
class PrepareStation {
 public:
  /// @throws GeometryError or FileError if the scan lacks what is needed to turn counts into line integrals
  PrepareStation(const io::ScanInfo& info, const Plan& plan, Watch& watch, Outcome& outcome);
  void operator()(Chunk& chunk);
  /// Adds warnings, after all data have passed.
  void finish();

 private:
  void require_mostly_good() const;

  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
