#include <utility>

#include "work.hpp"

namespace tandem::pipeline {

namespace {

class Fbp final : public Computation {
 public:
  explicit Fbp(Work& work) : steps_(work) {}

  Array volume(const Problem& problem, LineIntegrals data, Range slices) override {
    return steps_.back_projected(problem, steps_.filtered(problem, std::move(data.y)), slices);
  }

 private:
  FilteredBackProjection steps_;
};

std::unique_ptr<Computation> begin_fbp(Work& work) { return std::make_unique<Fbp>(work); }

}  // namespace

namespace made {

Method fbp() {
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

}  // namespace made

}  // namespace tandem::pipeline
