#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "regulariser.hpp"
#include "run.hpp"

namespace TANDEM_PUBLIC tandem {

struct PdhgOptions {
  Bounds bounds{};
  float relaxation = 1.8f;  ///< relaxation of all variables, in (0, 2)
  /// The dual step of the data, in units of their mean weight. If it is large, the first steps of x are
  /// small.
  float balance = 0.05f;
  std::vector<double> norms{};  ///< |A| of each block; empty: found by power iteration
};

/// Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by the primal-dual hybrid gradient method. Each
/// of the two terms, and each block, has its own dual step, with tau (sigma |A|^2 + sigma' |K|^2) = 1. All
/// variables are over-relaxed. The solution is the point after the projection onto the bounds. Needs a
/// matched pair. Sources: Chambolle, Pock, Journal of Mathematical Imaging and Vision 40(1), 2011; Sidky,
/// Jorgensen, Pan, Physics in Medicine and Biology 57(10), 2012; over-relaxation: Condat, Journal of
/// Optimization Theory and Applications 158(2), 2013.
class Pdhg {
 public:
  static constexpr SolverCost cost{.volumes = 8,      // x, the solution; q and scratch, of three parts each
                                   .projections = 5,  // data, their weights, r, p, scratch
                                   .preparation = {11, 9},
                                   .step = {1, 1},
                                   .traces = {0, 0}};

  /// `weights`: W, one number for all blocks or one per block. `data_weights`: w, one number for each datum,
  /// none negative; empty: all are 1. Data of weight 0 do not count. @throws SpaceError unless b and the data
  /// weights are in range(), x0 is in domain() and K starts there; GeometryError for a relaxation outside (0,
  /// 2), a balance or a weight that is not positive, and where a block has no datum of positive weight
  Pdhg(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
       std::optional<Array> data_weights = {}, PdhgOptions options = {});
  void step(const ActiveBlocks& active);
  const Array& solution() const& { return solution_; }
  Array solution() && { return std::move(solution_); }
  const std::vector<double>& residual_norms() const { return residual_norms_; }
  SolverState state() {
    return {{"x", x_}, {"solution", solution_},
            {"r", r_}, {"p", p_},
            {"q", q_}, {"residual_norms", residual_norms_}};
  }

  /// The norm |A| of each block, as steps use it.
  const std::vector<double>& norms() const { return options_.norms; }
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

 private:
  void choose_steps();
  void average_weights();
  Array data_weights() const;
  std::vector<double> weighted_squares(const Array& r);
  std::vector<double> dual_objective();
  std::vector<double> conjugate_of_misfit();
  void update_residual();
  void keep_stopped(const ActiveBlocks& active);
  void step_primal();
  void step_data_dual(const ActiveBlocks& active);
  void step_regulariser_dual(const ActiveBlocks& active);

  LinearOperator A_;
  Regulariser regulariser_;
  PdhgOptions options_;
  Stream& stream_;
  Array b_, x_, solution_, r_, p_, s_, q_, g_;  // r: b - A x; s, g: scratch
  std::optional<Array> shrink_;                 // w / (w + sigma)
  std::vector<float> weights_, tau_, sigma_, sigma_of_regulariser_;
  std::vector<double> residual_norms_;
};

}  // namespace tandem
