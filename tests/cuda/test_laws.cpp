// The laws of operators on a GPU, for what the CPU has too, and for what a GPU alone has. Skipped where no
// GPU is.

#include "../../kernels/cuda/footprint/separable_footprint.hpp"
#include "../support/backends.hpp"
#include "parts_fixture.hpp"
#include "tensor_forms.hpp"

namespace tandem::test {
namespace {

using enum Precision;

TEST_P(Laws, AgreesWithTheCpu) {
  const Backend& row = GetParam();
  if (!row.on_cpu) GTEST_SKIP() << "the CPU has none";
  expect_the_cpus([&](Device device) { return row.make(device, row.slices); }, row.name, row.forward,
                  row.back);
}

/// An execution of the pixel-driven model for a parallel beam.
Backend by(const Execution& how, Index slices) {
  return {.name = name_of(how) + ", " + std::to_string(slices) + " slices",
          .make =
              [=](Device device, Index n) {
                return projectors(odd_scan(61, n), grid_of(37, 41, n), Model::pixel_driven, how)(device);
              },
          .slices = slices};
}

/// Back-projections by texture units, alone and beside the cores.
std::vector<Backend> on_textures() {
  std::vector<Backend> all;
  for (const Execution& how : {Execution{"standard", float32},
                               {"texture", float32},
                               {"texture", float16},
                               {"texture", uint8},
                               {"hybrid", float32}}) {
    Backend row = by(how, 7);
    const bool bytes = how.precision == uint8;
    const kernels::Bounds& pair = bytes ? kernels::bounds::bytes : kernels::bounds::texture;
    row.mismatch = pair.mu, row.coupling = pair.kappa;
    row.back = tolerance::texture(53) * (bytes                      ? tolerance::texture_uint8
                                         : how.precision == float16 ? tolerance::texture_float16
                                                                    : 1);
    all.push_back(row);
  }
  for (const Precision precision : {float32, float16})
    for (const Index slices : {1, 2, 5, 6, 7, 23}) {
      Backend row = by({"nearest", precision}, slices);
      row.on_cpu = false;
      all.push_back(row);
    }
  return all;
}

/// Products on tensor cores, of fewer slices than one takes and of more.
std::vector<Backend> by_products() {
  std::vector<Backend> all;
  for (const Form form : {Form::chosen, Form::portable})
    for (const Execution& how : {half, single})
      for (const auto& [model, slices] :
           {std::pair<Model, Index>{Model::pixel_driven, 9}, {Model::pixel_driven, 67}, {Model::joseph, 9}}) {
        const auto make = [form, how, model = model](Device device, Index n) {
          const ParallelBeam scan = odd_scan(61, n);
          const VolumeGrid grid = grid_of(37, 41, n);
          return device.is_cuda() ? tensor_projector(form, scan, grid, how, model)
                                  : projector(scan, grid, model, device);
        };
        all.push_back({.name = name_of(how) + (form == Form::chosen ? ", " : " of every card, ") +
                               std::string(name_of(model)) + ", " + std::to_string(slices) + " slices",
                       .make = make,
                       .slices = slices,
                       .mismatch = tolerance::tensor_mismatch,
                       .forward = how == half ? tolerance::tensor_float16(37) : tolerance::devices,
                       .back = how == half ? tolerance::tensor_float16(53) : tolerance::devices});
      }
  return all;
}

/// Plain footprints both ways, and one way alone.
std::vector<Backend> of_few_rows_or_slices() {
  constexpr Index few = kernels::cuda::plain_up_to;
  std::vector<Backend> all;
  for (const auto& [rows, slices] : {std::pair<Index, Index>{1, 1}, {1, 21}, {31, 1}, {few, few}, {few, 21}})
    for (const double pitch : {0.4, 0.7, 3.0}) {
      const Make make = projectors(far_cone(29, rows, 47), box(23, 19, slices, pitch));
      const bool plain = rows <= few && slices <= few;
      all.push_back({.name = "cone, " + std::to_string(rows) + " rows, " + std::to_string(slices) +
                             " slices, " + std::to_string(pitch) + " mm",
                     .make = [=](Device device, Index) { return make(device); },
                     .mismatch = plain ? tolerance::mismatch : tolerance::footprint_products,
                     .coupling = tolerance::footprint_products_coupling});
    }
  return all;
}

/// Groups of views on a GPU are not those on the CPU.
Backend hierarchical() {
  return {.name = "hierarchical",
          .make =
              [](Device device, Index) {
                return projector(far_cone(40, 37, 61), box(31, 27, 29, 0.5), Model::hierarchical, device);
              },
          .mismatch = kernels::bounds::passes_on_cuda.mu,
          .coupling = kernels::bounds::passes_on_cuda.kappa,
          .on_cpu = false,
          .sees_infinity = false};
}

/// In tiles of so many times the least memory on all GPUs, or on one that is named twice, and on a team.
template <class Beam>
std::vector<Backend> on_several(const std::string& name, const Beam& scan, const VolumeGrid& grid,
                                double mismatch, double coupling) {
  const Make on_team = [=](Device device) {
    return projector(scan, grid, Model::separable_footprint,
                     device.is_cuda() ? Device::team(several_gpus().front()) : device);
  };
  std::vector<Backend> all{{.name = name + " on a team",
                            .make = [=](Device device, Index) { return on_team(device); },
                            .mismatch = mismatch,
                            .coupling = coupling,
                            .forward = 2 * tolerance::devices,
                            .back = 2 * tolerance::devices}};
  for (const int times : {2, 5, 20, 1000}) {
    const auto tiled = [=](Device device, Index) {
      if (!device.is_cuda()) return projector(scan, grid);
      return tiled_projector(scan, grid, several_gpus().front(), times * smallest_tile(scan, grid, device));
    };
    all.push_back(all.front());
    all.back().name = name + " in tiles, " + std::to_string(times) + " times the smallest";
    all.back().make = tiled, all.back().coupling = tolerance::coupling;
  }
  return all;
}

std::vector<Backend> of_gpus_alone() {
  std::vector<Backend> all{hierarchical()};
  for (auto& more : {on_textures(), by_products(), of_few_rows_or_slices(),
                     on_several("cone", far_cone(89, 61, 83), box(37, 61, 43, 0.5),
                                tolerance::footprint_products, tolerance::footprint_products_coupling),
                     on_several("views", leaning_views(), cut_bricks(), kernels::bounds::windows_on_cuda.mu,
                                tolerance::coupling)})
    all.insert(all.end(), more.begin(), more.end());
  return on(Device::cuda(0), std::move(all));
}

INSTANTIATE_TEST_SUITE_P(Gpu, Laws, ::testing::ValuesIn(backends(Device::cuda(0))), name_of_row);
INSTANTIATE_TEST_SUITE_P(GpuAlone, Laws, ::testing::ValuesIn(of_gpus_alone()), name_of_row);

}  // namespace
}  // namespace tandem::test
