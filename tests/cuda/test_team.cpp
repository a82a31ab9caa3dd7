// Vectors on a team of GPUs. Skipped where no GPU is; where there is one, it is named twice.

#include <limits>

#include "../../pipeline/beams/placement.hpp"
#include "../support/placements.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tiles.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

class CudaTeam : public Cuda {
 protected:
  std::vector<Device> teams() const {
    std::vector<Device> all;
    for (const std::vector<Device>& gpus : several_gpus()) all.push_back(Device::team(gpus));
    return all;
  }
  LinearOperator on(Device device) const {
    return projector(problem.scan, problem.grid, Model::separable_footprint, device);
  }
  const Placed<ConeBeam> problem = placed_cone();
};

TEST_F(CudaTeam, VectorsGoThereAndComeBack) {
  for (const Device team : teams())
    for (const Space& space : {problem.A.domain(), problem.A.range()}) {
      const Array x = random_array(space, 3);
      EXPECT_TRUE(same_bits(on_device(on_device(x, team), cpu), x)) << team.name();
    }
}

TEST_F(CudaTeam, ProjectsAsOneGpuDoes) {
  for (const Device team : teams()) {
    expect_pairs_alike(on(team), on(gpu), team.name(), tolerance::tiles, tolerance::tiles);
    expect_match(on(team), team.name(), tolerance::footprint_products,
                 tolerance::footprint_products_coupling);
  }
}

/// The host does not wait between applications, each of which overwrites what the one before has read.
TEST_F(CudaTeam, QueuesRunOneAfterTheOther) {
  for (const Device team : teams()) {
    const LinearOperator A = on(team);
    Stream& stream = default_stream(team);
    const Array x = on_device(random_array(A.domain().on(cpu), 5), team), first = A * x;
    const Array truth = adjoint(A) * first;
    Array y(A.range()), z(A.domain());
    for (int run = 0; run < 20; ++run) {
      A.apply(1, x, 0, y, stream);
      A.apply_adjoint(1, y, 0, z, stream);
      fill(y, std::numeric_limits<float>::quiet_NaN(), stream);
      A.apply(1, z, 0, y, stream);
      A.apply_adjoint(1, first, 0, z, stream);
      A.apply_adjoint(1, first, -1, z, stream);
      A.apply_adjoint(1, first, 1, z, stream);
    }
    EXPECT_LE(relative_error(z, truth), tolerance::devices) << team.name();
  }
}

TEST_F(CudaTeam, HoldsTheSameBitsInAllCopies) {
  for (const Device team : teams()) {
    const LinearOperator A = on(team);
    Array x = adjoint(A) * on_device(random_array(A.range().on(cpu), 6), team);
    const auto copy_of = [&](int k) {
      const ConstVectorView share = ConstVectorView(x).share(k);
      Array here(share.space.on(cpu));
      Stream& stream = default_stream(share.space.device());
      copy(share, here, stream);
      stream.synchronize();
      return here;
    };
    for (int k = 1; k < team.members(); ++k) EXPECT_TRUE(same_bits(copy_of(k), copy_of(0))) << team.name();
  }
}

TEST_F(CudaTeam, SolversComeToOneSolution) {
  std::vector<std::pair<std::string, LinearOperator>> placed{{"one GPU", on(gpu)}};
  for (const Device team : teams()) placed.emplace_back(team.name(), on(team));
  const double tile = 5 * smallest_tile(problem.scan, problem.grid, gpu);
  placed.emplace_back("tiles", tiled_projector(problem.scan, problem.grid, {gpu, gpu}, tile));
  expect_one_solution(problem, placed);
}

TEST_F(CudaTeam, LeavesNoMemoryBehind) {
  const Device team = Device::team({gpu, gpu});
  const LinearOperator A = on(team);
  const Array y = random_array(A.range(), 6), x = adjoint(A) * y;
  const std::size_t before = free_memory(gpu);
  for (int run = 0; run < 20; ++run) EXPECT_TRUE(same_bits(adjoint(A) * y, x));
  EXPECT_GE(free_memory(gpu), before);
}

/// Counts become line integrals on each GPU, and FDK starts there.
TEST_F(CudaTeam, ReconstructsAsOneGpuDoes) {
  const TemporaryFolder folder;
  for (const bool fan : {false, true}) {
    pipeline::Simulation s = cone_simulation(1e4);
    auto& scan = std::get<ConeBeam>(s.scan);
    scan.detector.axis_bin = 33.1;
    if (fan) scan.detector.rows = 1, scan.midplane_row = 0.2, s.grid.size[2] = 1;
    write_scan(folder / "scan.h5", pipeline::SimulatedScan(s));
    for (const std::string method : {"cgls", "sirt", "tv"})
      for (const pipeline::Initial initial : {pipeline::Initial::zero, pipeline::Initial::fbp}) {
        pipeline::Recipe recipe;
        recipe.method = method, recipe.initial = initial;
        recipe.iterations = 4, recipe.tv_weight = 0.05f;
        const auto volume = [&] { return reconstructed(folder / "scan.h5", recipe, 0); };
        recipe.devices = {gpu};
        const std::vector<float> truth = volume();
        recipe.devices = {gpu, gpu};
        const pipeline::Plan plan = make_plan(io::open_scan(folder / "scan.h5")->info(), recipe);
        EXPECT_EQ(plan.flow.home(), Device::team({gpu, gpu}));
        EXPECT_FALSE(in_tiles(plan.flow));
        EXPECT_LE(relative_error(volume(), truth), tolerance::cgls_magnifies * tolerance::fbp_devices)
            << method << (fan ? ", fan" : ", cone");
      }
  }
}

}  // namespace
}  // namespace tandem::test
