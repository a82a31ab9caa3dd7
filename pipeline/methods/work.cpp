#include "work.hpp"

#include <utility>

#include "../../operators/algebra.hpp"
#include "../chunks_due.hpp"
#include "../stopwatch.hpp"

namespace tandem::pipeline {

Array Work::moved_to(Device device, Array array) {
  const bool moves = array.space().device() != device;
  const Stopwatch clock("transfer", outcome.seconds.transfer, moves ? watch.board() : nullptr,
                        {.bytes = 4 * static_cast<double>(array.space().size())});
  return on_device(std::move(array), device);
}

void Work::copy_to(VectorView host, const Array& array) {
  const Stopwatch clock("transfer", outcome.seconds.transfer, watch.board(),
                        {.bytes = 4 * static_cast<double>(array.space().size())});
  Stream& stream = default_stream(array.space().device());
  copy(array, host, stream);
  stream.synchronize();
}

double updates_of(const Problem& problem) {
  return static_cast<double>(problem.A.domain().size()) * static_cast<double>(angles_of(problem.scan).size());
}

void Work::count_updates(const Problem& problem, double applications) {
  outcome.updates += applications * updates_of(problem);
}

Array FilteredBackProjection::filtered(const Problem& problem, const Array& y) {
  const Stopwatch watch("filter", work_.outcome.seconds.filter, work_.watch.board(),
                        {.slices = static_cast<double>(slices_fed(work_.plan, y.space().shape()[1])),
                         .bytes = 4 * static_cast<double>(y.space().size())});
  if (!filter_ || filter_->domain() != y.space() || has_row_axes(problem.scan))
    filter_ = filter_of(work_.plan, problem);
  return *filter_ * y;
}

Array FilteredBackProjection::back_projected(const Problem& problem, const Array& filtered, Range slices) {
  const Load all{.slices = static_cast<double>(slices.size()), .updates = updates_of(problem)};
  Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(), all);
  const auto done = [&](double share) {
    work_.tell("back-project", share * all.slices);
    watch.reached({.slices = share * all.slices, .updates = share * all.updates});
  };
  done(0);
  work_.count_updates(problem, 1);
  return pipeline::back_projected(work_.plan, problem, filtered, done);
}

}  // namespace tandem::pipeline
