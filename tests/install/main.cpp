#include <tandem/geometry/phantom.hpp>
#include <tandem/operators/adjointness.hpp>
#include <tandem/operators/projector.hpp>

int main() {
  using namespace tandem;
  const ParallelBeam scan{{.bins = 31, .rows = 1, .axis_bin = 14.2}, {0.1, 0.9, 2.0}, {}};
  return adjointness(projector(scan, fitting_grid(scan))).mismatch < 1e-5 ? 0 : 1;
}
