#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "../core/comm.hpp"
#include "plan/plan.hpp"

namespace tandem::pipeline {

/// Collective. Makes the plans of all ranks alike, with chunks that fit into the memory of each rank and are
/// small enough for each rank to get some.
void share_chunks(Plan& plan);

/// The chunks of a run that several ranks share. Each rank takes the next chunk when it is free.
class ChunkQueue {
 public:
  /// Collective. `begun`: the chunks with which this rank goes on, which no other rank takes.
  ChunkQueue(const Comm& ranks, std::vector<Range> due, const std::vector<Range>& begun);
  /// Takes the next chunk for this rank, and returns its number; empty if none is left.
  std::optional<Index> next();
  /// All chunks that are due, by their numbers.
  const std::vector<Range>& chunks() const { return chunks_; }
  void made(Index slices);  ///< notes that this rank has made these slices
  /// How many slices other ranks have made by now. Only the first rank asks, since it costs others a message.
  double made_by_others();

 private:
  Comm ranks_;
  std::vector<Range> chunks_;
  std::vector<Index> own_;  ///< numbers of chunks that no other rank takes, the next one last
  Index shared_ = 0;        ///< number of the first chunk that any rank may take
  SharedCounter counter_, made_;
  std::atomic<Index> own_made_ = 0;
};

}  // namespace tandem::pipeline
