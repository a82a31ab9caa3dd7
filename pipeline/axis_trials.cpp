#include "axis_trials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "reconstruct.hpp"
#include "watch/live.hpp"

namespace tandem::pipeline {

namespace {

/// A scan that keeps what was read last of each kind: one trial reads what the one before has read. All views
/// of a trial are read at once, since those that were asked for first may be in use when others are.
class KeptScan final : public io::ScanReader {
 public:
  KeptScan(io::ScanReader& scan, Range views) : scan_(scan), views_(views) { info_ = scan.info(); }

  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override {
    const io::FramesView from = kept(kind, frames, rows, bins);
    into = {from.type, from.shape, {}, from.first};
    into.bytes.assign(from.data,
                      from.data + frames.size() * from.frame_step * static_cast<Index>(bytes_of(from.type)));
  }
  std::optional<io::FramesView> in_memory(io::FrameKind kind, Range frames, Range rows, Range bins) override {
    return kept(kind, frames, rows, bins);
  }

 private:
  struct Kept {
    std::array<Range, 3> part{};
    io::Frames frames{};
  };
  io::FramesView kept(io::FrameKind kind, Range frames, Range rows, Range bins) {
    Kept& last = kept_[static_cast<std::size_t>(kind)];
    const std::array part{kind == io::FrameKind::projection ? views_ : frames, rows, bins};
    if (last.part != part) {
      last.part = {};
      scan_.read(kind, part[0], rows, bins, last.frames);
      last.part = part;
    }
    io::FramesView some = last.frames;
    some.data += (frames.first - part[0].first) * some.frame_step * static_cast<Index>(bytes_of(some.type));
    some.shape[0] = frames.size();
    some.first = frames.first;
    return some;
  }

  io::ScanReader& scan_;
  Range views_;
  std::array<Kept, 3> kept_;
};

/// Keeps a slice in memory.
class SliceWriter final : public io::VolumeWriter {
 public:
  explicit SliceWriter(std::size_t pixels) : slice(pixels) {}
  void write(Range, const float* data) override { std::copy_n(data, slice.size(), slice.begin()); }
  void finish(const std::string&) override {}

  std::vector<float> slice;
};

/// The recipe for its middle slice alone.
Recipe middle_slice(Recipe recipe, const Scan& scan) {
  recipe.slices = 1;
  if (!rows_are_slices(scan)) return recipe;
  const Range rows = recipe.rows.value_or(Range{0, detector_of(scan).rows});
  const Index middle = rows.first + rows.size() / 2;
  recipe.rows = Range{middle, middle + 1};
  return recipe;
}

/// The sum of the lengths of gradients, away from the rim of the field.
double variation_of(std::span<const float> slice, Index width, Index height) {
  const double radius = 0.4 * static_cast<double>(std::min(width, height));
  const auto at = [&](Index y, Index x) {
    return static_cast<double>(slice[static_cast<std::size_t>(y * width + x)]);
  };
  double sum = 0;
  for (Index y = 0; y + 1 < height; ++y)
    for (Index x = 0; x + 1 < width; ++x)
      if (std::hypot(static_cast<double>(2 * x + 1 - width), static_cast<double>(2 * y + 1 - height)) <
          2 * radius)
        sum += std::hypot(at(y, x + 1) - at(y, x), at(y + 1, x) - at(y, x));
  return sum;
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& some) {
  for (const std::string& text : some)
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

}  // namespace

AxisTrials try_axes(io::ScanReader& reader, const Recipe& recipe, std::span<const double> axes, Index side,
                    const std::function<void(std::size_t)>& done) {
  KeptScan scan(reader, recipe.views.value_or(Range{0, views_of(reader.info().scan)}));
  AxisTrials all{};
  Recipe one = middle_slice(recipe, reader.info().scan);
  for (const double axis : axes) {
    done(all.trials.size());
    one.axis_bin = axis;
    const Plan plan = make_plan(reader.info(), one);
    const auto [slices, height, width] = plan.job.grid.shape();
    SliceWriter writer(static_cast<std::size_t>(height * width));
    const Outcome outcome = reconstruct(
        scan, plan, writer, {.progress = [&](const Stage&) { done(all.trials.size()); }, .truth = {}});
    all.place = plan.job.place();
    add_new(all.warnings, plan.warnings);
    add_new(all.warnings, outcome.warnings);
    all.trials.push_back(
        {axis, shrunk(writer.slice, width, height, side), variation_of(writer.slice, width, height)});
  }
  done(all.trials.size());
  const auto best = std::ranges::min_element(all.trials, {}, &AxisTrial::unsharpness);
  all.best = static_cast<std::size_t>(best - all.trials.begin());
  const double least = best->unsharpness;
  for (AxisTrial& trial : all.trials) trial.unsharpness = least > 0 ? trial.unsharpness / least : 1;
  return all;
}

}  // namespace tandem::pipeline
