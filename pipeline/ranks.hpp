#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "../core/comm.hpp"
#include "plan/plan.hpp"

namespace tandem::pipeline {

/// All ranks: makes their plans alike, with chunks that fit into the memory of each, and are small enough
/// that each rank gets some.
void share_chunks(Plan& plan);

/// The chunks of a run that several ranks share: each takes the next one when it is free.
class ChunkQueue {
 public:
  /// All ranks. `begun`: first slices of the chunks with which this rank goes on; nobody else takes them.
  ChunkQueue(const Comm& ranks, std::vector<Range> due, const std::vector<Range>& begun);
  /// The number of the chunk that this rank does next; empty if none is left.
  std::optional<Index> next();
  /// All that are due, by their numbers.
  const std::vector<Range>& chunks() const { return chunks_; }
  void made(Index slices);  ///< by this rank
  /// How many slices others have made by now. The first rank is asked, as it costs the others a message.
  double made_by_others();

 private:
  Comm ranks_;
  std::vector<Range> chunks_;
  std::vector<Index> own_;  ///< numbers of chunks that nobody else takes, the next one last
  Index shared_ = 0;        ///< number of the first chunk that anybody takes
  SharedCounter counter_, made_;
  std::atomic<Index> own_made_ = 0;
};

}  // namespace tandem::pipeline
