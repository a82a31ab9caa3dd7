#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "../../core/array.hpp"
#include "state_keeper.hpp"

namespace tandem::pipeline {

/// Keeps the state of a solver in memory, and gives it to the next one if that is to go on from there. For
/// one worker, and solvers whose state does not grow.
class StateInMemory final : public StateKeeper {
 public:
  /// Whether the next solver does; if not, the state is forgotten.
  void goes_on(bool whether);
  void begin(Range slices, ChunkState& at, AnySolver& solver) override;
  void save(Range slices, ChunkState& at, AnySolver& solver) override;
  void end(Range) override {}

 private:
  struct Part {
    std::optional<Array> vector;
    std::vector<std::byte> numbers;
  };
  static void take(const StatePart& of_solver, Part& kept);
  static void give(StatePart& of_solver, const Part& kept);

  bool goes_on_ = false;
  std::vector<Part> parts_;
};

}  // namespace tandem::pipeline
