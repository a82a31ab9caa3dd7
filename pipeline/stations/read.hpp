#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "../outcome.hpp"
#include "../plan.hpp"
#include "../progress.hpp"
#include "../station_board.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Reads the rows from which slices are made: of one chunk, or of as many as the plan says at once, of which
/// the chunks are parts. Where views pass in blocks, a chunk comes with its flats and darks alone.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  void operator()(Chunk& chunk);
  /// The counts of some views (from 0) of these slices, in `memory` or where they lie. They are read as a
  /// part of this many slices. Any thread may call it.
  io::FramesView views(Range slices, Range views, double of_slices, io::Frames& memory);

 private:
  /// The counts of these slices where they lie; their owner, if that is not the reader.
  std::pair<io::FramesView, std::shared_ptr<const io::Frames>> counts_of(Range slices);
  void read_part(Range slices);
  bool has_part(Range rows) const {
    return part_ && part_rows_.first <= rows.first && rows.last <= part_rows_.last;
  }
  /// The darks and flats of the rows, from those of the part if that was read.
  Reference reference_of(Range rows);

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  std::mutex mutex_;                         ///< of the reader
  Range part_rows_;                          ///< of the file, that were read last
  std::shared_ptr<const io::Frames> part_;   ///< their counts
  std::optional<Reference> part_reference_;  ///< of a part of several chunks
};

}  // namespace tandem::pipeline
