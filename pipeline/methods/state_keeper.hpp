#pragma once

#include "../../solvers/run.hpp"
#include "../../solvers/solver_kind.hpp"
#include "../watch/curves.hpp"

namespace tandem::pipeline {

/// The state of a solver on the slices of a chunk, beside its vectors.
struct ChunkState {
  RunState run;
  CurveSums curves;
};

/// Watches the solver of each chunk, and keeps its state, so that a run that is killed can go on from there.
class StateKeeper {
 public:
  virtual ~StateKeeper() = default;
  /// Notes that a worker begins a chunk. If there is a state to go on from, `at` and `solver` get it.
  virtual void begin(Range slices, ChunkState& at, AnySolver& solver) = 0;
  virtual void save(Range slices, ChunkState& at, AnySolver& solver) = 0;  ///< called after each iteration
  virtual void end(Range slices) = 0;  ///< notes that the solver is done with the chunk
};

}  // namespace tandem::pipeline
