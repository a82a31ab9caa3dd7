#include "gpu_gaps.hpp"

#include "../../operators/hierarchical.hpp"
#include "../methods/method.hpp"

namespace tandem::pipeline {

std::string lacking_on_gpus(const Job& job, const Recipe& recipe) {
  if (is_curved(job.scan) && !job.method->filters) return "projector for a curved detector";
  if (recipe.model == Model::hierarchical && hierarchical_accuracy(recipe.execution) != 0)
    return "another accuracy of the hierarchical model";
  return "";
}

}  // namespace tandem::pipeline
