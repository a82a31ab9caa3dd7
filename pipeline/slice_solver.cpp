#include "slice_solver.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "../core/error.hpp"
#include "kept_scan.hpp"
#include "memory/budget.hpp"
#include "methods/method.hpp"
#include "methods/state_keeper.hpp"
#include "plan/make_job.hpp"
#include "plan/route.hpp"
#include "reconstruct.hpp"

namespace tandem::pipeline {

namespace {

constexpr double share_of_counts = 0.2;  // a share of the memory of a recipe

/// Keeps what is written.
class VolumeInMemory final : public io::VolumeWriter {
 public:
  VolumeInMemory(Shape shape, std::vector<float>& voxels) : area_(shape[1] * shape[2]), voxels_(voxels) {
    voxels_.assign(shape[0] * area_, 0);
  }
  void write(Range slices, const float* data) override {
    std::copy_n(data, slices.size() * area_, voxels_.data() + slices.first * area_);
  }
  void finish(const std::string&) override {}

 private:
  Index area_;
  std::vector<float>& voxels_;
};

/// Keeps the state of a solver in memory, and gives it to the next one if that is to go on from there. For
/// one worker, and solvers whose state does not grow.
class StateInMemory final : public StateKeeper {
 public:
  /// Whether the next solver does; if not, the state is forgotten.
  void goes_on(bool whether) {
    goes_on_ = whether;
    if (!whether) parts_.clear();
  }
  void begin(Range, ChunkState&, AnySolver& solver) override {
    SolverState state = solver.state().value();
    if (!goes_on_ || parts_.size() != state.size()) return;
    for (std::size_t k = 0; k < state.size(); ++k) give(state[k], parts_[k]);
  }
  void save(Range, ChunkState&, AnySolver& solver) override {
    const SolverState state = solver.state().value();
    parts_.resize(state.size());
    for (std::size_t k = 0; k < state.size(); ++k) take(state[k], parts_[k]);
  }
  void end(Range) override {}

 private:
  struct Part {
    std::optional<Array> vector;
    std::vector<std::byte> numbers;
  };
  static void take(const StatePart& of_solver, Part& kept) {
    if (const auto* numbers = std::get_if<std::span<std::byte>>(&of_solver.value)) {
      kept.numbers.assign(numbers->begin(), numbers->end());
      return;
    }
    const VectorView vector = std::get<VectorView>(of_solver.value);
    Stream& stream = default_stream(vector.space.device());
    if (!kept.vector) kept.vector.emplace(vector.space, stream);
    copy(vector, *kept.vector, stream);
    stream.synchronize();
  }
  static void give(StatePart& of_solver, const Part& kept) {
    if (const auto* numbers = std::get_if<std::span<std::byte>>(&of_solver.value)) {
      std::ranges::copy(kept.numbers, numbers->begin());
      return;
    }
    const VectorView vector = std::get<VectorView>(of_solver.value);
    Stream& stream = default_stream(vector.space.device());
    copy(*kept.vector, vector, stream);
    stream.synchronize();
  }

  bool goes_on_ = false;
  std::vector<Part> parts_;
};

Index shared_by(Index count, int binning) {
  const Index times = Index{1} << binning;
  return std::max<Index>(1, (count + times - 1) / times);
}

/// The same volume of wider voxels, all slices of it.
Recipe binned_recipe(Recipe recipe, int binning) {
  recipe.binning += binning;
  recipe.region_z.reset();
  if (recipe.voxel_size_mm) *recipe.voxel_size_mm = std::ldexp(*recipe.voxel_size_mm, binning);
  for (std::optional<Index>* size : {&recipe.size, &recipe.slices})
    if (*size) **size = shared_by(**size, binning);
  for (std::optional<Range>* region : {&recipe.region_x, &recipe.region_y})
    if (*region)
      *region = Range{(*region)->first >> binning,
                      std::max(((*region)->first >> binning) + 1, shared_by((*region)->last, binning))};
  return recipe;
}

Index slices_of_whole(const io::ScanInfo& info, const Recipe& recipe) {
  return make_job(info, recipe).full_size[2];
}

/// The number of an iterate, of "iteration 10 of 60".
int iteration_in(const std::string& detail) {
  int number = 0;
  if (const std::size_t digit = detail.find_first_of("0123456789"); digit != std::string::npos)
    std::from_chars(detail.data() + digit, detail.data() + detail.size(), number);
  return number;
}

bool same_voxels(const VolumeGrid& a, const VolumeGrid& b) {
  return a.size == b.size && a.pitch == b.pitch && a.centre == b.centre;
}

/// Told that work begins, for what precedes iterations.
OnProgress told_stages(const SolveSeen& seen) {
  return [&seen](const Stage& at) {
    if (seen.stage) seen.stage(at.name, at.detail);
  };
}

OnPictures shown_iterates(const SolveSeen& seen) {
  if (!seen.picture) return {};
  return [&seen](std::vector<LivePicture> pictures) {
    for (LivePicture& one : pictures)
      if (one.name == "iterate") seen.picture(std::move(one.grey), iteration_in(one.detail));
  };
}

}  // namespace

struct SliceSolver::Impl {
  explicit Impl(io::ScanReader& reader) : scan(reader) {}

