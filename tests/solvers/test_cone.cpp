// Solvers on a cone beam: the same operators, one problem in place of one a slice.

#include "../support/low_dose.hpp"

namespace tandem::test {
namespace {

/// The case of tests/cuda/test_cone_solver.cpp with fewer voxels. Views are in proportion, and photons leave
/// as much noise beside the attenuation: n / sqrt(views photons) is the same.
TEST(ConeSolver, ResidualsFallAndTheNoiseStopsAheadOfFdk) {
  expect_cgls_ahead_of_fdk(low_dose(48, 17, 1861), Device::cpu());
}

}  // namespace
}  // namespace tandem::test
