#include "slice_maker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/newest_results.hpp"
#include "../core/spelled.hpp"
#include "../operators/tiling.hpp"
#include "beams/beam.hpp"
#include "complete/complete.hpp"
#include "kept_scan.hpp"
#include "memory/budget.hpp"
#include "methods/method.hpp"
#include "plan/key_text.hpp"
#include "plan/make_job.hpp"
#include "plan/make_problem.hpp"
#include "plan/margin_rows.hpp"
#include "plan/warn.hpp"
#include "reconstruct.hpp"
#include "stations/compute.hpp"
#include "stations/prepare.hpp"
#include "stations/read.hpp"
#include "stations/view_blocks.hpp"

namespace tandem::pipeline {

namespace {

constexpr double share_kept = 0.2;  // a share of the memory of a recipe

double bytes_in(const Array& array) { return 4.0 * array.size(); }

/// What line integrals depend on, of one scan. The axis is among it where frames become upright, or where a
/// step looks at what lies on the other side of it.
std::string key_of_lines(const Plan& plan, const Recipe& recipe) {
  const Job& job = plan.job;
  const Preprocessing& how = job.preprocessing;
  KeyText key;
  key.add(how.values, job.views, job.rows, job.rows_there, job.bins, recipe.binning, recipe.gain,
          recipe.photons, recipe.voxel_size_mm);
  if (steps_heed_axis(how)) key.add(job.axis_in_file);
  return key.text();
}

/// What F depends on. It heeds the axis of a parallel beam only where rays, or rows, have weights, or moves,
/// by it.
std::string key_of_filter(const Plan& plan, const Recipe& recipe) {
  const Job& job = plan.job;
  const Filter& f = job.options.fbp_filter;
  const bool apart = rows_are_slices(job.scan) && !has_row_axes(job.scan);
  KeyText key;
  key.add(job.views, job.bins, recipe.binning, recipe.voxel_size_mm, static_cast<int>(f.window), f.cutoff,
          static_cast<int>(f.padding), f.padding_bins, f.attenuation, job.solved.pitch,
          static_cast<int>(plan.flow.pair.model), name_of(plan.flow.execution()));
  const bool about_any = apart && !half_acquisition(job.scan);
  key.add(about_any ? std::nullopt : std::optional(job.axis_in_file));
  if (!apart) key.add(job.rows, job.solved.centre[2], job.preprocessing.values);
  return key.text();
}

VolumeGrid coarser_grid(const VolumeGrid& grid, Index times) {
  VolumeGrid wider = grid;
  for (std::size_t i = 0; i < 2; ++i) {
    wider.size[i] = (grid.size[i] + times - 1) / times;
    wider.centre[i] += 0.5 * (times * wider.size[i] - grid.size[i]) * grid.pitch[i];
    wider.pitch[i] *= times;
  }
  return wider;
}

Plan plan_of_slice(const io::ScanInfo& info, const Recipe& asked, const Look& look) {
  require<GeometryError>(!asked.mends_metal || asked.first.mend, spelled("metal"),
                         ": slices that are looked at are made before metal is mended; leave it out");
  Recipe recipe = asked;
  recipe.region_z = Range{look.slice, look.slice + 1};
  if (look.x) recipe.region_x = look.x;
  if (look.y) recipe.region_y = look.y;
  Plan plan = make_plan(info, recipe);
  require<GeometryError>(
      plan.job.method->filters && !route_of(plan.flow).one_problem, plan.job.method_name(),
      ": slices are looked at by a filter; give " + spelled("reconstruction-algorithm") + " fbp or fdk");
  if (look.coarser == 1) return plan;
  plan.job.grid = coarser_grid(plan.job.grid, look.coarser);
  plan.job.solved = coarser_grid(plan.job.solved, look.coarser);
  plan.flow.workers.clear();
  beam_of(plan.job.scan).choose_execution(plan, recipe, [] { return 0.0; });
  return plan;
}

/// A run of one slice, as stations see it.
struct OneSlice {
  OneSlice(Plan&& planned, const Recipe& recipe, const std::function<void()>& go_on)
      : plan(std::move(planned)),
        watch([go_on](const Stage&) { go_on(); }, 1, plan.flow.workers.size()),
        work{plan, watch},
        lines_key(key_of_lines(plan, recipe)),
        filter_key(key_of_filter(plan, recipe)),
        budget(share_kept * host_budget(recipe)) {}
  OneSlice(OneSlice&&) = delete;

