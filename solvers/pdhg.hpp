#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "levels.hpp"
#include "regulariser.hpp"
#include "run.hpp"

namespace TANDEM_PUBLIC tandem {

class CirculantMetric;

struct PdhgOptions {
  Bounds bounds{};
  float relaxation = 1.7f;  ///< relaxation of all variables, in (0, 2)
  /// The first dual step of the data, in units of their mean weight. If it is large, the first steps of x are
  /// small. It is changed after 10, 15 and 20 steps, by a factor of 0.1 to 1.5.
  float balance = 0.1f;
  std::optional<Levels> levels{};  ///< two values of most voxels, which must be the ends of the bounds
};

/// Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by the primal-dual hybrid gradient method in a
/// circulant metric M (`CirculantMetric`): steps of x have the ramp filter in them, as FBP has, so low
/// frequencies come as fast as high ones. The steps have to keep sigma |A d|^2 + sigma' |K d|^2 <= <d, M d>
/// for each change d of x. That is measured in each step, where it costs no projection, and M grows where it
/// does not hold. Each block has its own steps. All variables are over-relaxed. Bounds are a third dual
/// variable, and the solution is the point after the projection onto them. Needs a matched pair. Sources:
/// Chambolle, Pock, Journal of Mathematical Imaging and Vision 40(1), 2011; Sidky, Jorgensen, Pan, Physics in
/// Medicine and Biology 57(10), 2012; over-relaxation: Condat, Journal of Optimization Theory and
/// Applications 158(2), 2013; steps by measurement: Malitsky, Pock, SIAM Journal on Optimization 28(1), 2018.
class Pdhg {
 public:
  static constexpr SolverCost cost{.volumes = 8,      // x, d; q and scratch, of three parts each
                                   .projections = 5,  // data, their weights, r, p, scratch
                                   .preparation = {2, 1},
                                   .step = {1, 1},
                                   .traces = {0, 0},
                                   .volumes_for_bounds = 2,
                                   .volumes_for_levels = 2};

  /// `weights`: W, one number for all blocks or one per block. `data_weights`: w, one number for each datum,
  /// none negative; empty: all are 1. Data of weight 0 do not count. @throws SpaceError unless b and the data
  /// weights are in range(), x0 is in domain() and K starts there; GeometryError for a relaxation outside (0,
  /// 2), a balance or a weight that is not positive, and where a block has no datum of positive weight
  Pdhg(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
       std::optional<Array> data_weights = {}, PdhgOptions options = {});
  void step(const ActiveBlocks& active);
  const Array& solution() const& { return bounded_ ? bounded_->solution : x_; }
  Array solution() && { return std::move(bounded_ ? bounded_->solution : x_); }
  const std::vector<double>& residual_norms() const { return residual_norms_; }
  SolverState state();

  /// Sets other weights of the regulariser, with which steps go on.
  void weigh(std::vector<float> weights);
  /// Sets the dual variables at which the first step begins: q, in the range of K, for the regulariser, and w
  /// (A x0 - b) for the data. @throws SpaceError unless q is in that range
  void begin_at(const Array& q);
  /// The residual b - A x of the solution. The next step overwrites it.
  const Array& residual();
  /// The value g(Kx) of the solution, one per block.
  std::vector<double> regularity();
  /// The objective of the solution, one per block. Costs one application of A, and for weighted data the
  /// memory of one vector of its range.
  std::vector<double> objective();
  /// The primal-dual gap of the solution and its dual variables, over the objective, one per block. It bounds
  /// how far the objective is above its minimum over points within bounds and at most twice as long as the
  /// solution. Without a limit of the length, the dual problem would have only one point, since At p + Kt q
  /// would have to be zero. Costs an application of A and of its adjoint, and the memory of a volume and of
  /// `objective`. Source: the partial gap of Chambolle, Pock 2011.
  std::vector<double> gaps();
  /// An estimate of the way to the end, over the way of all steps but the first five; one per block. The
  /// former is the length of the steps to come, if they go on to become shorter as the last ten did. It is
  /// infinite before the 20th step, where steps do not become shorter, and before the last stage of levels.
  std::vector<double> distances() const;

 private:
  /// What bounds need: their dual variable, its step in each block, and the point after the projection.
  struct Bounded {
    Array y, solution;
    std::vector<float> sigma;
  };
  /// What levels need: the slope of the concave term, and the volume before it with its misfit.
  struct Staged {
    Array slope, without;
    std::vector<double> misfits;
  };

  void choose_data_steps();
  void choose_metric();
  void choose_regulariser_steps();
  void average_weights();
  std::vector<double> dual_objective();
  std::vector<double> conjugate_of_misfit();
  VectorView beside();
  std::vector<float> sigma_of_regulariser() const;
  std::vector<double> find_direction();
  void limit_length(const std::vector<double>& slopes, const std::vector<double>& squares);
  void measure_steps(const std::vector<double>& squares);
  std::vector<float> times(float factor, const ActiveBlocks& active) const;
  void step_data_dual(const ActiveBlocks& active);
  void step_regulariser_dual(const ActiveBlocks& active);
  void step_bounds_dual(const ActiveBlocks& active);
  void step_duals_at_start();
  std::pair<std::vector<double>, std::vector<double>> misfits();
  void balance();
  void project();
  void begin_stage();
  void judge_levels();
  std::vector<double> weighted_misfits_of_solution();

  LinearOperator A_;
  Regulariser regulariser_;
  PdhgOptions options_;
  Stream& stream_;
  Array b_, x_, r_, p_, s_, q_, g_, d_;  // r: b - A x; d: direction of x; s, g: scratch
  std::optional<Array> beside_;          // scratch, if g has no part that is a volume
  std::optional<Bounded> bounded_;
  std::optional<Staged> staged_;
  std::optional<Array> data_weights_;  // w
  std::shared_ptr<const CirculantMetric> metric_;
  std::vector<float> weights_, of_data_, sigma_;
  std::vector<float> steps_a_weight_;  // sigma of the regulariser for W = 1
  std::vector<float> diagonal_;        // the mean of the diagonal of At w A, one per block
  float of_bounds_ = 0;                // the step of their dual variable, over that of the data; a mean of u
  std::vector<float> longest_;         // length of steps along the direction that the metric gives
  std::vector<double> residual_norms_, mean_weights_, first_misfits_, steps_{0.0};
  std::vector<double> first_values_;  // g(Kx) at the start
  std::vector<double> moved_, moved_last_, moved_before_,
      way_;  // lengths of five steps: of these, and before; of all
};

}  // namespace tandem
