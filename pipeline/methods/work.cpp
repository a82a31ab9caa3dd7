#include "work.hpp"

#include <utility>

#include "../../operators/algebra.hpp"
#include "../beams/placement.hpp"
#include "../watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

double bytes_in(const io::FramesView& frames) {
  const auto [count, rows, bins] = frames.shape;
  return 1.0 * (count * rows * bins) * bytes_of(frames.type);
}

}  // namespace

Array Work::moved_to(Device device, Array array) {
  const bool moves = array.space().device() != device;
  const Stopwatch clock("transfer", outcome.seconds.transfer, moves ? watch.board() : nullptr,
                        {.bytes = 4.0 * array.space().size()});
  return on_device(std::move(array), device);
}

std::vector<GpuFrames> Work::moved_to_gpus(const io::FramesView& frames, const Space& views) {
  const Stopwatch clock("transfer", outcome.seconds.transfer, watch.board(), {.bytes = bytes_in(frames)});
  std::vector<std::optional<GpuFrames>> there(views.shares());
  on_members(device(), [&](int k) {
    io::FramesView some = frames;
    some.data += views.first_plane(k) * frames.frame_step * bytes_of(frames.type);
    some.shape[0] = views.share(k).shape()[0];
    some.first += views.first_plane(k);
    there[k] = on_gpu(some, device().member(k));
  });
  std::vector<GpuFrames> all;
  for (auto& some : there) all.push_back(std::move(*some));
  return all;
}

void Work::move_to(GpuFrames& there, const io::FramesView& frames, Stream& stream) {
  const Stopwatch clock("transfer", outcome.seconds.transfer, watch.board(), {.bytes = bytes_in(frames)});
  pipeline::move_to(there, frames, stream);
}

void Work::copy_to(std::byte* host, ConstVectorView vector, Index bytes) {
  const Stopwatch clock("transfer", outcome.seconds.transfer, watch.board(), {.bytes = 1.0 * bytes});
  Stream& stream = default_stream(vector.space.device());
  const auto* from = reinterpret_cast<const std::byte*>(vector.data);
  copy({from, 1, 1, bytes, bytes, bytes}, {host, 1, 1, bytes, bytes, bytes}, stream);
  stream.synchronize();
}

namespace {

double slices_of(const Problem& problem) { return problem.grid.size[2]; }

}  // namespace

double updates_of(const Problem& problem) { return 1.0 * problem.A.domain().size() * views_of(problem.scan); }

void Work::count_updates(const Problem& problem, double applications) {
  outcome.updates += applications * updates_of(problem);
}

Array FilteredBackProjection::filtered(const Problem& problem, Array y) {
  const Stopwatch watch("filter", work_.outcome.seconds.filter, work_.watch.board(),
                        {.slices = slices_of(problem), .bytes = 4.0 * y.space().size()});
  renew(problem);
  const Flow& flow = work_.plan.flow;
  if (!filter_) filter_ = flow.pair.placement->filter(flow, how_, problem);
  return filter_ ? *filter_ * y : std::move(y);
}

Array FilteredBackProjection::back_projected(const Problem& problem, const Array& filtered, Range slices) {
  const Load all{.slices = 1.0 * slices.size(), .updates = updates_of(problem)};
  Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(), all);
  const auto done = [&](double share) {
    work_.tell("back-project", share * all.slices);
    watch.reached({.slices = share * all.slices, .updates = share * all.updates});
  };
  done(0);
  work_.count_updates(problem, 1);
  renew(problem);
  const Flow& flow = work_.plan.flow;
  if (!back_projection_) back_projection_ = flow.pair.placement->back_projection(flow, how_, problem);
  return back_projection_(filtered, done);
}

void FilteredBackProjection::renew(const Problem& problem) {
  if (made_for_ && are_alike(*made_for_, problem)) return;
  made_for_ = problem;
  filter_.reset();
  back_projection_ = nullptr;
}

}  // namespace tandem::pipeline
