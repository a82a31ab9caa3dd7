#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "../outcome.hpp"
#include "../plan.hpp"
#include "../progress.hpp"
#include "../station_board.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Reads the rows from which slices are made: of one chunk, or of as many as the plan says at once, of which
/// the chunks are parts. A cone beam is read once, with the first slices.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  void operator()(Chunk& chunk);

 private:
  /// The counts of these slices where they lie; their owner, if that is not the reader.
  std::pair<io::FramesView, std::shared_ptr<const io::Frames>> counts_of(Range slices);
  void read_part(Range slices);
  /// The darks and flats of the rows, from those of the part if that was read.
  Reference reference_of(Range rows);

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  Range part_rows_;                          ///< of the file, that were read last
  std::shared_ptr<const io::Frames> part_;   ///< their counts
  std::optional<Reference> part_reference_;  ///< of a part of several chunks
};

}  // namespace tandem::pipeline
