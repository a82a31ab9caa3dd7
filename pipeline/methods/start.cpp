#include "start.hpp"

#include <utility>

#include "../same_grid.hpp"

namespace tandem::pipeline {

Start::Start(Work& work) : work_(work), fbp_(work) {
  const MethodOptions& options = work.plan.options;
  if (options.initial == Initial::file)
    file_ = open_on_grid(work.plan, options.initial_file, "--initial", work.any_external);
}

Array Start::operator()(const Problem& problem, const Array& y, Range slices) {
  if (work_.plan.options.initial == Initial::fbp)
    return fbp_.back_projected(problem, fbp_.filtered(problem, y.clone()), slices);
  if (!file_) return Array(problem.A.domain());
  Array x(problem.A.domain().on(Device::cpu()));
  file_->read(slices, x.data());
  return work_.moved_to(work_.device(), std::move(x));
}

}  // namespace tandem::pipeline
