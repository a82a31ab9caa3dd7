#include "work.hpp"

#include <utility>

#include "../../operators/algebra.hpp"
#include "../stopwatch.hpp"

namespace tandem::pipeline {

Array Work::moved_to(Device device, Array array) {
  const Stopwatch clock("transfer", outcome.seconds.transfer);
  return on_device(std::move(array), device);
}

void Work::count_updates(const Problem& problem, double applications) {
  outcome.updates += applications * static_cast<double>(problem.A.domain().size()) *
                     static_cast<double>(angles_of(problem.scan).size());
}

Array FilteredBackProjection::filtered(const Problem& problem, const Array& y) {
  const Stopwatch watch("filter", work_.outcome.seconds.filter);
  if (!filter_ || filter_->domain() != y.space() || has_row_axes(problem.scan))
    filter_ = filter_of(work_.plan, problem);
  return *filter_ * y;
}

Array FilteredBackProjection::back_projected(const Problem& problem, const Array& filtered, Range slices) {
  const auto done = [&](double share) {
    work_.tell("back-project", share * static_cast<double>(slices.size()));
  };
  done(0);
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject);
  work_.count_updates(problem, 1);
  return pipeline::back_projected(work_.plan, problem, filtered, done);
}

}  // namespace tandem::pipeline
