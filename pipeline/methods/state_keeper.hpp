#pragma once

#include "../../core/range.hpp"
#include "../../solvers/run.hpp"
#include "../watch/curves.hpp"
#include "any_solver.hpp"

namespace tandem::pipeline {

/// How far a solver is on the slices of a chunk, and all that it needs to go on.
struct ChunkState {
  RunState run;
  CurveSums curves;
};

/// Watches the solver of each chunk, and keeps its state, so that a run that is killed can go on from there.
class StateKeeper {
 public:
  virtual ~StateKeeper() = default;
  /// A worker begins a chunk: `at` and `solver` get the state from which it goes on, if there is one.
  virtual void begin(Range slices, ChunkState& at, AnySolver& solver) = 0;
  virtual void save(Range slices, ChunkState& at, AnySolver& solver) = 0;  ///< after each iteration
  virtual void end(Range slices) = 0;  ///< the solver is done with the chunk
};

}  // namespace tandem::pipeline
