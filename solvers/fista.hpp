#pragma once

#include <optional>
#include <vector>

#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "regulariser.hpp"
#include "run.hpp"

namespace tandem {

struct FistaOptions {
  Bounds bounds{};
  int inner_steps = 10;  ///< steps for the regulariser's proximal map in each step
};

/// Minimises 1/2 sum of w (Ax - b)^2 + W g(Kx) within bounds, by gradient steps of length 1/L with momentum.
/// L is the norm of At w A of each block. The proximal map of W g(Kx) and the bounds is found in its dual, by
/// `inner_steps` projected steps with momentum, which go on from the dual of the step before. Momentum begins
/// anew if it leads uphill. Needs a matched pair. Sources: Beck, Teboulle, SIAM Journal on Imaging Sciences
/// 2(1), 2009, and IEEE Transactions on Image Processing 18(11), 2009; restart: O'Donoghue, Candes,
/// Foundations of Computational Mathematics 15(3), 2015.
class Fista : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 13,  // x, x before, z, v; q, p and scratch, of three parts each
                                   .projections = 5,  // data, their weights, r of x, r of z, scratch
                                   .preparation = {11, 9},
                                   .step = {1, 1},
                                   .traces = {0, 0}};

  /// `weights`: W, one number for all blocks or one per block. `data_weights`: w, one number for each datum,
  /// none negative; empty: all are 1. @throws SpaceError unless b and the data weights are in range(), x0 is
  /// in domain() and K starts there; GeometryError for a weight that is negative, fewer than one inner step,
  /// and bounds that leave nothing
  Fista(LinearOperator A, Array b, Array x0, Regulariser regulariser, std::vector<float> weights,
        std::optional<Array> data_weights = {}, FistaOptions options = {});
  void step(const ActiveBlocks& active);
  SolverState state() {
    return {{"x", x_},
            {"z", z_},
            {"q", q_},
            {"r", r_},
            {"r_of_z", r_of_z_},
            {"momentum", momentum_},
            {"residual_norms", residual_norms_}};
  }
  /// The value g(Kx) of the solution, one per block.
  std::vector<double> regularity();

 private:
  void choose_steps();
  void weigh_residual(const Array& r);
  void find_proximal_point();
  void take_dual_steps(const Array& q);
  void add_momentum(const ActiveBlocks& active);

  Regulariser regulariser_;
  FistaOptions options_;
  Array b_, before_, z_, v_, r_, r_of_z_, s_, q_, p_, g_;  // r: b - A x; v, s, g: scratch
  std::optional<Array> data_weights_;
  std::vector<float> weights_, tau_, sigma_;  // tau: 1/L; sigma: step of the dual
  std::vector<double> momentum_;
};

}  // namespace tandem
