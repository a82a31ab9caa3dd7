// Does apply_adjoint compute the transpose? The coupling degree, which is in common use, hardly sees that
// Joseph's forward projector and a pixel-driven back-projector do not match. The mismatch does.
//
// Expected output (the last digits may differ):
//   matched pair:   coupling 1.0000, mismatch 2e-07
//   unmatched pair: coupling 1.0000, mismatch 2e-01
#include <cmath>
#include <cstdio>
#include <numbers>

#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/projector.hpp"

using namespace tandem;

int main() {
  ParallelBeam scan;
  scan.detector = {.bins = 95, .rows = 2, .axis_bin = 46.3};
  for (int view = 0; view < 90; ++view) scan.angles.push_back(view * std::numbers::pi / 90);
  VolumeGrid grid = fitting_grid(scan);
  grid.size = {64, 64, 2};

  const LinearOperator A = projector(scan, grid);
  const LinearOperator joseph = projector(scan, grid, Model::joseph);
  const Adjointness matched = adjointness(A);
  const Adjointness unmatched = adjointness(unmatched_pair(joseph, adjoint(A)));

  std::printf("matched pair:   coupling %.4f, mismatch %.0e\n", matched.coupling, matched.mismatch);
  std::printf("unmatched pair: coupling %.4f, mismatch %.0e\n", unmatched.coupling, unmatched.mismatch);
  const bool coupling_sees_nothing =
      std::abs(matched.coupling - 1) < 1e-3 && std::abs(unmatched.coupling - 1) < 1e-3;
  return coupling_sees_nothing && matched.mismatch < 2e-6 && unmatched.mismatch > 0.1 ? 0 : 1;
}
