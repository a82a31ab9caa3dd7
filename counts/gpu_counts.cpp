#include "gpu_counts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../kernels/counts.hpp"
#include "../operators/vector.hpp"
#include "pixels.hpp"
#include "steps/chain.hpp"
#include "steps/interpolate.hpp"

namespace tandem::pipeline {

namespace {

using kernels::FilledCell;

std::vector<FilledCell> filled_cells(const Reference& reference) {
  std::vector<FilledCell> all;
  if (reference.dead == 0) return all;
  for (Index row = 0; row < reference.rows; ++row) {
    const std::span<const float> span = reference.row_of(reference.sets.front().span, row);
    append_filled(
        reference.bins, row, [&](Index b) { return span[b] == 0; }, all);
  }
  return all;
}

/// Counts from which on a pixel is full.
std::optional<float> full_level(PixelType type, const Preprocessing& how) {
  constexpr double most[] = {0xff, 0xffff, 0xffffffff};
  const auto level = option::saturation.of(how.values);
  if (level) return static_cast<float>(*level);
  if (type == PixelType::float32) return {};
  return static_cast<float>(most[static_cast<int>(type)]);
}

/// The sets of flats that the views refer to: each view may have a set of its own, and only some are here.
void take_sets(const Reference& reference, bool variances, kernels::CountsToLines& task) {
  Index first = reference.sets.size(), last = 0;
  for (kernels::FlatMix& mix : task.mixes) {
    if (mix.is_one()) mix.second = mix.first;
    first = std::min({first, mix.first, mix.second}), last = std::max({last, mix.first + 1, mix.second + 1});
  }
  for (kernels::FlatMix& mix : task.mixes) mix.first -= first, mix.second -= first;
  for (Index k = first; k < last; ++k) {
    const FlatSet& set = reference.sets[k];
    task.spans.emplace_back(set.span);
    if (variances) task.variances.emplace_back(set.variance);
  }
}

kernels::CountsToLines task_of(const GpuFrames& counts, const Reference& reference, const Preprocessing& how,
                               std::span<const FilledCell> filled) {
  const Binning cell(counts.shape[1], how.binning, how.rows_together);
  kernels::CountsToLines task{.type = counts.type,
                              .counts = counts.shape,
                              .rows_together = cell.rows,
                              .bins_together = cell.bins,
                              .dark = reference.dark,
                              .spans = {},
                              .variances = {},
                              .mixes = {},
                              .photons_a_count = reference.photons_a_count,
                              .photons = how.minus_log ? 0 : how.photons,
                              .in_counts = reference.counts,
                              .flats = reference.flats,
                              .filled = filled,
                              .heeded = reference.counted_rows(),
                              .minus_log = how.minus_log && !how.keeps_transmissions,
                              .full = full_level(counts.type, how)};
  for (Index view = 0; view < counts.shape[0]; ++view)
    task.mixes.push_back(reference.mix_of(counts.first + view));
  take_sets(reference, how.noise || how.weights, task);
  return task;
}

/// The bins of each row of the reference whose noise counts.
std::vector<Range> counted_bins(const Reference& reference, std::span<const Range> counted) {
  std::vector<Range> bins(reference.rows);
  const Range rows = reference.counted_rows();
  for (Index row = rows.first; row < rows.last; ++row)
    bins[row] = counted.empty() ? Range{0, reference.bins} : counted[row - rows.first];
  return bins;
}

bool is_finite(const Array& y, Stream& stream) {
  return std::ranges::all_of(count_not_finite(y, stream), [](Index bad) { return bad == 0; });
}

/// What the steps did; empty if they take the CPU. Steps before binning change the counts. Then a pass makes
/// line integrals of them if it does all steps that are left, or else transmissions, which the other steps
/// change.
std::optional<std::vector<Findings::OfStep>> all_steps(GpuData& data, const Array& y,
                                                       const Preprocessing& how) {
  const std::vector<const Step*> steps = chain_of(how).steps;
  std::vector<Findings::OfStep> done;
  const auto add = [&](const Step& step, Index replaced) {
    done.push_back({step.name, replaced, std::exchange(data.notes, {}), step.only_counts});
  };
  auto next = steps.begin();
  for (; next != steps.end() && !(*next)->in_pass && (*next)->before_binning; ++next) {
    const std::optional<Index> replaced = (*next)->on_gpu(how)(data);
    if (!replaced) return {};
    add(**next, *replaced);
  }
  const bool pass_does_all = !how.noise && !how.weights &&
                             std::all_of(next, steps.end(), [](const Step* step) { return step->in_pass; });
  kernels::CountsToLines task = data.how;
  if (!pass_does_all) task.minus_log = false, task.filled = {};
  data.met = kernels::counts(data.stream.device())->line_integrals(task, data.counts, data.y, data.stream);
  if (data.met.not_finite > 0) return {};
  data.changed_counts.reset();
  for (; next != steps.end(); ++next) {
    const bool by_pass = pass_does_all || !(*next)->on_gpu;
    const std::optional<Index> replaced = by_pass ? (*next)->in_pass(data.met) : (*next)->on_gpu(how)(data);
    if (!replaced) return {};
    add(**next, *replaced);
  }
  if (!pass_does_all && !is_finite(y, data.stream)) return {};
  return done;
}

std::vector<double> noise_norms(const GpuData& data) {
  std::vector<double> norms(data.heeded().size(), 0.0);
  if (data.noise.empty()) return norms;
  for (std::size_t k = 0; k < norms.size(); ++k) norms[k] = std::sqrt(data.noise[data.heeded().first + k]);
  return norms;
}

/// The rows between the margins.
Array within_margins(Array wide, Range kept, const Space& space, Stream& stream) {
  if (wide.space().shape() == space.shape()) return wide;
  Array within(space, stream);
  const Image<const float> all = image(ConstVectorView(wide));
  copy({&all(0, kept.first, 0), all.n0, kept.size(), all.n2, all.s0, all.s1}, image(VectorView(within)),
       stream);
  return within;
}

}  // namespace

bool gpu_prepares(const io::FramesView& counts, const Preprocessing& how) {
  return counts.row_step == counts.shape[2] && gpu_does_all(how);
}

void on_members(Device team, const std::function<void(int)>& work) {
  const Stream streams = default_stream(team);  // a copy: it may be the very one that is put aside
  on_threads(team.members(), [&](int k) {
    const UseStream own(streams.member(k));
    work(k);
  });
}

GpuFrames room_on_gpu(const io::FramesView& first, Index count, Stream& stream) {
  const Shape shape{count, first.shape[1], first.shape[2]};
  const Index bytes = count * shape[1] * shape[2] * bytes_of(first.type);
  const Space space({1, 1, ceil_div<Index>(bytes, sizeof(float))}, Blocks::whole, stream.device());
  return {first.type, shape, first.first, Array(space, stream)};
}

void move_to(GpuFrames& there, const io::FramesView& frames, Stream& stream) {
  const auto [count, rows, bins] = frames.shape;
  const Index pixel = bytes_of(frames.type);
  const Index line = bins * pixel, frame = rows * line;
  std::byte* place = reinterpret_cast<std::byte*>(there.memory.data()) + (frames.first - there.first) * frame;
  copy({frames.data, count, rows, line, frames.frame_step * pixel, line},
       {place, count, rows, line, frame, line}, stream);
  stream.synchronize();
}

GpuFrames on_gpu(const io::FramesView& frames, Device gpu) {
  Stream& stream = default_stream(gpu);
  GpuFrames there = room_on_gpu(frames, frames.shape[0], stream);
  move_to(there, frames, stream);
  return there;
}

std::optional<LineIntegrals> preprocess_on_gpu(const GpuFrames& counts, const Reference& reference,
                                               const Preprocessing& how, const Space& space,
                                               Findings& findings, std::span<const Range> counted) {
  const Index views = counts.shape[0], margin = reference.margin_above + reference.margin_below;
  require<SpaceError>(space.shape() == Shape{views, reference.rows - margin, reference.bins},
                      "preprocess: ", views, " x ", reference.rows - margin, " x ", reference.bins,
                      " data for a space of ", space.size(), " elements");
  Stream& stream = default_stream(space.device());
  const std::vector<FilledCell> filled = filled_cells(reference);
  const kernels::CountsToLines task = task_of(counts, reference, how, filled);
  const std::vector<Range> bins = counted_bins(reference, counted);
  const Space wide =
      margin == 0 ? space : Space({views, reference.rows, reference.bins}, Blocks::rows, space.device());
  Array y(wide, stream);
  std::optional<Array> variances;
  if (how.weights) variances.emplace(wide, stream);
  GpuData data{.reference = reference,
               .how = task,
               .counts = reinterpret_cast<const std::byte*>(counts.memory.data()),
               .first_view = counts.first,
               .changed_counts = {},
               .y = image(VectorView(y)),
               .counted = bins,
               .variances = variances ? image(VectorView(*variances)) : Image<float>{},
               .stream = stream};
  const auto done = all_steps(data, y, how);
  if (!done) return {};
  Findings own{.steps = *done};
  for (Index row = data.heeded().first; row < data.heeded().last; ++row) {
    own.reference_not_finite += reference.not_finite[row];
    own.reference_replaced += reference.replaced[row];
  }
  own.dead = std::ranges::count_if(filled, [heeded = data.heeded()](const FilledCell& cell) {
    return heeded.first <= cell.row && cell.row < heeded.last;
  });
  own.floor = {data.met.lowest_floor, data.met.highest_floor};
  findings.add(own);
  LineIntegrals lines{within_margins(std::move(y), data.kept(), space, stream), noise_norms(data)};
  if (variances) {
    lines.weights = within_margins(std::move(*variances), data.kept(), space, stream);
    kernels::counts(space.device())
        ->weigh(image(VectorView(*lines.weights)), space.block_count() > 1, stream);
  }
  return lines;
}

}  // namespace tandem::pipeline
