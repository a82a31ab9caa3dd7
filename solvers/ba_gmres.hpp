#pragma once

#include "../operators/linear_operator.hpp"
#include "residual_solver.hpp"
#include "run.hpp"

namespace tandem {

/// Minimises |B (b - Ax)| over the Krylov space of BA, each block by itself. The back-projection B need not
/// be the transpose of A: B is what apply_adjoint of A runs (`unmatched_pair`). It keeps a vector for each
/// step that it has made. With B = At its steps are those of LSMR. Source: Hansen, Hayami, Morikuni, Journal
/// of Computational and Applied Mathematics 413, 2022.
class BaGmres : public ResidualSolver<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, x0, the first vector of the basis
                                   .projections = 3,  // b, r; the signs of traces
                                   .preparation = {1, 1},
                                   .step = {2, 1},  // A once more, for the residual of the solution
                                   .traces = {2, 1},
                                   .volumes_a_step = 1};

  /// @throws SpaceError unless b is in range() and x0 is in domain()
  BaGmres(LinearOperator A, Data b, Array x0, Sums sums = {});
  void step(const ActiveBlocks& active);
  const std::vector<double>& falls() const { return falls_; }  ///< |B r|^2, as in LSMR, since B is near At
  std::vector<double> traces();                                ///< trace of A B, one per block
  SolverState state();
  void make_room(int steps);

 private:
  /// The least-squares problem of a block in its basis.
  struct Small {
    std::vector<double> triangle;  ///< R, the Hessenberg matrix after its rotations, column by column
    std::vector<double> cosines, sines, right;
    double first_gradient = 0;
    bool at_end = false;  ///< whether its basis no longer grows

    /// Takes a column of the Hessenberg matrix.
    void add(std::vector<double> column);
    void resize(std::size_t columns);
    /// The coefficients of the solution.
    std::vector<double> solve() const;
  };

  void extend_basis();
  void normalise(Array v, const std::vector<double>& lengths);
  void update_solution(const ActiveBlocks& active);

  Sums sums_;
  Array x0_;
  std::vector<Array> basis_;
  std::vector<Small> small_;
  std::vector<double> falls_;
};

}  // namespace tandem
