// The case of tests/solvers/test_cone.cpp in full size. It is skipped if there is no GPU.

#include "../support/low_dose.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

TEST_F(Cuda, ConeResidualsFallAndTheNoiseStopsAheadOfFdk) {
  expect_cgls_ahead_of_fdk(low_dose(256, 90, 1e4), gpu);
}

}  // namespace
}  // namespace tandem::test
