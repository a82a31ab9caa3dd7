#include "flow.hpp"

#include "../../counts/steps/chain.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../beams/placement.hpp"

namespace tandem::pipeline {

Range own_views(const Scan& scan, const Comm& together) {
  return portion_of_rank(views_of(scan), together.rank(), together.size());
}

bool gpus_prepare(const Job& job, const Flow& flow) {
  const bool weights = job.preprocessing.weights, all_views = job.needs_all_views || weights;
  if (!flow.together.is_alone() && weights) return false;
  return flow.home().is_cuda() && gpu_does_all(job.preprocessing) &&
         (flow.home().members() == 1 || !all_views);
}

std::string vectors(const Flow& flow) { return flow.placement->words(flow); }
bool in_tiles(const Flow& flow) { return flow.placement->in_tiles; }

std::string vectors_on_devices(const Flow& flow) {
  const int members = flow.home().members();
  if (members == 1) return "on one device";
  return "split over " + std::to_string(members) + (flow.home().is_cuda() ? " GPUs" : " devices");
}

}  // namespace tandem::pipeline
