// The cone-beam pair in tiles, between the host and GPUs. Skipped where no GPU is; what takes several, where
// there are fewer.

#include <atomic>
#include <cmath>
#include <optional>

#include "../../core/error.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../support/tiles.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

/// Odd angles, the principal point off the middle; several tiles of both vectors.
class CudaTiles : public Cuda {
 protected:
  CudaTiles() {
    Random random(3);
    std::vector<double> angles = irregular_angles(89, random);
    for (double& a : angles) a *= 2;
    scan = {{83, 61, 1, 1.3, 41.7}, angles, 90, 170, 29.6};
    grid = {{37, 61, 43}, {0.5, 0.5, 0.45}, {0.3, -0.2, 0.1}};
  }
  /// Budgets of so many times the smallest tile, or of everything at once.
  std::vector<double> budgets() const {
    const double least = smallest_tile(scan, grid, gpu);
    return {2 * least, 5 * least, 20 * least, 1e9};
  }
  void expect_whole(const LinearOperator& A, const std::string& what) const {
    EXPECT_LE(relative_error(A * x, forward), tolerance::tiles) << what;
    EXPECT_LE(relative_error(adjoint(A) * q, back), tolerance::tiles) << what;
  }
  LinearOperator tiled(std::vector<Device> on, double bytes, TileRun run = {}) const {
    return tiled_projector(scan, grid, std::move(on), bytes, std::move(run));
  }
  void SetUp() override {
    Cuda::SetUp();
    if (IsSkipped()) return;
    const LinearOperator whole = projector(scan, grid, Model::separable_footprint, gpu);
    x = random_array(whole.domain().on(cpu), 5), q = random_array(whole.range().on(cpu), 6);
    forward = on_device(whole * on_device(x, gpu), cpu);
    back = on_device(adjoint(whole) * on_device(q, gpu), cpu);
  }
  /// All GPUs; the same one twice where there is no other.
  std::vector<Device> several() const {
    std::vector<Device> all = devices();
    all.erase(all.begin());
    if (all.size() == 1) all.push_back(all[0]);
    return all;
  }

  ConeBeam scan;
  VolumeGrid grid;
  const Space nothing{{1, 1, 1}};
  Array x{nothing}, q{nothing}, forward{nothing}, back{nothing};
};

TEST_F(CudaTiles, AreTheWholeOneWhateverTheBudget) {
  for (const double bytes : budgets())
    for (const int streams : {1, 2, 3})
      expect_whole(tiled({gpu}, bytes, {.streams = streams}),
                   std::to_string(bytes) + " bytes, " + std::to_string(streams) + " streams");
}

/// A line of voxels and a view at a time.
TEST_F(CudaTiles, TheSmallestWillDo) { expect_whole(tiled({gpu}, smallest_tile(scan, grid, gpu)), "least"); }

TEST_F(CudaTiles, OfPinnedVectorsAreTheSame) {
  const Pinned volume(x), projections(q);
  EXPECT_TRUE(volume.held() && projections.held());
  for (const double bytes : budgets()) {
    const LinearOperator A = tiled({gpu}, bytes);
    Array y(A.range()), z(A.domain());
    const Pinned results[] = {Pinned(y), Pinned(z)};
    for (int run = 0; run < 3; ++run) {
      A.apply(1, x, 0, y, default_stream(cpu));
      A.apply_adjoint(1, q, 0, z, default_stream(cpu));
      EXPECT_LE(relative_error(y, forward), tolerance::tiles) << bytes;
      EXPECT_LE(relative_error(z, back), tolerance::tiles) << bytes;
    }
  }
}

TEST_F(CudaTiles, ArraysAreBornPinnedWhereThatIsWanted) {
  const Space large({1, 1, 1 << 20}), small({1, 1, 1 << 10});
  std::optional<Array> kept;
  {
    const PinHostMemory pinned(gpu);
    kept.emplace(large);
    EXPECT_TRUE(kept->is_pinned());
    EXPECT_FALSE(Array(small).is_pinned());
    const PinHostMemory none(cpu);
    EXPECT_FALSE(Array(large).is_pinned());
  }
  EXPECT_FALSE(Array(large).is_pinned());
  on_threads(1, [&](Index) { kept.reset(); });  // on another thread
  const PinHostMemory pinned(gpu);
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(Array(large).is_pinned());
}

