// Problems in wider voxels and cells, in which the weight of total variation is looked for.
#include "../../pipeline/methods/coarser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "../../io/scans/memory_scan.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/plan/make_problem.hpp"
#include "../../pipeline/simulate.hpp"
#include "../../solvers/weight/wider.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"

namespace tandem::pipeline {
namespace {

struct Beam {
  const char* name;
  Scan scan;
  std::array<Index, 3> size;
  int levels;
};

/// Odd and even sizes, axes off the middle. Solvers work on all that the rays see, so the widths of the
/// detectors decide how many levels there are, whatever size is asked for; and so do rows.
std::vector<Beam> beams() {
  const std::vector<double> half = test::regular_angles(30), whole = test::regular_angles(40, whole_turn);
  const ParallelBeam parallel{{113, 1, 1, 1, 54.3}, half};
  const ConeBeam fan{{149, 1, 2, 2, 72.9}, whole, 200, 400, 0},
      cone{{141, 53, 2, 2, 71.2}, whole, 200, 400, 25.4};
  ConeBeam flat = cone;
  flat.detector.rows = 8;
  ConeBeam low = cone;
  low.detector.rows = 24;
  return {{"parallel", parallel, {97, 97, 1}, 2},
          {"fan", FanBeam{fan}, {96, 96, 1}, 2},
          {"cone", cone, {64, 64, 41}, 2},
          {"low", low, {64, 64, 16}, 1},
          {"few rows", flat, {64, 64, 8}, 0}};
}

Plan plan_of(const Beam& beam) {
  io::ScanInfo info;
  info.scan = beam.scan;
  info.flats = info.darks = 1;
  info.axis_bin = detector_of(beam.scan).axis_bin;
  info.pixel_size_mm = detector_of(beam.scan).bin_pitch;
  Recipe recipe;
  recipe.method = "tv";
  recipe.size = beam.size[0];
  if (!rows_are_slices(beam.scan)) recipe.slices = beam.size[2];
  return make_plan(info, recipe);
}

/// A broad hill beside the middle of the grid.
Array hill(const Space& space, const VolumeGrid& grid, double width) {
  Array x(space);
  const Image<float> voxels = image(VectorView(x));
  const auto bump = [&](double t) { return std::exp(-t * t / (2 * width * width)); };
  for (Index z = 0; z < voxels.n0; ++z)
    for (Index y = 0; y < voxels.n1; ++y)
      for (Index i = 0; i < voxels.n2; ++i)
        voxels(z, y, i) = static_cast<float>(bump(grid.x(static_cast<double>(i)) - 5) *
                                             bump(grid.y(static_cast<double>(y)) + 3) *
                                             (voxels.n0 > 1 ? bump(grid.z(static_cast<double>(z))) : 1.0));
  return x;
}

/// Means of the voxels under each wider one.
Array in_wider_voxels(const Array& narrow, const Space& space) {
  Array wider(space);
  const Image<const float> from = image(ConstVectorView(narrow));
  const Image<float> to = image(VectorView(wider));
  const Index slices = from.n0 > to.n0 ? 2 : 1;
  const double share = 1.0 / static_cast<double>(4 * slices);
  for (Index z = 0; z < from.n0; ++z)
    for (Index y = 0; y < from.n1; ++y)
      for (Index i = 0; i < from.n2; ++i)
        to(z / slices, y / 2, i / 2) += static_cast<float>(share * static_cast<double>(from(z, y, i)));
  return wider;
}

/// A hill 12 voxels wide is known to some thousandths in voxels and cells of 2; half a cell off the place, it
/// would be wrong by 0.5 / 12.
TEST(CoarserProblems, AreTheSameBodyInTheSamePlace) {
  for (const Beam& beam : beams()) {
    const Plan plan = plan_of(beam);
    const Problem problem = problem_of(plan, {0, plan.job.grid.size[2]}, plan.flow.workers.front());
    const std::vector<CoarserProblem> coarser = coarser_problems(plan.flow, plan.job.options, problem);
    ASSERT_EQ(static_cast<int>(coarser.size()), beam.levels) << beam.name;
    if (coarser.empty()) continue;
    const Array narrow = hill(problem.A.domain(), plan.job.grid, 12), y = problem.A * narrow;
    Array ones(y.space());
    fill(ones, 1, default_stream(Device::cpu()));
    const LinearOperator& A = coarser.front().A;
    const WeighedData wider = in_wider_cells({y.clone(), ones.clone()}, A.range());
    Array found = A * in_wider_voxels(narrow, A.domain());
    Stream& stream = default_stream(Device::cpu());
    const double size = norm(wider.values, stream)[0];
    axpby(-1, wider.values, 1, found, stream);
    EXPECT_LT(norm(found, stream)[0], 0.01 * size) << beam.name;
    EXPECT_EQ(coarser.front().weights_times, 1) << beam.name;
  }
}

/// Differences of neighbours are twice as large there, and so is the threshold.
TEST(CoarserProblems, HaveTheThresholdOfHuberForTheirVoxels) {
  const Beam beam = beams().front();
  Plan plan = plan_of(beam);
  plan.job.options.tv_huber = 0.01f;
  const Problem problem = problem_of(plan, {0, 1}, plan.flow.workers.front());
  const CoarserProblem coarser = std::move(coarser_problems(plan.flow, plan.job.options, problem).front());
  const Array x = hill(coarser.A.domain(), plan.job.grid, 12);
  const Regulariser twice = huber_total_variation(x.space(), 0.02f);
  Stream& stream = default_stream(Device::cpu());
  EXPECT_EQ(coarser.regulariser.value(coarser.regulariser.K * x, stream), twice.value(twice.K * x, stream));
}

}  // namespace
}  // namespace tandem::pipeline
