#pragma once

// What tests on a GPU share. They are skipped if there is no GPU.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "../../kernels/parallel.hpp"
#include "../support/laws.hpp"

namespace tandem::test {

/// Each view moved by up to three bins.
inline ParallelBeam with_shifted_views(ParallelBeam scan) {
  Random random(5);
  for (std::size_t v = 0; v < scan.angles.size(); ++v)
    scan.view_shift_bins.push_back(6 * random.uniform() - 3);
  return scan;
}

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (devices().size() < 2) GTEST_SKIP() << "no GPU here";
  }
  LinearOperator odd_projector(Index slices, Execution how = {}) const {
    return projector(odd_scan(61, slices), grid_of(37, 41, slices), Model::pixel_driven, gpu, how);
  }
  const Device gpu = Device::cuda(0), cpu = Device::cpu();
};

/// Lists for what takes several GPUs: all of them, or one that is named twice where there is no other; and
/// one that is named twice and three times.
inline std::vector<std::vector<Device>> several_gpus() {
  std::vector<Device> gpus = devices();
  gpus.erase(gpus.begin());
  const Device one = gpus.front();
  if (gpus.size() == 1) return {{one, one}, {one, one, one}};
  return {gpus, {one, one}, {one, one, one}};
}

/// Makes an operator on a device.
using Make = std::function<LinearOperator(Device)>;

/// Makes the projector of a device, by its first execution or, on a GPU, by this one.
inline Make projectors(const Scan& scan, const VolumeGrid& grid, Model model = Model::separable_footprint,
                       const Execution& how = {}) {
  return [=](Device device) {
    return projector(scan, grid, model, device, device.is_cuda() ? how : Execution{});
  };
}

/// What is made on a GPU has the numbers of what is made on the CPU, both ways.
inline void expect_the_cpus(const Make& make, const std::string& what, double forward = tolerance::devices,
                            double back = tolerance::devices) {
  expect_pairs_alike(make(Device::cuda(0)), make(Device::cpu()), what, forward, back);
}

/// Dot products of blocks on a GPU are those on the CPU.
inline void expect_dots_alike(const Space& here) {
  const Space there = here.on(Device::cuda(0));
  const std::vector<double> a = dot(random_array(here, 6), random_array(here, 7),
                                    default_stream(here.device())),
                            b = dot(random_array(there, 6), random_array(there, 7),
                                    default_stream(there.device()));
  ASSERT_EQ(a.size(), b.size());
  const double terms = static_cast<double>(here.size()) / static_cast<double>(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-12 * terms) << k;
}

/// The executions whose coefficients are the CPU's, but for rounding.
inline std::vector<Execution> executions_of_hats(Device gpu) {
  std::vector<Execution> all = executions(gpu);
  std::erase_if(all, [&](const Execution& how) {
    return find(kernels::parallel(gpu), how.variant)->coefficient != kernels::hat_coefficient;
  });
  return all;
}

/// The most memory that kernels take on a GPU while they work, bytes.
inline double taken_by(const std::function<void()>& work, Device gpu) {
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, gpu.ordinal()), cudaSuccess);
  default_stream(gpu).synchronize();
  std::uint64_t before = 0, most = 0, zero = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before), cudaSuccess);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero), cudaSuccess);
  work();
  default_stream(gpu).synchronize();
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most), cudaSuccess);
  return static_cast<double>(most) - static_cast<double>(before);
}

}  // namespace tandem::test
