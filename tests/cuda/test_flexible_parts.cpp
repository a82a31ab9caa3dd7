// The pair for any geometry in tiles, on teams, and from file to volume on GPUs. Skipped where no GPU is;
// where there is one, it is named twice.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "../../kernels/flexible.hpp"
#include "../../kernels/flexible_footprint.hpp"
#include "../../operators/adjointness.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../support/placements.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "parts_fixture.hpp"

namespace tandem::test {
namespace {

class CudaFlexibleParts : public CudaParts {
 protected:
  void SetUp() override {
    CudaParts::SetUp();
    if (!IsSkipped()) take(leaning_views(), cut_bricks());
  }
  double mu() const { return kernels::flexible(gpu).front().grades.front().bounds.mu; }
};

/// The bits are the same in every run, and in projections on any number of GPUs.
TEST_F(CudaFlexibleParts, TilesHaveTheSameBits) {
  for (const double bytes : {2 * least(), 1e9}) {
    const Array one = tiled({gpu}, bytes) * x;
    for (const std::vector<Device>& on : several_gpus()) {
      const LinearOperator A = tiled(on, bytes);
      const Array z = adjoint(A) * q;
      for (int run = 0; run < 3; ++run) {
        EXPECT_TRUE(same_bits(A * x, one)) << bytes;
        EXPECT_TRUE(same_bits(adjoint(A) * q, z)) << bytes;
      }
    }
    EXPECT_LE(adjointness(tiled({gpu, gpu}, bytes)).mismatch, mu()) << bytes;
  }
}

TEST_F(CudaFlexibleParts, TeamsProjectAsOneGpuDoes) {
  for (const std::vector<Device>& on : several_gpus()) {
    const Device team = Device::team(on);
    const LinearOperator A = projector(scan, grid, Model::separable_footprint, team);
    const Array y = on_device(A * on_device(x, team), cpu),
                z = on_device(adjoint(A) * on_device(q, team), cpu);
    EXPECT_TRUE(same_bits(y, forward)) << team.name();
    EXPECT_LE(relative_error(z, back), tolerance::devices) << team.name();
    for (int run = 0; run < 3; ++run)
      EXPECT_TRUE(same_bits(on_device(adjoint(A) * on_device(q, team), cpu), z)) << team.name();
    EXPECT_LE(adjointness(A).mismatch, mu()) << team.name();
  }
}

TEST_F(CudaFlexibleParts, SolversComeToOneSolution) {
  const Placed<FlexibleBeam> problem = placed_views();
  const auto on = [&](Device device) {
    return projector(problem.scan, problem.grid, Model::separable_footprint, device);
  };
  const double tile = 5 * smallest_tile(problem.scan, problem.grid, gpu);
  expect_one_solution(problem, {{"one GPU", on(gpu)},
                                {"two", on(Device::team({gpu, gpu}))},
                                {"tiles", tiled_projector(problem.scan, problem.grid, {gpu, gpu}, tile)}});
}

/// Memory beside the vectors, which lie there before. An operator is made anew: what it keeps counts too.
TEST_F(CudaFlexibleParts, KernelsTakeWhatThePlanSays) {
  constexpr double rounding = 1 << 16;  // rounding of small blocks
  for (const auto& [views, cells, edge] :
       {std::array<Index, 3>{300, 200, 20}, {2, 30, 200}, {5, 3000, 30}, {900, 700, 9}}) {
    const FlexibleBeam some = standing(views, cells, cells + 3, 4e3, 8e3, {0.2, 0.3, 0.1}, false, 2);
    const VolumeGrid voxels = box(edge, edge, edge, 1);
    const Space volume = cone_volume_space(voxels, gpu), projections = projection_space(some, gpu);
    const WorkingMemory planned = working_memory(some, volume.shape(), projections.shape(), gpu);
    Array v(volume), p(projections);
    Stream& stream = default_stream(gpu);
    const double forward_bytes = taken_by(
        [&] { projector(some, voxels, Model::separable_footprint, gpu).apply(1, v, 0, p, stream); }, gpu);
    const double back_bytes = taken_by(
        [&] { projector(some, voxels, Model::separable_footprint, gpu).apply_adjoint(1, p, 0, v, stream); },
        gpu);
    EXPECT_LE(forward_bytes, planned.forward + rounding) << views;
    EXPECT_GE(forward_bytes, 0.9 * planned.forward - rounding) << views;
    EXPECT_LE(back_bytes, planned.backward + rounding) << views;
    EXPECT_GE(back_bytes, 0.9 * planned.backward - rounding) << views;
  }
}

/// The budget does not count the lists of views of the tiles that are on their way.
TEST_F(CudaFlexibleParts, TilesTakeNoMoreThanTheirBudget) {
  constexpr double lists = 1 << 19;
  for (const double bytes : {20 * least(), 60 * least()}) {
    const LinearOperator A = tiled({gpu}, bytes);
    Array y(A.range()), z(A.domain());
    EXPECT_LE(taken_by([&] { A.apply(1, x, 0, y, default_stream(cpu)); }, gpu), bytes + lists) << bytes;
    EXPECT_LE(taken_by([&] { A.apply_adjoint(1, q, 0, z, default_stream(cpu)); }, gpu), bytes + lists)
        << bytes;
  }
}

/// One view, one row, one bin, one voxel.
TEST_F(CudaFlexibleParts, TheSmallestIsAsGoodAsAny) {
  Random random(10);
  for (const auto& [views, rows, bins, edge] : {std::array<Index, 4>{1, 31, 37, 20},
                                                {7, 1, 37, 20},
                                                {7, 31, 1, 20},
                                                {1, 1, 1, 20},
                                                {7, 31, 37, 1},
                                                {1, 1, 1, 1}}) {
    const FlexibleBeam some = random_views(views, rows, bins, 15, random, false);
    const VolumeGrid voxels = box(edge, edge, edge, 1);
    expect_the_cpus(projectors(some, voxels), std::to_string(views) + ' ' + std::to_string(rows));
  }
}

/// The last view of `some`, and the last lines of a volume, which are `part`, alone against the CPU, both
/// ways.
void expect_last_alike(const FlexibleBeam& some, const VolumeGrid& voxels, const VolumeGrid& part,
                       Device gpu) {
  Stream& stream = default_stream(gpu);
  const Index views = views_of(some), rows = some.detector.rows, bins = some.detector.bins;
  const LinearOperator A = projector(some, voxels, Model::separable_footprint, gpu),
                       B = projector(crop(some, {views - 1, views}, {0, rows}, {0, bins}), part);
  const auto [nx, ny, nz] = voxels.size;
  const auto [px, py, pz] = part.size;
  Array v(A.domain()), p(A.range());
  const Image<float> voxels_there{
      v.data() + ((nz - pz + 1) * ny - py) * nx + nx - px, pz, py, px, ny * nx, nx},
      cells_there{p.data() + (views - 1) * rows * bins, 1, rows, bins, rows * bins, bins};
  const auto read_only = [](const Image<float>& i) {
    return Image<const float>{i.data, i.n0, i.n1, i.n2, i.s0, i.s1};
  };
  const Array few = random_array(B.domain(), 4), cells = random_array(B.range(), 5);
  const Array few_there = on_device(few, gpu), some_cells = on_device(cells, gpu);
  Array seen(B.range().on(gpu)), back(B.domain().on(gpu));
  copy(image(ConstVectorView(few_there)), voxels_there, stream);
  A.apply(1, v, 0, p, stream);
  copy(read_only(cells_there), image(VectorView(seen)), stream);
  fill(p, 0, stream);
  copy(image(ConstVectorView(some_cells)), cells_there, stream);
  A.apply_adjoint(1, p, 0, v, stream);
  copy(read_only(voxels_there), image(VectorView(back)), stream);
  stream.synchronize();
  EXPECT_LE(relative_error(seen, B * few), tolerance::devices);
  EXPECT_LE(relative_error(back, adjoint(B) * cells), tolerance::devices);
}

TEST_F(CudaFlexibleParts, CountBeyond32Bits) {
  if (free_memory(gpu) < std::size_t{16} << 30) GTEST_SKIP() << "less than 16 GiB are free";
  constexpr Index n = 1296, views = 513, cells = 2048;  // n^3 and views cells^2 are more than 2^31
  const VolumeGrid many{{n, n, n}, {1, 1, 1}, {}};
  expect_last_alike(standing(2, 130, 130, 2e4, 4e4, {0.3, 0.2, 0.1}, false, 30), many,
                    region(many, {0, n}, {n - 16, n}, {n - 16, n}), gpu);
  const FlexibleBeam large = standing(views, cells, cells, 1e4, 2e4, {0.3, 0.2, 0.1}, false, 0.15);
  const Vector3 source = large.views.back().source;  // voxels before the last cells
  const VolumeGrid few{{16, 16, 16},
                       {0.1, 0.1, 0.1},
                       source + 0.5 * (place_of(large, views - 1, cells - 18, cells - 18) - source)};
  expect_last_alike(large, few, few, gpu);
}

/// There are so many voxels in a cell that the bits beside a share could not count them: what cells see adds
/// up to the mass. Units of windows leave a share 2^-19 of its value.
TEST_F(CudaFlexibleParts, MoreThanAMillionVoxelsInACellDoNotOverflow) {
  constexpr Index n = 160;
  const VolumeGrid voxels{{n, n, n}, {0.01, 0.01, 0.01}, {}};  // four million
  const FlexibleBeam some = standing(3, 5, 5, 40, 80, {0.3, 0.2, 0.1}, false, 4);
  const LinearOperator B = projector(some, voxels, Model::separable_footprint, gpu);
  Array ones(B.domain());
  fill(ones, 1, default_stream(gpu));
  const Array seen = on_device(B * ones, cpu);
  const FlexibleViews places = pack(some, voxels);
  for (Index v = 0; v < 3; ++v) {
    const FlexiblePlace& place = places.views[static_cast<std::size_t>(v)];
    double mass = 0, sum = 0;
    for (Index i = 0; i < n * n * n; ++i)
      mass += place.mass / std::pow(place.depth.at(static_cast<double>(i % n), static_cast<double>(i / n % n),
                                                   static_cast<double>(i / n / n)),
                                    2);
    for (Index i = 0; i < 25; ++i)
      sum += static_cast<double>(seen.data()[v * 25 + i]) / kernels::distance_of(place, i / 5, i % 5);
    EXPECT_NEAR(sum / mass, 1, 1e-5) << v;
  }
}

/// Vectors of a solver lie on the GPU, split over several, or in tiles on the host.
TEST_F(CudaFlexibleParts, MemoryAndGpusDecideWhereVectorsLie) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "scan.h5";
  write_scan(path, pipeline::SimulatedScan(views_simulation(1e4)));
  const double bound = tolerance::cgls_magnifies * tolerance::fbp_devices;
  for (const std::string method : {"cgls", "sirt", "os-sirt", "osem", "tv"}) {
    pipeline::Recipe recipe;
    recipe.method = method, recipe.iterations = 4;
    if (method == "tv") recipe.tv_weight = 0.05f;
    const auto lie = [&] { return vectors(make_plan(io::open_scan(path)->info(), recipe).flow); };
    recipe.devices = {cpu};
    const std::vector<float> truth = reconstructed(path, recipe);
    recipe.devices = {gpu};
    EXPECT_EQ(lie(), "on one device");
    EXPECT_LE(relative_error(reconstructed(path, recipe), truth), bound) << method;
    recipe.devices = {gpu, gpu};
    const bool subsets = method == "os-sirt" || method == "osem";
    EXPECT_EQ(lie(), subsets ? "on the host, in tiles" : "split over 2 GPUs");
    const std::vector<float> two = reconstructed(path, recipe);
    EXPECT_LE(relative_error(two, truth), bound) << method;
    EXPECT_TRUE(same_bits(reconstructed(path, recipe), two)) << method;
    recipe.device_bytes = 3 << 20;
    EXPECT_EQ(lie(), "on the host, in tiles");
    EXPECT_LE(relative_error(reconstructed(path, recipe), truth), bound) << method;
  }
}

}  // namespace
}  // namespace tandem::test
