#include "view_blocks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/tiling.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/view_samples.hpp"
#include "../watch/stopwatch.hpp"
#include "landing.hpp"

namespace tandem::pipeline {

/// A slab to which views are added.
struct ViewBlocks::Slab {
  const Problem& problem;
  const Counts& counts;  ///< darks and flats of the slab
  ByViews fdk;
  Array sum;
  ViewSamples samples;
  Range rows;       ///< rows of the plan's scan
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
  const Array* of_all_views = nullptr;  ///< line integrals, if a step needs all views at once

  Range behind(Range block) const { return fdk.behind ? fdk.behind(block) : block; }
  /// The counts of some views, for a block.
  Request request(Range some, Range block, std::shared_ptr<io::Frames> memory) const {
    Request asked = counts.asked;
    asked.views = some, asked.of_slices = share(block.size());
    asked.reference = counts.reference, asked.memory = std::move(memory);
    return asked;
  }
};

namespace {

/// A block of views on its way.
struct Block {
  std::shared_ptr<io::Frames> memory = std::make_shared<io::Frames>();
  std::optional<Counts> counts;
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
  return 4.0 * (block_views(plan.flow) * rows_held(plan, plan.job.grid.size[2])) * bins_of(plan.job);
}

/// The views that no block before needed.
template <class Slab>
Range fresh_views(const Slab& slab, const std::vector<Range>& blocks, Index number) {
  const std::size_t k = number;
  return {number == 0 ? 0 : slab.behind(blocks[k - 1]).last, slab.behind(blocks[k]).last};
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
  return std::min(block_views(plan.flow) + plan.job.filtered.views_beside, views_of(plan.job));
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
         kernels_of_block(plan, plan.flow.workers.front(), slices, block_views(plan.flow)) + volume;
}

double blocks_on_device(const Plan& plan, const Worker& worker, Index slices) {
  constexpr double blocks = 4;                                    // one more is queued
  const double volumes = slices < plan.job.grid.size[2] ? 2 : 1;  // one is written while the next is made
  const double kept =
      plan.job.filtered.views_beside > 0 ? 2 * preparing_bytes(plan, slices, views_of_block(plan)) : 0;
  return kept + volumes * vector_bytes(plan, slices).volume +
         preparing_bytes(plan, slices, views_of_block(plan)) + blocks * filtered_bytes(plan) +
         weight_bytes(plan, slices) + kernels_of_block(plan, worker, slices, block_views(plan.flow));
}

ViewBlocks::ViewBlocks(Work& work, ReadStation& read, PrepareStation& prepare)
    : work_(work),
      read_(read),
      prepare_(prepare),
      preparing_(work.device(), Priority::urgent),
      before_(work.device()) {}

Array ViewBlocks::operator()(const Problem& problem, Chunk& chunk, const Stream& adding) {
  const Plan& plan = work_.plan;
  const Range all{0, views_of(problem.scan)};
  const std::vector<Range> blocks = blocks_of(all.size(), block_views(plan.flow));
  const Reference& reference = *chunk.counts->reference;
  const Range kept = reference.counted_rows(), rows = rows_of(plan, chunk.slices);
  const Range counted{kept.first - reference.margin_above, kept.last - reference.margin_above};
  Slab slab{problem,
            *chunk.counts,
            beam_of(problem.scan).of_views(plan.job.options.fbp_filter, problem),
            zeros(problem.A.domain(), adding),
            ViewSamples(all.size(), counted),
            rows,
            all.size()};
  if (plan.job.needs_all_views)
    slab.of_all_views = &prepare_.made_once([&] { return line_integrals_of_all(*chunk.counts); });
  std::vector<Block> on_their_way(conveyor_places(1));
  const auto block = [&](const Item& item) -> Block& { return on_their_way[item.place]; };
  const auto views = [&](const Item& item) { return blocks[item.number]; };
  const auto read = [&](const Item& item) {
    const Range fresh = fresh_views(slab, blocks, item.number);
    if (plan.job.needs_all_views || fresh.size() == 0) return;
    block(item).counts = read_.get(slab.request(fresh, views(item), block(item).memory));
  };
  const auto prepare_and_filter = [&](const Item& item) {
    const UseStream own(preparing_);
    const Range fresh = fresh_views(slab, blocks, item.number);
    block(item).filtered = filtered(slab, views(item), fresh, std::exchange(block(item).counts, {}));
    block(item).back_projection = slab.fdk.back_projection(views(item));
  };
  const auto back_project = [&](const Item& item) {
    const UseStream own(adding);
    add(slab, views(item), *block(item).back_projection, std::move(*block(item).filtered));
  };
  conveyor(blocks.size(), 1, read, prepare_and_filter, back_project);
  wait_for_last(slab, adding);
  if (const std::optional<Array> y = slab.samples.all())
    prepare_.look_at(*y, {rows.first + counted.first, rows.first + counted.last});
  work_.count_updates(problem, 1);
  return std::move(slab.sum);
}

/// The line integrals of all views and rows, on the host, for steps that need all at once.
Array ViewBlocks::line_integrals_of_all(const Counts& of_slab) {
  const Job& job = work_.plan.job;
  Request asked = of_slab.asked;
  auto reference = std::make_shared<Reference>(*of_slab.reference);
  reference->counted.reset();  // all rows are here
  asked.views = {0, job.views.size()}, asked.of_slices = job.grid.size[2];
  asked.reference = std::move(reference);
  const Range rows{0, detector_of(job.scan).rows};
  Array y = prepare_.make(read_.get(asked), job.scan, rows, Device::cpu(), work_).y;
  prepare_.look_at(y, rows);
  return y;
}

Array ViewBlocks::some_of_all(const Array& all, Range views, const Space& space) {
  const Stopwatch watch("transfer", work_.outcome.seconds.transfer,
                        space.device().is_cuda() ? work_.watch.board() : nullptr,
                        {.bytes = 4.0 * space.size()});
  Stream& stream = default_stream(space.device());
  Array some(space, stream);
  const Index view = all.size() / work_.plan.job.views.size();
  copy(ConstVectorView(all.data() + views.first * view, space.on(Device::cpu())), some, stream);
  return some;
}

Array ViewBlocks::line_integrals(Slab& slab, Range views, Counts counts) {
  Array y =
      prepare_.make(std::move(counts), crop(slab.problem.scan, views), slab.rows, work_.device(), work_).y;
  slab.samples.add(views, y);
  return work_.moved_to(work_.device(), std::move(y));
}

/// The line integrals of a block, behind those of the block before if the filter takes views of both.
Array ViewBlocks::line_integrals_behind(Slab& slab, Range block, Range fresh, std::optional<Counts> counts) {
  const Range behind = slab.behind(block);
  const Space space = projection_space(crop(slab.problem.scan, behind), work_.device());
  if (slab.of_all_views) return some_of_all(*slab.of_all_views, behind, space);
  std::optional<Array> y;
  if (counts) y = line_integrals(slab, fresh, *std::move(counts));
  if (behind == fresh) return std::move(*y);
  Array all(space, default_stream(work_.device()));
  if (slab.before) copy_views(*slab.before, slab.views_before, all, behind);
  if (y) copy_views(*y, fresh, all, behind);
  return all;
}

Array ViewBlocks::filtered(Slab& slab, Range views, Range fresh, std::optional<Counts> counts) {
  Array y = line_integrals_behind(slab, views, fresh, std::move(counts));
  const Stopwatch watch("filter", work_.outcome.seconds.filter, work_.watch.board(),
                        {.slices = slab.share(views.size()), .bytes = 4.0 * y.space().size()});
  Array filtered = slab.fdk.filter(views) * y;
  if (slab.fdk.behind) slab.before = std::move(y), slab.views_before = slab.behind(views);
  return filtered;
}

void ViewBlocks::add(Slab& slab, Range views, const LinearOperator& back_projection, Array filtered) {
  work_.tell("back-project", slab.share(slab.added));
  const Load load{.slices = slab.share(views.size()),
                  .updates = updates_of(slab.problem) * views.size() / slab.views};
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(), load);
  Stream& stream = default_stream(work_.device());
  back_projection.apply(1, filtered, 1, slab.sum, stream);
  before_.synchronize();
  before_.record(stream);
  slab.last = std::move(filtered);
  slab.added += views.size();
}

void ViewBlocks::wait_for_last(Slab& slab, const Stream& adding) {
  const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board());
  adding.synchronize();
  slab.last.reset();
}

}  // namespace tandem::pipeline
