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
  /// The line integrals of a chunk, on the GPU of the worker if that can make them, else on the CPU; empty if
  /// no counts came with it.
  std::optional<LineIntegrals> operator()(Chunk& chunk, Work& work);
  /// Takes note of what was found in some data, and looks whether line integrals come down to air. @throws
  /// FileError if too much was replaced
  void add(const Findings& found);
  void look_at(const Array& y);
  /// Adds findings and warnings, after all data have passed.
  void finish(Outcome& outcome) const;

 private:
  LineIntegrals line_integrals(const Chunk& chunk, Work& work, Findings& found) const;
  void require_mostly_good() const;

  const Plan& plan_;
  std::mutex mutex_;
  Findings findings_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
