#pragma once

// What tests on a GPU share. They are skipped if there is no GPU.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "../../kernels/parallel.hpp"
#include "../../operators/vector.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {

/// 53 odd angles, an axis off the middle, rows with axes of their own.
inline ParallelBeam odd_scan(Index bins, Index rows) {
  ParallelBeam scan = scan_of(53, rows, bins);
  if (bins < 7) scan.detector.axis_bin = 0.3;
  return scan;
}

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

/// The pair for views of any geometry.
class CudaViews : public Cuda {
 protected:
  LinearOperator there(const FlexibleBeam& scan, const VolumeGrid& grid) const {
    return projector(scan, grid, Model::separable_footprint, gpu);
  }
  void expect_agreement(const FlexibleBeam& scan, const VolumeGrid& grid, const std::string& what) const {
    const LinearOperator A = projector(scan, grid), B = there(scan, grid);
    const Array x = random_array(A.domain(), 2), q = random_array(A.range(), 3);
    EXPECT_LE(relative_error(B * on_device(x, gpu), A * x), tolerance::devices) << "forward, " << what;
    EXPECT_LE(relative_error(adjoint(B) * on_device(q, gpu), adjoint(A) * q), tolerance::devices)
        << "back, " << what;
  }
};

/// The executions whose coefficients are the CPU's, but for rounding.
inline std::vector<Execution> executions_of_hats(Device gpu) {
  std::vector<Execution> all = executions(gpu);
  std::erase_if(all, [&](const Execution& how) {
    return find(kernels::parallel(gpu), how.variant)->coefficient != kernels::hat_coefficient;
  });
  return all;
}

/// Slice z of a volume, or row z of projections, as a vector of `space`, which has one alone.
inline Array one_of(const Array& all, Index z, const Space& space) {
  const Array here = on_device(all, Device::cpu());
  Array one(space.on(Device::cpu()));
  const Image<const float> from = image(ConstVectorView(here));
  const Image<float> to = image(VectorView(one));
  const bool row = space.blocks() == Blocks::rows;
  for (Index i = 0; i < to.n0; ++i)
    for (Index j = 0; j < to.n1; ++j) std::copy_n(&from(row ? i : z, row ? z : j, 0), to.n2, &to(i, j, 0));
  return on_device(one, space.device());
}

/// `many` comes out with the same bits in every run, and these slices with those that `one` gives them alone.
inline void expect_same_bits(const LinearOperator& many, const LinearOperator& one,
                             const std::vector<Index>& slices, const std::string& name) {
  const Array in = random_array(many.domain(), 4), out = many * in;
  for (int run = 0; run < 10; ++run) EXPECT_TRUE(same_bits(many * in, out)) << name;
  for (const Index z : slices)
    EXPECT_TRUE(same_bits(one * one_of(in, z, one.domain()), one_of(out, z, one.range())))
        << name << ", slice " << z;
}

inline void expect_beta_zero_reads_nothing(const LinearOperator& A, const std::string& name) {
  Stream& stream = default_stream(A.domain().device());
  const Array x = random_array(A.domain(), 5), truth = A * x;
  Array y(A.range());
  fill(y, std::numeric_limits<float>::quiet_NaN(), stream);
  A.apply(1, x, 0, y, stream);
  EXPECT_TRUE(same_bits(y, truth)) << name;
  A.apply(2, x, -1, y, stream);  // 2 A x - A x
  EXPECT_LE(relative_error(y, truth), tolerance::devices) << name;
}

/// One of three slices, the middle one, holds a number that is not finite. The others keep their bits, and so
/// do all of its pixels that are finite: no pixel looks right and is wrong.
inline void expect_infinity_to_be_seen(const LinearOperator& three, const LinearOperator& one,
                                       const std::string& name) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Array q = random_array(three.domain(), 6), truth = three * q;
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    Array with = on_device(q, Device::cpu());
    const bool volume = with.space().blocks() == Blocks::slices;
    image(VectorView(with))(volume ? 1 : 20, volume ? 20 : 1, 30) = bad;
    const Array out = three * on_device(with, q.space().device());
    for (const Index z : {0, 2})
      EXPECT_TRUE(same_bits(one_of(out, z, one.range()), one_of(truth, z, one.range())))
          << name << ", slice " << z << " beside " << bad;
    const Array own = on_device(one_of(out, 1, one.range()), Device::cpu()),
                without = on_device(one_of(truth, 1, one.range()), Device::cpu());
    Index seen = 0, wrong = 0;
    for (Index i = 0; i < own.size(); ++i)
      if (!std::isfinite(own.data()[i]))
        ++seen;
      else if (own.data()[i] != without.data()[i])
        ++wrong;
    EXPECT_GT(seen, 0) << name << ", " << bad;
    EXPECT_EQ(wrong, 0) << name << ", " << bad;
  }
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
