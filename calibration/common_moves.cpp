#include <Eigen/Dense>

#include "../geometry/free_views.hpp"
#include "../geometry/vector3.hpp"
#include "changed_views.hpp"
#include "view_moves.hpp"

namespace tandem::calibration {

namespace {

/// A view of a scan whose image lies where a move says.
FlexibleView moved_view(const auto& scan, const FlexibleView& view, const ViewMove& move) {
  const auto [bins, rows, turn] = move;
  if (turn == 0) return moved(scan, view, -rows, -bins);
  const double bin = length(view.bin_step), row = length(view.row_step), c = std::cos(turn),
               s = std::sin(turn);
  const auto [row_here, bin_here] = place_of(scan, view);
  const Vector3 pivot = view.detector + bin_here * view.bin_step + row_here * view.row_step;
  FlexibleView turned = view;
  turned.bin_step = c * view.bin_step + s * bin / row * view.row_step;
  turned.row_step = c * view.row_step - s * row / bin * view.bin_step;
  turned.detector = pivot - (bin_here + bins) * turned.bin_step - (row_here + rows) * turned.row_step;
  return turned;
}

}  // namespace

Scan moved_by(const Scan& scan, const std::vector<ViewMove>& moves, std::size_t first) {
  auto all = as_free_views(scan);
  for (std::size_t k = 0; k < moves.size(); ++k)
    all.views[first + k] = moved_view(all, all.views[first + k], moves[k]);
  return all;
}

void subtract_common_moves(std::vector<ViewMove>& all, const Scan& scan) {
  const auto free = as_free_views(scan);
  const Eigen::Index n = all.size();
  Eigen::MatrixXd common = Eigen::MatrixXd::Zero(2 * n, 5);
  Eigen::VectorXd shifts(2 * n);
  const double step = free.detector.bin_pitch;
  double turn = 0;
  for (Eigen::Index k = 0; k < n; ++k) {
    const std::size_t at = k;
    const FlexibleView& view = free.views[at];
    for (int axis = 0; axis < 3; ++axis) {
      Vector3 to{};
      to[axis] = step;
      const CellPlace here = place_of(free, view), there = place_of(free, view, to);
      common(k, axis) = there.bin - here.bin, common(n + k, axis) = there.row - here.row;
    }
    common(k, 3) = common(n + k, 4) = 1;
    shifts[k] = all[at][0], shifts[n + k] = all[at][1];
    turn += all[at][2] / n;
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(1e-6);
  solver.compute(common);
  const Eigen::VectorXd left = shifts - common * solver.solve(shifts);
  for (Eigen::Index k = 0; k < n; ++k) {
    ViewMove& move = all[k];
    move = {left[k], left[n + k], move[2] - turn};
  }
}

}  // namespace tandem::calibration
