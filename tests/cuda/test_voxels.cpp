// Voxels as the numbers of a file, made on a GPU and by the writer. Skipped where no GPU is.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "../../io/volumes/volume_format.hpp"
#include "../../pipeline/stations/landing.hpp"
#include "cuda_fixture.hpp"

namespace tandem::pipeline {
namespace {

class CudaVoxels : public test::Cuda {};

/// Voxels of all sizes, in and around the range, halfway between two numbers, and below the smallest half.
Array voxels_of_all_sizes(Index count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-30, 12), mantissa(-1, 1);
  Array voxels(Space({1, 1, count}));
  for (Index i = 0; i < count; ++i) {
    const float half = 0.25f + (static_cast<float>(random() % 70000) + 0.5f) / 65535 * 0.5f;
    voxels.data()[i] = i % 3 == 0 ? half : mantissa(random) * std::exp2(exponent(random));
  }
  return voxels;
}

TEST_F(CudaVoxels, AreTheNumbersThatTheWriterMakes) {
  for (const io::VoxelType type : {io::VoxelType::float16, io::VoxelType::uint16, io::VoxelType::uint8}) {
    const io::VolumeFormat format{.type = type, .min = 0.25f, .max = 0.75f};
    const Array voxels = voxels_of_all_sizes(100003);
    io::Clipped clipped;
    const std::vector<std::byte> expected = io::quantised(format, voxels.data(), voxels.size(), &clipped);
    const std::optional<StoredVoxels> found = stored_on_gpu(on_device(voxels, gpu), format);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->bytes, static_cast<Index>(expected.size()));
    const Array brought = on_device(found->memory, Device::cpu());
    EXPECT_EQ(std::memcmp(brought.data(), expected.data(), expected.size()), 0);
    EXPECT_EQ(found->clipped.below, clipped.below);
    EXPECT_EQ(found->clipped.above, clipped.above);
  }
}

TEST_F(CudaVoxels, ThatAreTooLargeForHalvesAreLeftToTheWriter) {
  Array voxels = voxels_of_all_sizes(1000);
  voxels.data()[500] = 65519;
  EXPECT_TRUE(stored_on_gpu(on_device(voxels, gpu), {.type = io::VoxelType::float16}));
  voxels.data()[999] = -65520;
  EXPECT_FALSE(stored_on_gpu(on_device(voxels, gpu), {.type = io::VoxelType::float16}));
  EXPECT_FALSE(stored_on_gpu(on_device(voxels, gpu), {.type = io::VoxelType::float32}));
}

}  // namespace
}  // namespace tandem::pipeline
