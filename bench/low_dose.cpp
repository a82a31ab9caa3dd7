// A noisy cone beam solved with total variation: how near the end is after each step, and after what time.

#include <array>
#include <cmath>
#include <optional>

#include "../core/parallel.hpp"
#include "../core/random.hpp"
#include "../geometry/phantom.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/vector.hpp"
#include "../pipeline/simulate.hpp"
#include "../solvers/pdhg.hpp"
#include "cone_case.hpp"
#include "harness.hpp"

namespace tandem::bench {

namespace {

/// A sphere of water, whose longest ray has a line integral of 4.5, with details of 20 to 50 HU (1000 HU are
/// water), two bones and two holes.
struct Water {
  double mu;
  Phantom phantom;
  explicit Water(double radius)
      : mu(4.5 / (2 * radius)), phantom{{{mu, {radius, 0.9 * radius, 0.8 * radius}, {}, 0}}} {
    constexpr std::array contrast{0.02, 0.03, 0.05, -0.02, -0.05, 0.03, 0.02, -0.03, 0.8, 0.6, -1.0, -1.0};
    for (std::size_t k = 0; k < contrast.size(); ++k) {
      const double turn = 2.399963 * static_cast<double>(k),
                   r = radius * (0.15 + 0.05 * static_cast<double>(k)), size = radius * (k < 8 ? 0.12 : 0.06);
      phantom.ellipsoids.push_back(
          {mu * contrast[k],
           {size, 0.8 * size, size},
           {r * std::cos(turn), 0.85 * r * std::sin(turn), 0.3 * r * std::cos(3 * turn)},
           turn});
    }
  }
};

struct NoisyLines {
  Array y, weights;  ///< the mean of the latter is 1
};

NoisyLines measured(const Phantom& phantom, const ConeBeam& scan, const Space& space) {
  constexpr double photons = 2e4;
  NoisyLines all{Array(space.on(Device::cpu())), Array(space.on(Device::cpu()))};
  project(phantom, Scan(scan), {0, scan.detector.rows},
          {all.y.data(), static_cast<std::size_t>(all.y.size())});
  const Random random(1);
  const Index row = scan.detector.bins;
  parallel_for(all.y.size() / row, [&](Index k) {
    Random own = random.at(k);
    for (Index i = k * row; i < (k + 1) * row; ++i) {
      const double counts =
          std::max(1.0, 1.0 * pipeline::poisson(photons * std::exp(-double{all.y.data()[i]}), own));
      all.y.data()[i] = static_cast<float>(-std::log(counts / photons));
      all.weights.data()[i] = static_cast<float>(counts);
    }
  });
  return all;
}

/// Steps from FDK, with all that they need, and how near they are to a solution.
class LowDose {
 public:
  LowDose(const Axes& axes, Model model)
      : c_(axes.size, axes.views),
        water_(0.42 * axes.size),
        A_(projector(c_.scan, c_.grid, model, axes.device)),
        tv_(huber_total_variation(A_.domain(), static_cast<float>(0.005 * water_.mu))),
        mask_(A_.domain().on(Device::cpu())),
        stream_(default_stream(axes.device)) {
    NoisyLines lines = measured(water_.phantom, c_.scan, A_.range());
    Stream& here = default_stream(Device::cpu());
    Array one = lines.weights.clone();
    fill(one, 1, here);
    const double mean = total(dot(one, lines.weights, here)) / static_cast<double>(one.size());
    axpby(static_cast<float>(1 / mean), lines.weights, 0, lines.weights, here);
    voxelise(water_.phantom, c_.grid, {0, c_.grid.size[2]},
             {mask_.data(), static_cast<std::size_t>(mask_.size())}, 1);
    for (Index i = 0; i < mask_.size(); ++i) {
      mask_.data()[i] = double{mask_.data()[i]} > 0.5 * water_.mu ? 1 : 0;
      voxels_ += double{mask_.data()[i]};
    }
    mask_ = on_device(std::move(mask_), axes.device);
    y_.emplace(on_device(std::move(lines.y), axes.device));
    weights_.emplace(on_device(std::move(lines.weights), axes.device));
    x0_.emplace(fdk(c_.scan, c_.grid, {}, model, axes.device) * *y_);
  }

  Pdhg solver() const {
    return Pdhg(A_, y_->clone(), x0_->clone(), tv_, {static_cast<float>(0.003 / water_.mu)},
                weights_->clone());
  }
  double hounsfield(const Array& x, const Array& end) const {
    Array off = x.clone(stream_);
    axpby(-1, end, 1, off, stream_);
    multiply(mask_, off, stream_);
    return 1000 * std::sqrt(total(dot(off, off, stream_)) / voxels_) / water_.mu;
  }
  const ConeCase& sizes() const { return c_; }

 private:
  ConeCase c_;
  Water water_;
  LinearOperator A_;
  Regulariser tv_;
  Array mask_;
  double voxels_ = 0;
  Stream& stream_;
  std::optional<Array> y_, weights_, x0_;
};

struct Solved {
  double objective;
  Array x;
};

Solved solved(Pdhg solver, int steps) {
  for (int k = 0; k < steps; ++k) solver.step({true});
  const double objective = solver.objective()[0];
  return {objective, std::move(solver).solution()};
}

/// Seconds until the solver is made, and until the end of each step.
std::vector<double> times(const LowDose& problem, int steps) {
  const double start = seconds_now();
  Pdhg solver = problem.solver();
  std::vector<double> seconds{seconds_now() - start};
  for (int k = 0; k < steps; ++k) {
    solver.step({true});
    seconds.push_back(seconds_now() - start);
  }
  return seconds;
}

}  // namespace

/// Rows after 0, 1, ... steps: the distance of the objective from its least value, as a share of that, and of
/// the solution from the end, HU. The end is that of many steps. Times are of a run that does nothing but
/// steps.
Rows low_dose(const Axes& axes, const OnLine& on_line) {
  constexpr int together = 5;
  const bool large = axes.size > 512;  // its rows take minutes
  const int until = large ? 40 : 60, end = large ? 120 : 300;
  const bool groups = axes.executions.front().variant == name_of(Model::hierarchical);
  const Model model = groups ? Model::hierarchical : Model::separable_footprint;
  const LowDose problem(axes, model);
  on_line("the end");
  const auto [least, last] = solved(problem.solver(), end);
  on_line("times");
  const std::vector<double> seconds = times(problem, until);
  on_line("steps");
  Pdhg solver = problem.solver();
  Rows rows = Rows::array();
  for (int k = 0; k <= until; ++k) {
    if (k > 0) solver.step({true});
    auto row = footprint_line(problem.sizes(), "tv", 1000 * seconds[k], k);
    row["variant"] = name_of(model), row["iterations"] = k;
    row["off"] = solver.objective()[0] / least - 1;
    row["hounsfield"] = problem.hounsfield(solver.solution(), last);
    if (k % together == 0) row["gap"] = solver.gaps()[0];
    if (const double left = solver.distances()[0]; std::isfinite(left)) row["distance"] = left;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace tandem::bench
