// Pairs in tiles, between the host and GPUs. Skipped where no GPU is; what takes several, where there are
// fewer.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "parts_fixture.hpp"

namespace tandem::test {
namespace {

struct TilesCase {
  std::string name;
  Scan scan;
  VolumeGrid grid;
  double bound;  ///< against the whole
  double mismatch;
};

/// Several tiles of both vectors: a cone beam with odd angles and the principal point off the middle, and
/// views with shadows of two cells to a side, and of any width.
std::vector<TilesCase> tiles_cases() {
  Random random(5);
  constexpr double windows_mu = kernels::bounds::windows_on_cuda.mu;
  return {{"Cone", far_cone(89, 61, 83), box(37, 61, 43, 0.5), tolerance::tiles, tolerance::mismatch},
          {"Views", leaning_views(), cut_bricks(), tolerance::devices, windows_mu},
          {"WideViews", random_views(61, 67, 83, 40, random, false), cut_bricks(), tolerance::devices,
           windows_mu}};
}

class CudaTiles : public CudaParts, public ::testing::WithParamInterface<TilesCase> {
 protected:
  void SetUp() override {
    CudaParts::SetUp();
    if (!IsSkipped()) take(GetParam().scan, GetParam().grid);
  }
  /// Budgets of so many times the smallest tile, or of everything at once.
  std::vector<double> budgets() const { return {2 * least(), 5 * least(), 20 * least(), 1e9}; }
  double bound() const { return GetParam().bound; }
};

INSTANTIATE_TEST_SUITE_P(Of, CudaTiles, ::testing::ValuesIn(tiles_cases()),
                         [](const auto& of) { return of.param.name; });

TEST_P(CudaTiles, AreTheWholeOneWhateverTheBudget) {
  for (const double bytes : budgets())
    for (const int streams : {1, 2, 3})
      expect_whole(tiled({gpu}, bytes, {.streams = streams}), bound(),
                   std::to_string(bytes) + " bytes, " + std::to_string(streams) + " streams");
}

/// A view at a time, and a line of voxels or lines that stay together.
TEST_P(CudaTiles, TheSmallestWillDo) {
  for (const int streams : {1, 3})
    expect_whole(tiled({gpu}, least(), {.streams = streams}), bound(), "least");
  EXPECT_THROW(tiled({gpu}, least() - 1), DeviceError);
}

/// From vectors that are pinned or not, to such ones.
TEST_P(CudaTiles, AddToWhatIsThere) {
  for (const std::vector<Device>& on : several_gpus())
    for (const double bytes : budgets())
      for (const bool pinned : {false, true}) {
        const LinearOperator A = tiled(on, bytes);
        Array y = forward.clone(), z = back.clone();
        std::vector<Pinned> held;
        if (pinned)
          for (Array* each : {&x, &q, &y, &z}) held.emplace_back(*each);
        for (const Pinned& each : held) EXPECT_TRUE(each.held());
        A.apply(2, x, -1, y, default_stream(cpu));
        EXPECT_LE(relative_error(y, forward), bound()) << bytes;
        A.apply_adjoint(2, q, -1, z, default_stream(cpu));
        EXPECT_LE(relative_error(z, back), bound()) << bytes;
        for (int run = 0; run < 3; ++run) {
          fill(y, std::numeric_limits<float>::quiet_NaN(), default_stream(cpu));
          A.apply(1, x, 0, y, default_stream(cpu));
          A.apply_adjoint(1, q, 0, z, default_stream(cpu));
          EXPECT_LE(relative_error(y, forward), bound()) << bytes;
          EXPECT_LE(relative_error(z, back), bound()) << bytes;
        }
      }
}

TEST_P(CudaTiles, PairsMatch) {
  expect_match(tiled(several_gpus().front(), 5 * least()), GetParam().name, GetParam().mismatch);
}

TEST_P(CudaTiles, OnSeveralGpusAreTheSame) {
  if (devices().size() < 3) GTEST_SKIP() << "one GPU here";
  for (const double bytes : budgets())
    expect_whole(tiled(several_gpus().front(), bytes), bound(), std::to_string(bytes));
}

/// Memory that an application took is there for the next: the device's free memory stays what it was.
TEST_P(CudaTiles, LeaveNoMemoryBehind) {
  const LinearOperator A = tiled({gpu}, 5 * least());
  expect_whole(A, bound(), "first");
  const std::size_t before = free_memory(gpu);
  for (int run = 0; run < 20; ++run) expect_whole(A, bound(), "again");
  EXPECT_GE(free_memory(gpu), before);
}

/// The last of the devices is lost at some tile.
TEST_F(CudaParts, AFailureEndsTheApplicationAlone) {
  take(far_cone(89, 61, 83), box(37, 61, 43, 0.5));
  const std::vector<Device> on = several_gpus().front();
  std::atomic<int> left = 0;
  const auto lose = [&](Device device) {
    require<DeviceError>(device != on.back() || left-- != 0, "planted");
  };
  const LinearOperator A = tiled(on, 5 * least(), {.on_tile = lose});
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
    expect_whole(A, tolerance::tiles, "after tile " + std::to_string(tile));
  }
}

TEST_F(CudaParts, ArraysAreBornPinnedWhereThatIsWanted) {
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

/// Kernels work in batches: what they take is a share of the vectors, and ends to grow.
TEST_F(CudaParts, WorkingMemoryIsBounded) {
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