TEST_F(CudaTiles, AddToWhatIsThere) {
  for (const double bytes : budgets())
    for (const bool pinned : {false, true}) {
      const LinearOperator A = tiled(several(), bytes);
      Array y = forward.clone(), z = back.clone();
      std::vector<Pinned> held;
      if (pinned) held.emplace_back(y), held.emplace_back(z);
      A.apply(2, x, -1, y, default_stream(cpu));
      EXPECT_LE(relative_error(y, forward), tolerance::tiles) << bytes;
      A.apply_adjoint(2, q, -1, z, default_stream(cpu));
      EXPECT_LE(relative_error(z, back), tolerance::tiles) << bytes;
      fill(y, std::numeric_limits<float>::quiet_NaN(), default_stream(cpu));
      A.apply(1, x, 0, y, default_stream(cpu));
      EXPECT_LE(relative_error(y, forward), tolerance::tiles) << bytes;
    }
}

TEST_F(CudaTiles, PairsMatch) {
  const Adjointness a = adjointness(tiled(several(), budgets()[1]));
  EXPECT_LE(a.mismatch, tolerance::mismatch);
  EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
}

TEST_F(CudaTiles, RunsHaveTheSameBits) {
  for (const double bytes : budgets()) {
    const LinearOperator A = tiled(several(), bytes);
    const Array y = A * x, z = adjoint(A) * q;
    for (int run = 0; run < 5; ++run) {
      EXPECT_TRUE(same_bits(A * x, y)) << bytes;
      EXPECT_TRUE(same_bits(adjoint(A) * q, z)) << bytes;
    }
  }
}

TEST_F(CudaTiles, OnSeveralGpusAreTheSame) {
  if (devices().size() < 3) GTEST_SKIP() << "one GPU here";
  for (const double bytes : budgets()) expect_whole(tiled(several(), bytes), std::to_string(bytes));
}

/// Memory that an application took is there for the next: the device's free memory stays what it was.
TEST_F(CudaTiles, LeaveNoMemoryBehind) {
  const LinearOperator A = tiled({gpu}, budgets()[2]);
  expect_whole(A, "first");
  const std::size_t before = free_memory(gpu);
  for (int run = 0; run < 20; ++run) expect_whole(A, "again");
  EXPECT_GE(free_memory(gpu), before);
}

/// The last of the devices is lost at some tile.
TEST_F(CudaTiles, AFailureEndsTheApplicationAlone) {
  const std::vector<Device> on = several();
  std::atomic<int> left = 0;
  const auto lose = [&](Device device) {
    require<DeviceError>(device != on.back() || left-- != 0, "planted");
  };
  const LinearOperator A = tiled(on, budgets()[1], {.on_tile = lose});
  for (const int tile : {0, 1, 3}) {
    left = tile;
    try {
      const Array y = A * x;
      ADD_FAILURE() << "no error at tile " << tile;
    } catch (const DeviceError& e) {
      EXPECT_EQ(std::string(e.what()), "tiles on " + on.back().name() + ": planted");
    }
    left = tile;
    EXPECT_THROW(adjoint(A) * q, DeviceError);
    left = -1;  // never
    expect_whole(A, "after tile " + std::to_string(tile));
  }
}

TEST_F(CudaTiles, TooLittleMemoryIsAnError) {
  EXPECT_THROW(tiled({gpu}, smallest_tile(scan, grid, gpu) - 1), DeviceError);
}

/// Kernels work in batches: what they take is a share of the vectors, and ends to grow.
TEST_F(CudaTiles, WorkingMemoryIsBounded) {
  for (const Index n : {512, 1024, 2048, 4096}) {
    const Shape volume{n, n, n}, projections{n, 9 * n / 8, 3 * n / 2};
    const WorkingMemory most = working_memory(Model::separable_footprint, volume, projections, gpu);
    const double vectors = 4 * 2.6875 * std::pow(static_cast<double>(n), 3), gib = bytes_per_gib;
    const double share = std::clamp(0.25 * vectors, gib, 4 * gib);
    EXPECT_LE(most.forward, 1.6 * share) << n;
    EXPECT_LE(most.backward, 2.1 * share) << n;
  }
}

}  // namespace
}  // namespace tandem::test
