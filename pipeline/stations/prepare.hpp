#pragma once

#include <mutex>
#include <optional>

#include "../methods/work.hpp"
#include "../open_ends.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Turns counts into line integrals and checks whether the data lack something. All workers share it.
class PrepareStation {
 public:
  /// @throws GeometryError or FileError if the scan lacks what is needed to turn counts into line integrals
  PrepareStation(const io::ScanInfo& info, const Plan& plan);
  /// The line integrals of a chunk; empty if no counts came with it.
  std::optional<LineIntegrals> operator()(Chunk& chunk, Work& work);
  /// Adds findings and warnings, after all data have passed.
  void finish(Outcome& outcome) const;

 private:
  void add(const Findings& found, const Array& y);
  void require_mostly_good() const;

  const Plan& plan_;
  std::mutex mutex_;
  Findings findings_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
