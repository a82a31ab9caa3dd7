#include <utility>

#include "work.hpp"

namespace tandem::pipeline {

namespace {

class Fbp final : public Computation {
 public:
  explicit Fbp(Work& work) : steps_(work) {}

  Array volume(const Problem& problem, std::optional<LineIntegrals> data, Range slices) override {
    if (data) {
      filtered_.reset();
      filtered_ = steps_.filtered(problem, std::move(data->y));
    }
    return steps_.back_projected(problem, *filtered_, slices);
  }

 private:
  FilteredBackProjection steps_;
  std::optional<Array> filtered_;  ///< of a cone beam, for all its slabs
};

std::unique_ptr<Computation> begin(Work& work) { return std::make_unique<Fbp>(work); }

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
          .begin = begin};
}

}  // namespace made

}  // namespace tandem::pipeline
