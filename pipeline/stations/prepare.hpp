#pragma once

#include <string>

#include "../open_ends.hpp"
#include "../outcome.hpp"
#include "../plan.hpp"
#include "../progress.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Turns counts into line integrals, and looks at what the data lack. It runs where frames are read, so that
/// the CPU has it behind it while a GPU computes.
class PrepareStation {
 public:
  /// @throws GeometryError, FileError if the scan has not what turns counts into line integrals
  PrepareStation(const io::ScanInfo& info, const Plan& plan, Watch& watch, Outcome& outcome);
  void operator()(Chunk& chunk);
  /// Warnings, after all data have gone by.
  void finish();

 private:
  void require_mostly_good() const;

  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
