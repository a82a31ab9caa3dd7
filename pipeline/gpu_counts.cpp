#include "gpu_counts.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../kernels/counts.hpp"
#include "pixels.hpp"
#include "steps/chain.hpp"
#include "steps/interpolate.hpp"

namespace tandem::pipeline {

namespace {

using kernels::FilledCell;

/// Where `interpolate` takes the dead cells of a row from.
void append_filled(const Reference& reference, Index row, std::vector<FilledCell>& all) {
  const std::span<const float> span = reference.row_of(reference.sets.front().span, row);
  const auto bins = static_cast<Index>(span.size());
  const auto dead = [&](Index b) { return span[static_cast<std::size_t>(b)] == 0; };
  for_each_bad(bins, dead, [&](Index b, Index before, Index after) {
    const Index left = before >= 0 ? before : after, right = after < bins ? after : before;
    const float share = left == right ? 0 : share_between(b, before, after);
    all.push_back(
        {static_cast<int>(row), static_cast<int>(b), static_cast<int>(left), static_cast<int>(right), share});
  });
}

std::vector<FilledCell> filled_cells(const Reference& reference) {
  std::vector<FilledCell> all;
  if (reference.dead == 0) return all;
  for (Index row = 0; row < reference.rows; ++row) append_filled(reference, row, all);
  return all;
}

/// Counts from which on a pixel is full.
float full_level(PixelType type, const Preprocessing& how) {
  constexpr double most[] = {0xff, 0xffff, 0xffffffff};
  const auto level = value_of<double>(how.values, "--saturation");
  if (level) return static_cast<float>(*level);
  return type == PixelType::float32 ? INFINITY : static_cast<float>(most[static_cast<int>(type)]);
}

kernels::CountsToLines task_of(const GpuFrames& counts, const Reference& reference, const Preprocessing& how,
                               std::span<const FilledCell> filled) {
  const Binning cell(counts.shape[1], how.binning);
  kernels::CountsToLines task{.type = counts.type,
                              .counts = counts.shape,
                              .rows_together = cell.rows,
                              .bins_together = cell.bins,
                              .dark = reference.dark,
                              .spans = {},
                              .floors = {},
                              .mixes = {},
                              .in_counts = reference.counts,
                              .filled = filled,
                              .counted = reference.counted_rows(),
                              .minus_log = how.minus_log,
                              .full = full_level(counts.type, how)};
  for (const FlatSet& set : reference.sets)
    task.spans.emplace_back(set.span), task.floors.emplace_back(set.floor);
  for (Index view = 0; view < counts.shape[0]; ++view)
    task.mixes.push_back(reference.mix_of(counts.first + view));
  return task;
}

}  // namespace

bool gpu_prepares(const io::FramesView& counts, const Preprocessing& how) {
  return counts.row_step == counts.shape[2] && gpu_does_all(how);
}

GpuFrames on_gpu(const io::FramesView& frames, Device gpu) {
  const auto [count, rows, bins] = frames.shape;
  const auto pixel = static_cast<Index>(bytes_of(frames.type));
  const Index line = bins * pixel, all = count * rows * line;
  Stream& stream = default_stream(gpu);
  GpuFrames there{frames.type, frames.shape, frames.first,
                  Array(Space({1, 1, ceil_div<Index>(all, sizeof(float))}, Blocks::whole, gpu), stream)};
  copy({frames.data, count, rows, line, frames.frame_step * pixel, line},
       {reinterpret_cast<std::byte*>(there.memory.data()), count, rows, line, rows * line, line}, stream);
  stream.synchronize();
  return there;
}

std::optional<Array> preprocess_on_gpu(const GpuFrames& counts, const Reference& reference,
                                       const Preprocessing& how, const Space& space, Findings& findings) {
  const Index views = counts.shape[0];
  require<SpaceError>(space.shape() == Shape{views, reference.rows, reference.bins}, "preprocess: ", views,
                      " x ", reference.rows, " x ", reference.bins, " data for a space of ", space.size(),
                      " elements");
  Stream& stream = default_stream(space.device());
  Array y(space, stream);
  const std::vector<FilledCell> filled = filled_cells(reference);
  const kernels::CountsTally met =
      kernels::counts(space.device())
          ->line_integrals(task_of(counts, reference, how, filled),
                           reinterpret_cast<const std::byte*>(counts.memory.data()), image(VectorView(y)),
                           stream);
  if (met.not_finite > 0) return {};
  Findings own;
  for (const Step* step : chain_of(how).steps)
    own.steps.push_back({step->name, step->on_gpu(met), {}, step->only_counts});
  const Range counted = reference.counted_rows();
  const auto sum = [&](const std::vector<Index>& of_rows) {
    return std::accumulate(of_rows.begin() + counted.first, of_rows.begin() + counted.last, Index{0});
  };
  own.reference_not_finite = sum(reference.not_finite);
  own.reference_replaced = sum(reference.replaced);
  own.dead = met.filled / views;
  own.floor = {met.lowest_floor, met.highest_floor};
  findings.add(own);
  return y;
}

}  // namespace tandem::pipeline
