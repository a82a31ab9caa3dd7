#include "from_readme.hpp"  // the C++ of README.md, as it stands there

#include <numbers>
#include <tandem/geometry/phantom.hpp>
#include <tandem/operators/adjointness.hpp>
#include <tandem/solvers/solver_kind.hpp>

/// Relative residual of the volume that the README's function makes of a disc.
double residual_of_disc() {
  ParallelBeam scan{{.bins = 63, .rows = 1, .axis_bin = 31.2}, {}, {}};
  for (int view = 0; view < 60; ++view) scan.angles.push_back(view * std::numbers::pi / 60);
  const LinearOperator A = projector(scan, fitting_grid(scan));
  Array y(A.range());
  project(scaled(disc(), 31, 0.02), scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
  const Array again = A * reconstruct(scan, y, 0.01);
  double off = 0, all = 0;
  for (Index i = 0; i < y.size(); ++i) {
    off += (y.data()[i] - again.data()[i]) * (y.data()[i] - again.data()[i]);
    all += y.data()[i] * y.data()[i];
  }
  return off / all;
}

/// Whether a solver that is made by its name lessens the residual.
bool solves_by_name(const ParallelBeam& scan) {
  const LinearOperator A = projector(scan, fitting_grid(scan));
  Array y(A.range());
  project(scaled(disc(), 15, 0.02), scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
  AnySolver sirt =
      solver_kind("sirt").solver({.A = A, .b = std::move(y), .x0 = Array(A.domain()), .bounds = above_zero});
  const Report report = run(sirt, max_iterations(5));
  return report.residuals.back() < 0.5 * report.residuals.front();
}

int main() {
  const ParallelBeam scan{{.bins = 31, .rows = 1, .axis_bin = 14.2}, {0.1, 0.9, 2.0}, {}};
  const bool matched = adjointness(projector(scan, fitting_grid(scan))).mismatch < 1e-5;
  return matched && residual_of_disc() < 1e-3 && solves_by_name(scan) ? 0 : 1;
}
