#include "flow.hpp"

#include <algorithm>

#include "../../counts/steps/chain.hpp"
#include "../../operators/distributed/rank_projector.hpp"

namespace tandem::pipeline {

Index part_slices(const Flow& flow, Index all) {
  const Index part = std::visit(
      [](const auto& sizes) -> Index {
        if constexpr (requires { sizes.part_slices; }) return sizes.part_slices;
        return 0;
      },
      flow.sizes);
  return part == 0 || part >= all ? std::min(part, all) : part - part % flow.chunk_slices;
}

Index piece_bytes(const Flow& flow) {
  return std::visit(
      [](const auto& sizes) -> Index {
        if constexpr (requires { sizes.piece_bytes; }) return sizes.piece_bytes;
        return 0;
      },
      flow.sizes);
}

Index block_views(const Flow& flow) {
  return std::visit(
      [](const auto& sizes) -> Index {
        if constexpr (requires { sizes.block_views; }) return sizes.block_views;
        return 0;
      },
      flow.sizes);
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
