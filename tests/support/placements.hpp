#pragma once

// One problem, solved wherever its vectors may lie.

#include <gtest/gtest.h>

#include "../../operators/vector.hpp"
#include "../../pipeline/methods/method.hpp"
#include "flexible_scans.hpp"
#include "operators.hpp"
#include "tolerances.hpp"

namespace tandem::test {

/// Line integrals of random voxels, and weights.
template <class Beam>
struct Placed {
  Beam scan;
  VolumeGrid grid;
  LinearOperator A = projector(scan, grid);
  Array y = A * random_array(A.domain(), 5), weights = random_array(A.range(), 6);

  Placed(Beam of, const VolumeGrid& on) : scan(std::move(of)), grid(on) {
    for (Index i = 0; i < weights.size(); ++i) weights.data()[i] += 0.5f;
  }
};

/// A cone beam with the principal point off the middle.
inline Placed<ConeBeam> placed_cone() { return {far_cone(37, 15, 41), box(23, 25, 11, 0.8)}; }
/// The same with a source that wanders and a detector that rolls.
inline Placed<FlexibleBeam> placed_views() {
  FlexibleBeam scan = as_flexible(far_cone(37, 15, 41));
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    FlexibleView& view = scan.views[k];
    const double phase = static_cast<double>(k), roll = 0.1 * std::sin(phase);
    view.source = view.source + Vector3{2 * std::sin(0.3 * phase), 0, 2 * std::sin(0.7 * phase)};
    const Vector3 bins = view.bin_step, rows = view.row_step;
    view.bin_step = std::cos(roll) * bins + std::sin(roll) * rows;
    view.row_step = std::cos(roll) * rows - std::sin(roll) * bins;
  }
  return {scan, box(23, 25, 11, 0.8)};
}

/// The volume of a method after ten steps from zero, on the host.
template <class Beam>
Array ten_steps(const pipeline::Method& method, const LinearOperator& A, const Placed<Beam>& problem) {
  const Device there = A.range().device();
  pipeline::Recipe options;
  options.nonnegative = method.reads("nonnegative");
  options.tv_weight = 0.1f;
  pipeline::Equations equations{A, on_device(problem.y, there)};
  if (method.kind.only_positive) clamp_below(equations.y, 0, default_stream(there));
  if (method.kind.takes_blank) {
    Array ones = equations.y.clone();
    fill(ones, 1, default_stream(there));
    attenuate(equations.y, ones, default_stream(there));
    equations.y = std::move(ones);
  }
  if (method.weighs_data) equations.weights = on_device(problem.weights, there);
  auto solver = method.solver(std::move(equations), Array(A.domain()), options);
  for (int step = 0; step < 10; ++step) solver.step({true});
  return on_device(std::move(solver).solution(), Device::cpu());
}

/// All methods that iterate come to the same volume with each of these operators, and to the same bits each
/// time.
template <class Beam>
void expect_one_solution(const Placed<Beam>& problem,
                         const std::vector<std::pair<std::string, LinearOperator>>& placed) {
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) continue;
    const Array truth = ten_steps(method, problem.A, problem);
    for (const auto& [name, A] : placed) {
      if (method.subsets && A.domain().device().members() > 1) continue;  // plans do not place them there
      const Array x = ten_steps(method, A, problem);
      EXPECT_LE(relative_error(x, truth), tolerance::placements) << method.name << ", " << name;
      EXPECT_TRUE(same_bits(ten_steps(method, A, problem), x)) << method.name << ", " << name;
    }
  }
}

}  // namespace tandem::test
