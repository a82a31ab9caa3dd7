#pragma once

#include "../outcome.hpp"
#include "../progress.hpp"
#include "../recipe.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Reads the rows that slices are made from. A cone beam is read once, with the first slices.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, const Preprocessing& how, Watch& watch,
              Outcome& outcome)
      : reader_(reader), plan_(plan), how_(how), watch_(watch), outcome_(outcome) {}
  void operator()(Chunk& chunk);

 private:
  io::ScanReader& reader_;
  const Plan& plan_;
  const Preprocessing& how_;
  Watch& watch_;
  Outcome& outcome_;
};

}  // namespace tandem::pipeline
