#include "ranks.hpp"

#include <algorithm>

#include "../core/ceil_div.hpp"
#include "../core/rounding.hpp"
#include "methods/method.hpp"
#include "plan/route.hpp"
#include "watch/packet.hpp"

namespace tandem::pipeline {

constexpr Index chunks_a_rank = 3;  // so that other ranks can take chunks from a slow rank

void share_chunks(Plan& plan) {
  const Comm& ranks = plan.flow.shared.queue;
  if (ranks.is_alone()) return;
  const bool apart = route_of(plan.flow).slices_apart;
  const Index parts = ranks.size() * (apart ? chunks_a_rank : std::ssize(plan.flow.workers));
  const Index fair = std::max({ceil_div(plan.job.grid.size[2], parts), 2 * plan.job.margin.beside,
                               route_of(plan.flow).fewest_slices(plan.job)});
  const auto least = [&](Index number) {
    double least_of_all = number;
    ranks.all_reduce({&least_of_all, 1}, Combine::least);
    return floor_index(least_of_all);
  };
  plan.flow.chunk_slices = least(std::min(plan.flow.chunk_slices, fair));
  std::visit(
      [&](auto& sizes) {
        if constexpr (requires { sizes.part_slices; }) sizes.part_slices = least(sizes.part_slices);
      },
      plan.flow.sizes);
}

ChunkQueue::ChunkQueue(const Comm& ranks, std::vector<Range> due, const std::vector<Range>& begun)
    : ranks_(ranks), chunks_(std::move(due)), counter_(ranks), made_(ranks) {
  Packet packet;
  std::vector<Range> own = begun;
  pass(packet, own);
  int rank = 0;
  for (const std::string& text : ranks_.all_gather(packet.bytes())) {
    Packet of_rank(text);
    std::vector<Range> reserved;
    pass(of_rank, reserved);
    for (const Range slices : reserved) {
      const auto same = [&](Range chunk) { return chunk.first == slices.first; };
      const auto at = std::find_if(chunks_.begin() + shared_, chunks_.end(), same);
      if (at == chunks_.end()) continue;  // the volume has it already
      std::rotate(chunks_.begin() + shared_, at, at + 1);
      if (rank == ranks_.rank()) own_.push_back(shared_);
      ++shared_;
    }
    ++rank;
  }
  std::ranges::reverse(own_);
}

std::optional<Index> ChunkQueue::next() {
  Index number = 0;
  if (!own_.empty()) {
    number = own_.back();
    own_.pop_back();
  } else {
    number = shared_ + counter_.add(1);
  }
  if (number >= std::ssize(chunks_)) return std::nullopt;
  return number;
}

void ChunkQueue::made(Index slices) {
  own_made_ += slices;
  made_.add(slices);
}

double ChunkQueue::made_by_others() { return made_.add(0) - own_made_; }

}  // namespace tandem::pipeline