  Plan plan;
  Watch watch;
  Work work;
  std::string lines_key, filter_key;
  double budget;  ///< bytes that may be kept of counts, of line integrals and of filtered data, each
  std::string filtered_key() const { return lines_key + filter_key; }
};

struct LinesKept {
  std::optional<Array> y;  ///< empty: no ray meets the slice
  std::vector<std::string> warnings;
};

double bytes_of_lines(const LinesKept& lines) { return lines.y ? bytes_in(*lines.y) : 0; }

}  // namespace

struct SliceMaker::Impl {
  explicit Impl(io::ScanReader& reader) : scan(reader) {}

  Recipe completed(Recipe recipe);
  std::shared_ptr<const LinesKept> lines(OneSlice& one, LookedAt& at);
  Array back_projected(OneSlice& one, const Array& y, LookedAt& at, const std::function<void()>& go_on);
  Array by_views(OneSlice& one, const Problem& problem, const Array& y, LookedAt& at,
                 const std::function<void()>& go_on);
  std::shared_ptr<const Array> voxels(OneSlice& one, const Array& y, LookedAt& at,
                                      const std::function<void()>& go_on);
  LandedSlice landed_slice(OneSlice& one, const std::function<void()>& go_on);

  KeptScan scan;
  NewestResults<std::string, LinesKept> kept_lines{3, bytes_of_lines};
  NewestResults<std::string, Array> kept_filtered{2, bytes_in};
  NewestResults<std::string, BackProjection> kept_back_projections{2};
  NewestResults<std::string, double> kept_attenuations{64};
  std::shared_ptr<Array> landing;  ///< pinned memory, into which slices come from a GPU
};

/// With the attenuation beyond the ends of rows, if it is needed and not given.
Recipe SliceMaker::Impl::completed(Recipe recipe) {
  if (recipe.padding.value_or(Padding::circle) != Padding::circle || recipe.fbp_filter.attenuation > 0)
    return recipe;
  const Selection all = selection_of(recipe, scan.info());
  const std::string key =
      KeyText()
          .add(recipe.steps, all.views, all.rows, all.bins, recipe.method, recipe.axis_bin,
               recipe.padding.has_value(), recipe.fbp_filter.window == Window::none)
          .text();
  give_circles(recipe, *kept_attenuations.result(key, [&] { return attenuation_beyond(scan, recipe); }));
  return recipe;
}

/// A slice on the host.
std::shared_ptr<const Array> SliceMaker::Impl::voxels(OneSlice& one, const Array& y, LookedAt& at,
                                                      const std::function<void()>& go_on) {
  Array made = back_projected(one, y, at, go_on);
  require_finite(one.plan.job, {0, 1}, made);
  const Device device = made.space().device();
  if (!device.is_cuda()) return std::make_shared<const Array>(std::move(made));
  if (!landing || landing.use_count() > 1 || landing->space().shape() != made.space().shape()) {
    const PinHostMemory pinned(device);
    landing = std::make_shared<Array>(made.space().on(Device::cpu()), default_stream(Device::cpu()));
  }
  Stream& stream = default_stream(device);
  copy(made, *landing, stream);
  stream.synchronize();
  return landing;
}

std::shared_ptr<const LinesKept> SliceMaker::Impl::lines(OneSlice& one, LookedAt& at) {
  const auto make = [&] {
    at.made.emplace_back("lines");
    Plan& plan = one.plan;
    Outcome outcome;
    if (rows_of(plan, {0, 1}).size() == 0) return LinesKept{};
    end_margins_at_bad_rows(scan, plan.job);
    ReadStation read(scan, plan, one.watch, outcome);
    PrepareStation prepare(read, scan.info(), plan);
    const Range rows{0, detector_of(plan.job.scan).rows};
    Request asked = request_for(plan, {0, 1});
    asked.rows = rows_around(plan.job, rows), asked.in_pieces = false;
    Array y = prepare.make(read.get(asked), plan.job.scan, rows, one.work.device(), one.work).y;
    prepare.look_at(y, rows);
    y = one.work.moved_to(one.work.device(), std::move(y));
    prepare.finish(outcome);
    scan.forget(static_cast<std::size_t>(one.budget));
    return LinesKept{std::move(y), outcome.warnings};
  };
  return kept_lines.result(one.lines_key, make, one.budget);
}

/// Line integrals and filtered data are of this scan, about any axis.
ConstVectorView of_scan(const Array& y, const Space& space) { return {y.data(), space}; }

Array SliceMaker::Impl::back_projected(OneSlice& one, const Array& y, LookedAt& at,
                                       const std::function<void()>& go_on) {
  const Plan& plan = one.plan;
  const Flow& flow = plan.flow;
  const Problem problem = problem_of(plan, {0, 1}, flow.workers.front());
  if (block_views(flow) > 0) return by_views(one, problem, y, at, go_on);
  const auto filter = [&] {
    at.made.emplace_back("filter");
    const auto F = flow.pair.placement->filter(flow, plan.job.options.fbp_filter, problem);
    Stream& stream = default_stream(one.work.device());
    Array out(F ? F->range() : projection_space(problem.scan, one.work.device()), stream);
    const ConstVectorView in = of_scan(y, projection_space(problem.scan, one.work.device()));
    F ? F->apply(1, in, 0, out, stream) : copy(in, out, stream);
    stream.synchronize();
    return out;
  };
  const auto filtered = kept_filtered.result(one.filtered_key(), filter, one.budget);
  go_on();
  const VolumeGrid& grid = plan.job.solved;
  const std::string back =
      one.filter_key + KeyText().add(plan.job.axis_in_file, grid.size, grid.centre[0], grid.centre[1]).text();
  const auto B = kept_back_projections.result(back, [&] {
    at.made.emplace_back("operator");
    return flow.pair.placement->back_projection(flow, plan.job.options.fbp_filter, problem);
  });
  return (*B)(*filtered, [&](double) { go_on(); });
}

/// The same for fans and cones: a block of views after the other is added, as `ViewBlocks` adds them, to a
/// strip of lines after the other, so that the work can end soon.
Array SliceMaker::Impl::by_views(OneSlice& one, const Problem& problem, const Array& y, LookedAt& at,
                                 const std::function<void()>& go_on) {
  constexpr Index lines_at_once = 128;
  const Plan& plan = one.plan;
  Stream& stream = default_stream(one.work.device());
  const Index views = views_of(problem.scan);
  const auto filter = [&] {
    at.made.emplace_back("filter");
    const LinearOperator F =
        beam_of(problem.scan).of_views(plan.job.options.fbp_filter, problem).filter({0, views});
    Array out(F.range(), stream);
    F.apply(1, of_scan(y, F.domain()), 0, out, stream);
    stream.synchronize();
    return out;
  };
  const auto filtered = kept_filtered.result(one.filtered_key(), filter, one.budget);
  const auto [nx, ny, nz] = problem.grid.size;
  Array slab = zeros(problem.A.domain(), stream);
  for (const Range lines : pieces({0, ny}, one.work.device().is_cuda() ? ny : lines_at_once)) {
    Problem strip = problem;
    strip.grid = region(problem.grid, {0, nx}, lines, {0, nz});
    const ByViews of_strip = beam_of(problem.scan).of_views(plan.job.options.fbp_filter, strip);
    for (const Range some : blocks_of(views, block_views(plan.flow))) {
      go_on();
      const LinearOperator B = of_strip.back_projection(some);
      const float* from = filtered->data() + some.first * (filtered->size() / views);
      B.apply(1, ConstVectorView(from, B.domain()), 1, VectorView{slab.data() + lines.first * nx, B.range()},
              stream);
      stream.synchronize();
    }
  }
  return slab;
}

namespace {

/// The same line integrals, with 0 in views 1, 3, ...
Array of_even_views(const Array& y) {
  Stream& stream = default_stream(y.space().device());
  Array even = zeros(y.space(), stream);
  const auto every_second = [](auto all) {
    all.n0 = (all.n0 + 1) / 2, all.s0 *= 2;
    return all;
  };
  copy(every_second(image(ConstVectorView(y))), every_second(image(VectorView(even))), stream);
  return even;
}

double seen_twice(const Job& job) {
  const VolumeGrid& grid = job.grid;
  const Detector& d = detector_of(job.scan);
  const double all = 0.5 * std::max(grid.size[0], grid.size[1]);
  if (!half_acquisition(job.scan)) return all;
  const double nearer = std::min(d.axis_bin, d.bins - 1 - d.axis_bin) * d.bin_pitch;
  const double from_axis = std::visit([&](const auto& s) { return distance_from_axis(s, nearer); }, job.scan);
  return std::min(all, (from_axis - std::hypot(grid.centre[0], grid.centre[1])) / grid.pitch[0]);
}

}  // namespace

SliceMaker::SliceMaker(io::ScanReader& reader) : impl_(std::make_unique<Impl>(reader)) {}
SliceMaker::~SliceMaker() = default;

namespace {

LookedAt looked_at_by(const Plan& plan) {
  const Job& job = plan.job;
  return {.picture = {},
          .place = job.place(),
          .unit = job.unit(),
          .method = std::string(job.method_name()),
          .model = std::string(name_of(plan.flow.pair.model)),
          .axis_bin = job.axis_in_file,
          .rows = job.rows,
          .bins = job.bins,
          .warnings = plan.warnings,
          .made = {}};
}

}  // namespace

LandedSlice SliceMaker::Impl::landed_slice(OneSlice& one, const std::function<void()>& go_on) {
  LookedAt at = looked_at_by(one.plan);
  const auto kept = lines(one, at);
  add_unsaid(at.warnings, kept->warnings);
  const auto [slices, height, width] = one.plan.job.grid.shape();
  at.picture = {width, height, {}};
  at.seen_twice = seen_twice(one.plan.job);
  auto values =
      kept->y ? voxels(one, *kept->y, at, go_on) : std::make_shared<const Array>(Space({1, height, width}));
  return {std::move(at), std::move(values)};
}

LandedSlice SliceMaker::landed_slice(const Recipe& recipe, const Look& look,
                                     const std::function<void()>& go_on) {
  const Recipe whole = impl_->completed(recipe);
  OneSlice one(plan_of_slice(impl_->scan.info(), whole, look), whole, go_on);
  return impl_->landed_slice(one, go_on);
}

LookedAt SliceMaker::slice(const Recipe& recipe, const Look& look, const std::function<void()>& go_on) {
  const Recipe whole = impl_->completed(recipe);
  OneSlice one(plan_of_slice(impl_->scan.info(), whole, look), whole, go_on);
  LandedSlice made = impl_->landed_slice(one, go_on);
  LookedAt at = std::move(made.about);
  const auto values = [count = at.picture.width * at.picture.height](const Array& all) {
    return std::vector(all.data(), all.data() + count);
  };
  at.picture.grey = values(*std::exchange(made.voxels, nullptr));
  if (!look.halves) return at;
  const auto lines = impl_->lines(one, at);
  one.lines_key += "even";
  at.even = lines->y ? values(*impl_->voxels(one, of_even_views(*lines->y), at, go_on)) : at.picture.grey;
  return at;
}

LookedAt SliceMaker::sinogram(const Recipe& recipe, const Look& look, const std::function<void()>& go_on) {
  OneSlice one(plan_of_slice(impl_->scan.info(), recipe, look), recipe, go_on);
  LookedAt at = looked_at_by(one.plan);
  const auto lines = impl_->lines(one, at);
  add_unsaid(at.warnings, lines->warnings);
  const Index views = views_of(one.plan.job.scan), bins = detector_of(one.plan.job.scan).bins;
  at.picture = {bins, views, std::vector<float>(views * bins)};
  if (!lines->y) return at;
  const Array y = on_device(*lines->y, Device::cpu());
  const Index rows = y.space().shape()[1];
  for (Index v = 0; v < views; ++v)
    std::copy_n(y.data() + (v * rows + rows / 2) * bins, bins, at.picture.grey.begin() + v * bins);
  return at;
}

calibration::OppositeViews SliceMaker::opposite_views(const Recipe& recipe, const Look& look,
                                                      const std::function<void()>& go_on) {
  const Plan plan = plan_of_slice(impl_->scan.info(), recipe, look);
  if (period_of(plan.job.scan) != half_turn) return {};
  const LookedAt at = sinogram(recipe, look, go_on);
  Scan scan = plan.job.scan;
  if (has_row_axes(scan)) detector_of(scan).axis_bin = row_axes_of(scan)[row_axes_of(scan).size() / 2];
  return calibration::opposite_views_of(at.picture.grey, scan);
}

std::array<Index, 3> SliceMaker::full_size(const Recipe& recipe) const {
  const auto [x, y, z] = make_job(impl_->scan.info(), recipe).full_size;
  return {z, y, x};
}

io::ScanReader& SliceMaker::kept_scan() { return impl_->scan; }

}  // namespace tandem::pipeline
