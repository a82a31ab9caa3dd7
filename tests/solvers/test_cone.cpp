// Solvers on a cone beam: the same operators, one problem in place of one a slice.

#include "../support/low_dose.hpp"

namespace tandem::test {
namespace {

/// On fewer voxels than issue 4 has (tests/cuda/test_cone_solver.cpp has it in full), with views in
/// proportion and photons that leave as much noise beside the attenuation, n / sqrt(views photons) as before.
TEST(ConeSolver, ResidualsFallAndTheNoiseStopsAheadOfFdk) {
  expect_cgls_ahead_of_fdk(low_dose(48, 17, 1861), Device::cpu());
}

}  // namespace
}  // namespace tandem::test
