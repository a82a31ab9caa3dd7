#pragma once

#include "../outcome.hpp"
#include "../plan.hpp"
#include "../progress.hpp"
#include "../station_board.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Reads the rows from which slices are made. A cone beam is read once, with the first slices.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  void operator()(Chunk& chunk);

 private:
  Load load_of(Range slices, Range rows) const;

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
};

}  // namespace tandem::pipeline
