#include <utility>

#include "work.hpp"

namespace tandem::pipeline {

namespace {

Computation begin_fbp(Work& work) {
  return [steps = std::make_shared<FilteredBackProjection>(work, work.plan.job.options.fbp_filter)](
             const Problem& problem, LineIntegrals data, Range slices) {
    return steps->back_projected(problem, steps->filtered(problem, std::move(data.y)), slices);
  };
}

}  // namespace

Method fbp_method() {
  return {.name = "fbp",
          .name_for_cones = "fdk",
          .help = "filtered back-projection, for a cone beam by Feldkamp, Davis and Kress",
          .filters = true,
          .takes_whole = false,
          .needs_matched_pair = false,
          .holds = {{.volumes = 0, .projections = 2, .projects = false, .back_projects = false},
                    {.volumes = 1, .projections = 1, .projects = false, .back_projects = true}},
          .begin = begin_fbp};
}

}  // namespace tandem::pipeline
