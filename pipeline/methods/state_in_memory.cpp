#include "state_in_memory.hpp"

#include <algorithm>
#include <span>
#include <variant>

namespace tandem::pipeline {

void StateInMemory::goes_on(bool whether) {
  goes_on_ = whether;
  if (!whether) parts_.clear();
}

void StateInMemory::begin(Range, ChunkState&, AnySolver& solver) {
  SolverState state = solver.state().value();
  if (!goes_on_ || parts_.size() != state.size()) return;
  for (std::size_t k = 0; k < state.size(); ++k) give(state[k], parts_[k]);
}

void StateInMemory::save(Range, ChunkState&, AnySolver& solver) {
  const SolverState state = solver.state().value();
  parts_.resize(state.size());
  for (std::size_t k = 0; k < state.size(); ++k) take(state[k], parts_[k]);
}

void StateInMemory::take(const StatePart& of_solver, Part& kept) {
  if (const auto* numbers = std::get_if<std::span<std::byte>>(&of_solver.value)) {
    kept.numbers.assign(numbers->begin(), numbers->end());
    return;
  }
  const VectorView vector = std::get<VectorView>(of_solver.value);
  Stream& stream = default_stream(vector.space.device());
  if (!kept.vector) kept.vector.emplace(vector.space, stream);
  copy(vector, *kept.vector, stream);
  stream.synchronize();
}

void StateInMemory::give(StatePart& of_solver, const Part& kept) {
  if (const auto* numbers = std::get_if<std::span<std::byte>>(&of_solver.value)) {
    std::ranges::copy(kept.numbers, numbers->begin());
    return;
  }
  const VectorView vector = std::get<VectorView>(of_solver.value);
  Stream& stream = default_stream(vector.space.device());
  copy(*kept.vector, vector, stream);
  stream.synchronize();
}

}  // namespace tandem::pipeline
