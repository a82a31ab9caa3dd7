#include "sweep.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/tiling.hpp"
#include "../memory/vector_bytes.hpp"
#include "../plan/view_samples.hpp"
#include "../watch/stopwatch.hpp"
#include "landing.hpp"

namespace tandem::pipeline {

struct Sweep::Pass {
  const Problem& problem;
  Chunk& chunk;
  ByViews fdk;
  Array slab;
  ViewSamples samples;
  Index views;      ///< number of views of all blocks
  Index added = 0;  ///< number of views that are added
  /// A block is queued before the host waits for the one before, so that a GPU always has work.
  std::optional<Array> last{};  ///< filtered data that are being added

  double slices() const { return problem.grid.size[2]; }
  /// The number of slices that the work on `some` views equals.
  double share(Index some) const { return slices() * some / views; }
  /// Line integrals of the block before, if the next block needs some of its views too.
  std::optional<Array> before{};
  Range views_before{0, 0};

  Range behind(Range block) const { return fdk.behind ? fdk.behind(block) : block; }
};

namespace {

/// A block of views while it is read.
struct Place {
  io::Frames memory;
  io::FramesView counts;
  std::optional<Array> filtered;
  std::optional<LinearOperator> back_projection;
};

/// Copies the views that are both in `had` and in `wanted`.
void copy_views(const Array& from, Range had, Array& to, Range wanted) {
  const Range both{std::max(had.first, wanted.first), std::min(had.last, wanted.last)};
  if (both.first >= both.last) return;
  const auto part = [&both](auto all, Range views) {
    all.data += (both.first - views.first) * all.s0, all.n0 = both.size();
    return all;
  };
  copy(part(image(ConstVectorView(from)), had), part(image(VectorView(to)), wanted),
       default_stream(to.space().device()));
}

/// Bytes of the filtered data of a block of views.
double filtered_bytes(const Plan& plan) {
  return 4.0 * (plan.flow.views_at_once * rows_held(plan, plan.job.grid.size[2])) * bins_of(plan.job);
}

/// The views that no block before needed.
template <class Pass>
Range fresh_views(const Pass& pass, const std::vector<Range>& blocks, Index number) {
  const std::size_t k = number;
  return {number == 0 ? 0 : pass.behind(blocks[k - 1]).last, pass.behind(blocks[k]).last};
}

}  // namespace

std::vector<Range> blocks_of(Index views, Index most) {
  std::vector<Range> blocks = pieces({0, views}, most);
  if (const Index cut = blocks.front().last / 4 / 8 * 8; cut > 0) {
    blocks.front().first = cut;
    blocks.insert(blocks.begin(), {0, cut});
  }
  return blocks;
}

Index views_of_block(const Plan& plan) {
  return std::min(plan.flow.views_at_once + plan.job.filtered.views_beside, views_of(plan.job));
}

double blocks_on_host(const Plan& plan, const io::ScanInfo& info, const Worker& worker, Index slices,
                      bool counts_stay) {
  constexpr double blocks = 3;
  const Index views = views_of_block(plan);
  const Detector& d = detector_of(plan.job.scan);
  // The line integrals of this block; perhaps also those of the block before, and both put together.
  const double kept = plan.job.filtered.views_beside > 0 ? 3 : 1;
  const double y = kept * data_sets(plan.job) * 4 * (views * d.rows * d.bins),
               volume = volume_at_home(plan, slices),
               counts = counts_stay ? 0 : blocks * counts_bytes(info, cells_read(plan, slices), views);
  if (worker.device.is_cuda())
    return counts + (prepared_on_gpu(plan, info) ? 0 : y) + volumes_landed(plan, slices, 1);
  return counts + y + blocks * filtered_bytes(plan) + weight_bytes(plan, slices) +
         kernels_of_block(plan, plan.flow.workers.front(), slices, plan.flow.views_at_once) + volume;
}

double blocks_on_device(const Plan& plan, const Worker& worker, Index slices) {
  constexpr double blocks = 4;                                    // one more is queued
  const double volumes = slices < plan.job.grid.size[2] ? 2 : 1;  // one is written while the next is made
  const double kept =
      plan.job.filtered.views_beside > 0 ? 2 * preparing_bytes(plan, slices, views_of_block(plan)) : 0;
  return kept + volumes * sizes_of(plan, slices).volume +
         preparing_bytes(plan, slices, views_of_block(plan)) + blocks * filtered_bytes(plan) +
         weight_bytes(plan, slices) + kernels_of_block(plan, worker, slices, plan.flow.views_at_once);
}

Sweep::Sweep(Work& work, ReadStation& read, PrepareStation& prepare)
    : work_(work),
      read_(read),
      prepare_(prepare),
      preparing_(work.device(), Priority::urgent),
      before_(work.device()) {}

Array Sweep::operator()(const Problem& problem, Chunk& chunk, const Stream& adding) {
  const Plan& plan = work_.plan;
  const Range all{0, views_of(problem.scan)};
  const std::vector<Range> blocks = blocks_of(all.size(), plan.flow.views_at_once);
  const Range kept = chunk.reference->counted_rows(), rows = rows_of(plan, chunk.slices);
  const Range counted{kept.first - chunk.reference->margin_above, kept.last - chunk.reference->margin_above};
  Pass pass{problem,
            chunk,
            beam_of(problem.scan).of_views(plan.job.options.fbp_filter, problem),
            zeros(problem.A.domain(), adding),
            ViewSamples(all.size(), counted),
            all.size()};
  if (plan.job.needs_all_views) prepare_.make_all(chunk, read_, work_);
  std::vector<Place> places(conveyor_places(1));
  const auto place = [&](const Item& item) -> Place& { return places[item.place]; };
  const auto views = [&](const Item& item) { return blocks[item.number]; };
  conveyor(
      blocks.size(), 1,
      [&](const Item& item) {
        const Range fresh = fresh_views(pass, blocks, item.number);
        if (plan.job.needs_all_views || fresh.size() == 0) return;
        place(item).counts =
            read_.views(chunk.slices, fresh, pass.share(views(item).size()), place(item).memory);
      },
      [&](const Item& item) {
        const UseStream own(preparing_);
        const Range fresh = fresh_views(pass, blocks, item.number);
        place(item).filtered = filtered(pass, views(item), fresh, place(item).counts);
        place(item).back_projection = pass.fdk.back_projection(views(item));
      },
      [&](const Item& item) {
        const UseStream own(adding);
        add(pass, views(item), *place(item).back_projection, std::move(*place(item).filtered));
      });
  wait_for_last(pass, adding);
  if (const std::optional<Array> y = pass.samples.all())
    prepare_.look_at(*y, {rows.first + counted.first, rows.first + counted.last});
  chunk.reference.reset();
  work_.count_updates(problem, 1);
  return std::move(pass.slab);
}

Array Sweep::line_integrals(Pass& pass, Range views, const io::FramesView& counts) {
  Array y = prepare_.block(counts, *pass.chunk.reference, crop(pass.problem.scan, views),
                           pass.share(views.size()), views.first == 0, work_);
  pass.samples.add(views, y);
  return work_.moved_to(work_.device(), std::move(y));
}

/// The line integrals of a block, behind those of the block before if the filter takes views of both.
Array Sweep::line_integrals_behind(Pass& pass, Range block, Range fresh, const io::FramesView& counts) {
  const Range behind = pass.behind(block);
  const Space space = projection_space(crop(pass.problem.scan, behind), work_.device());
  if (work_.plan.job.needs_all_views) return prepare_.some_of_all(behind, space, work_);
  std::optional<Array> y;
  if (fresh.size() > 0) y = line_integrals(pass, fresh, counts);
  if (behind == fresh) return std::move(*y);
  Array all(space, default_stream(work_.device()));
  if (pass.before) copy_views(*pass.before, pass.views_before, all, behind);
  if (y) copy_views(*y, fresh, all, behind);
  return all;
}

Array Sweep::filtered(Pass& pass, Range views, Range fresh, const io::FramesView& counts) {
  Array y = line_integrals_behind(pass, views, fresh, counts);
  const Stopwatch watch("filter", work_.outcome.seconds.filter, work_.watch.board(),
                        {.slices = pass.share(views.size()), .bytes = 4.0 * y.space().size()});
  Array filtered = pass.fdk.filter(views) * y;
  if (pass.fdk.behind) pass.before = std::move(y), pass.views_before = pass.behind(views);
  return filtered;
}

void Sweep::add(Pass& pass, Range views, const LinearOperator& back_projection, Array filtered) {
  work_.tell("back-project", pass.share(pass.added));
  const Load load{.slices = pass.share(views.size()),
                  .updates = updates_of(pass.problem) * views.size() / pass.views};
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(), load);
  Stream& stream = default_stream(work_.device());
  back_projection.apply(1, filtered, 1, pass.slab, stream);
  before_.synchronize();
  before_.record(stream);
  pass.last = std::move(filtered);
  pass.added += views.size();
}

void Sweep::wait_for_last(Pass& pass, const Stream& adding) {
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board());
  adding.synchronize();
  pass.last.reset();
}

}  // namespace tandem::pipeline
