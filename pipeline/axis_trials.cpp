#include "axis_trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kept_scan.hpp"
#include "reconstruct.hpp"
#include "watch/live.hpp"

namespace tandem::pipeline {

namespace {

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
  KeptScan scan(reader);
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
