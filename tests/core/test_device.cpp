#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "../../core/device.hpp"
#include "../../core/error.hpp"

namespace tandem {
namespace {

TEST(Device, HasAName) {
  EXPECT_EQ(Device::cpu().name(), "cpu");
  EXPECT_EQ(Device::cuda(3).name(), "cuda:3");
  EXPECT_NE(Device::cpu(), Device::cuda(0));
  EXPECT_FALSE(Device::cpu().is_cuda());
}

TEST(Devices, BeginWithTheCpu) {
  const std::vector<Device> all = devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), Device::cpu());
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i], Device::cuda(static_cast<int>(i) - 1));
  for (Device d : all) EXPECT_FALSE(description(d).empty());
}

TEST(Devices, DescribeOnlyWhatIsThere) { EXPECT_THROW(description(Device::cuda(1000)), DeviceError); }

TEST(Devices, SayWhatMemoryTheyHave) {
  EXPECT_THROW(free_memory(Device::cuda(1000)), DeviceError);
  for (Device d : devices())
    if (d.is_cuda()) {
      EXPECT_GT(free_memory(d), 0u);
    }
}

TEST(Devices, TooOldForTheKernelsAreRefusedWithWhatTheyHave) {
  for (const ComputeCapability has : {ComputeCapability{3, 5}, {7, 5}, {7, 9}}) try {
      require_capability(Device::cuda(3), "Old Card", has);
      ADD_FAILURE() << has.major << '.' << has.minor << " was taken";
    } catch (const DeviceError& e) {
      const std::string what = e.what(), number = std::to_string(has.major) + '.' + std::to_string(has.minor);
      for (const std::string& word :
           {std::string("cuda:3"), std::string("Old Card"), number, std::string("8.0")})
        EXPECT_NE(what.find(word), std::string::npos) << word << " is not in " << what;
    }
  for (const ComputeCapability has : {ComputeCapability{8, 0}, {8, 6}, {9, 0}, {12, 0}})
    EXPECT_NO_THROW(require_capability(Device::cuda(3), "New Card", has));
}

TEST(Stream, DefaultIsOneAThread) {
  Stream* here = &default_stream(Device::cpu());
  EXPECT_EQ(here, &default_stream(Device::cpu()));
  Stream* there = nullptr;
  std::thread([&] { there = &default_stream(Device::cpu()); }).join();
  EXPECT_NE(here, there);
}

TEST(Stream, ForeignIsOnAGpuThatIsHere) {
  EXPECT_THROW(Stream::foreign(Device::cpu(), nullptr), DeviceError);
  EXPECT_THROW(Stream::foreign(Device::cuda(1000), nullptr), DeviceError);
}

TEST(Cuda, DevicesAreNamedByTheDriver) {
  if (devices().size() == 1) GTEST_SKIP() << "no CUDA device here";
  EXPECT_NE(description(Device::cuda(0)), "unknown");
  EXPECT_FALSE(cuda_version().empty());
  EXPECT_GT(gigaclocks(Device::cuda(0)), 1);
}

TEST(Device, OfACpuNoClocksAreKnown) { EXPECT_EQ(gigaclocks(Device::cpu()), 0); }

}  // namespace
}  // namespace tandem
