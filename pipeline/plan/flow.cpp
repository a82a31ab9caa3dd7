#include "flow.hpp"

#include <algorithm>
#include <type_traits>

#include "../../counts/steps/chain.hpp"
#include "../../operators/distributed/rank_projector.hpp"

namespace tandem::pipeline {

namespace {

/// A size of the flow's route; 0 if the route has no such size.
template <class Size>
Index size_or_none(const Flow& flow, const Size& size) {
  return std::visit(
      [&](const auto& sizes) -> Index {
        if constexpr (std::is_invocable_v<Size, decltype(sizes)>) return size(sizes);
        return 0;
      },
      flow.sizes);
}

}  // namespace

Index part_slices(const Flow& flow, Index all) {
  const Index part =
      size_or_none(flow, [](const auto& s) -> decltype(s.part_slices) { return s.part_slices; });
  return part == 0 || part >= all ? std::min(part, all) : part - part % flow.chunk_slices;
}

Index piece_bytes(const Flow& flow) {
  return size_or_none(flow, [](const auto& s) -> decltype(s.piece_bytes) { return s.piece_bytes; });
}

Index block_views(const Flow& flow) {
  return size_or_none(flow, [](const auto& s) -> decltype(s.block_views) { return s.block_views; });
}

Range own_views(const Scan& scan, const Comm& together) {
  return portion_of_rank(views_of(scan), together.rank(), together.size());
}

bool gpus_prepare(const Job& job, const Flow& flow) {
  const bool weights = job.preprocessing.weights, all_views = job.needs_all_views || weights;
  if (!flow.shared.vectors.is_alone() && weights) return false;
  return flow.home().is_cuda() && gpu_does_all(job.preprocessing) &&
         (flow.home().members() == 1 || !all_views);
}

}  // namespace tandem::pipeline
