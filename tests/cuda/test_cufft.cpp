#include <gtest/gtest.h>

#include "../../kernels/cuda/common/cufft.hpp"

namespace tandem::kernels::cuda {
namespace {

/// If these parts are built, the toolkit has cuFFT. It needs no GPU to be loaded.
TEST(Cufft, IsLoadedWithAllThatIsUsed) { EXPECT_NO_THROW(cufft()); }

TEST(Cufft, FailedCallsAreDeviceErrors) { EXPECT_THROW(check(cufft().set_stream(-1, nullptr)), DeviceError); }

}  // namespace
}  // namespace tandem::kernels::cuda