  KeptScan scan;
  VolumeGrid grid;            ///< grid of the voxels
  std::vector<float> voxels;  ///< empty: nothing is
  StateInMemory state;
  std::string problem;  ///< names the problem and the slice that the state belongs to
};

SliceSolver::SliceSolver(io::ScanReader& reader) : impl_(std::make_unique<Impl>(reader)) {}
SliceSolver::~SliceSolver() = default;

Solved SliceSolver::solve(const Recipe& asked, const Solve& what, const SolveSeen& seen) {
  constexpr double between_pictures = 0.1;  // s
  const io::ScanInfo& info = impl_->scan.info();
  const Index slices = slices_of_whole(info, asked);
  require<GeometryError>(what.slice < slices, "slice ", what.slice, ": the volume has ", slices,
                         " slices, from 0");
  Recipe recipe = binned_recipe(asked, what.binning);
  Solved made;
  made.slices = slices_of_whole(info, recipe);
  made.slice = std::min(what.slice >> what.binning, made.slices - 1);
  recipe.region_z = Range{made.slice, made.slice + 1};
  Plan plan = make_plan(info, recipe);
  made.whole = !plan.job.method->iterates() || route_of(plan.flow).one_problem;
  if (made.whole) {
    recipe.region_z.reset();
    plan = make_plan(info, recipe);
  }
  const Index shown = made.whole ? made.slice : 0;
  made.warm = what.warm && !impl_->voxels.empty() && same_voxels(impl_->grid, plan.job.grid);
  const std::vector<float> before = made.warm ? impl_->voxels : std::vector<float>();
  const Onlooker onlooker{seen.step, shown, before, between_pictures};
  Options options;
  options.progress = told_stages(seen);
  options.show = shown_iterates(seen);
  options.onlooker = &onlooker;
  const std::string problem = what.problem + ' ' + std::to_string(made.slice);
  impl_->state.goes_on(made.warm && problem == impl_->problem);
  impl_->problem.clear();  // until this one is done
  if (plan.flow.workers.size() == 1 && plan.job.method->kind.cost.volumes_a_step == 0)
    options.keeper = &impl_->state;
  look_ahead(impl_->scan, plan, options);
  std::vector<float> voxels;
  VolumeInMemory writer(plan.job.grid.shape(), voxels);
  const Outcome outcome = reconstruct(impl_->scan, plan, writer, options);
  impl_->scan.forget(static_cast<std::size_t>(share_of_counts * host_budget(recipe)));
  impl_->voxels = std::move(voxels), impl_->grid = plan.job.grid, impl_->problem = problem;
  made.picture = plane(2, shown).value();
  made.place = plan.job.place();
  made.unit = plan.job.unit(), made.method = plan.job.method_name();
  made.iterations = outcome.iterations;
  if (!outcome.stopped_by.empty()) made.stopped_by = outcome.stopped_by.front();
  made.tv_weight = plan.job.options.tv_weight;
  made.warnings = plan.warnings;
  made.warnings.insert(made.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  return made;
}

std::optional<io::Picture> SliceSolver::plane(std::size_t axis, Index number) const {
  const std::array<Index, 3>& size = impl_->grid.size;
  if (impl_->voxels.empty() || number < 0 || number >= size.at(axis)) return {};
  const std::array<Index, 3> step{1, size[0], size[0] * size[1]};
  const std::size_t across = axis == 0 ? 1 : 0, down = axis == 2 ? 1 : 2;
  io::Picture all{size.at(across), size.at(down), {}};
  for (Index v = 0; v < all.height; ++v)
    for (Index u = 0; u < all.width; ++u)
      all.grey.push_back(impl_->voxels[number * step.at(axis) + u * step.at(across) + v * step.at(down)]);
  return all;
}

int SliceSolver::quick_binning(const Recipe& recipe) const {
  constexpr int most = 5;
  const bool on_gpu = std::ranges::any_of(recipe.devices, [](const Device& one) { return one.is_cuda(); });
  const double updates_of_a_second = on_gpu ? 2e10 : 2e8;
  const io::ScanInfo& info = impl_->scan.info();
  for (int binning = 0; binning < most; ++binning) {
    const Job job = make_job(info, binned_recipe(recipe, binning));
    if (job.method->iterates() && rows_are_slices(job.scan)) return 0;
    const auto [nx, ny, nz] = job.solved.size;
    const double updates = 1.0 * nx * ny * nz * views_of(job.scan);
    const double seconds = job.method->iterates() ? 1 : 5;
    if (updates <= seconds * updates_of_a_second) return binning;
  }
  return most;
}

}  // namespace tandem::pipeline
