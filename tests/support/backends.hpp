#pragma once

// One suite of the laws of operators, over rows of a table. A program that tests a device includes this once
// and says which rows it has (tests/operators/test_laws.cpp, tests/cuda/test_laws.cpp).

#include <cctype>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../../core/units.hpp"
#include "../../operators/fourier.hpp"
#include "flexible_scans.hpp"
#include "half_scans.hpp"
#include "laws.hpp"

namespace tandem::test {

/// What a device makes of a small scan, and what is asked of it.
struct Backend {
  std::string name;
  /// A GPU's also takes the CPU, if that has the same.
  std::function<LinearOperator(Device, Index slices)> make;
  Index slices = 0;  ///< each is a problem of its own; 0: all of them are one
  double mismatch = tolerance::mismatch, coupling = tolerance::coupling;
  double forward = tolerance::devices, back = tolerance::devices;  ///< against the CPU
  bool on_cpu = true, sees_infinity = true;
  Device device = Device::cpu();
};

class Laws : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam().device.is_cuda() && devices().size() < 2) GTEST_SKIP() << "no GPU here";
  }
  static LinearOperator made(Index slices) { return GetParam().make(GetParam().device, slices); }
  static LinearOperator made() { return made(GetParam().slices); }
};

TEST_P(Laws, PairsMatch) { expect_match(made(), "pair", GetParam().mismatch, GetParam().coupling); }

TEST_P(Laws, BetaZeroNeverReadsTheOutput) {
  expect_beta_zero_reads_nothing(made(), "forward");
  expect_beta_zero_reads_nothing(adjoint(made()), "back");
}

TEST_P(Laws, BitsDependOnNeitherTheRunNorTheSlicesBeside) {
  const LinearOperator A = made();
  if (GetParam().slices == 0) {
    expect_same_bits_in_every_run(A, "forward");
    expect_same_bits_in_every_run(adjoint(A), "back");
    return;
  }
  std::vector<Index> some{0, 1, 2, 3, 4, 5, 6, 31, 63, 64, 66, 69, 129, 149};
  std::erase_if(some, [](Index z) { return z >= GetParam().slices; });
  expect_same_bits(A, made(1), some, "forward");
  expect_same_bits(adjoint(A), adjoint(made(1)), some, "back");
}

/// In its own slice alone, where slices are problems of their own.
TEST_P(Laws, InfinityIsSeen) {
  if (!GetParam().sees_infinity) GTEST_SKIP() << "a coefficient may be rounded to zero";
  if (GetParam().slices > 0) {
    expect_infinity_to_be_seen(made(3), made(1), "forward");
    expect_infinity_to_be_seen(adjoint(made(3)), adjoint(made(1)), "back");
  } else {
    const LinearOperator exact = GetParam().make(Device::cpu(), 0);
    expect_infinity_where_it_counts(made(), exact, "forward");
    expect_infinity_where_it_counts(adjoint(made()), adjoint(exact), "back");
  }
}

/// Its name, of letters and digits.
inline std::string name_of_row(const ::testing::TestParamInfo<Backend>& row) {
  std::string name = row.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

inline std::vector<Backend> on(Device device, std::vector<Backend> rows) {
  for (Backend& row : rows) row.device = device;
  return rows;
}

/// For a parallel beam: models, and filters of rows.
inline std::vector<Backend> parallel_backends() {
  using D = Device;
  const auto by = [](Model model) {
    return [=](D device, Index n) { return projector(odd_scan(61, n), grid_of(37, 41, n), model, device); };
  };
  return {{.name = "pixel-driven", .make = by(Model::pixel_driven), .slices = 7},
          {.name = "Joseph", .make = by(Model::joseph), .slices = 7},
          {.name = "Fourier",
           .make = [](D d, Index n) { return fourier_projector(scan_of(33, n, 45), grid_of(45, 37, n), d); },
           .slices = 150,
           .mismatch = 2 * tolerance::fourier_pair,
           .coupling = tolerance::fourier_pair,
           .forward = tolerance::fourier_pair,
           .back = tolerance::fourier_pair},
          {.name = "filter",
           .make = [](D d, Index n) { return ramp_filter(odd_scan(61, n), {}, d); },
           .slices = 7},
          {.name = "filter of rows that go on",
           .make = [](D d, Index n) { return ramp_filter(odd_scan(61, n), padded(Padding::edge), d); },
           .slices = 9},
          {.name = "filter of many rows that go on",
           .make = [](D d, Index n) { return ramp_filter(odd_scan(300, n), padded(Padding::cosine), d); },
           .slices = 70},
          {.name = "Fourier FBP",
           .make =
               [](D d, Index n) {
                 return fourier_fbp(odd_scan(300, n), grid_of(45, 37, n), padded(Padding::cosine), d);
               },
           .slices = 70,
           .mismatch = tolerance::composed_mismatch}};
}

/// Both models of a cone beam whose hats are read by texture units on a GPU.
inline std::vector<Backend> cone_hats_backends(Device device) {
  std::vector<Backend> all;
  for (const Model model : {Model::joseph, Model::pixel_driven}) {
    Backend row{.name = "cone, " + std::string(name_of(model)), .make = [=](Device d, Index) {
                  return projector(odd_cone(53, 31, 61),
                                   {{37, 41, 29}, {0.6, 0.6, 1.1 * 0.6}, {0.3, -0.2, 0.1}}, model, d);
                }};
    if (device.is_cuda()) {
      row.mismatch = tolerance::cone_texture_mismatch, row.coupling = tolerance::cone_texture_coupling;
      (model == Model::joseph ? row.forward : row.back) =
          tolerance::cone_texture(model == Model::joseph ? 37 : 53);
      row.sees_infinity = false;
    }
    all.push_back(row);
  }
  return all;
}

/// Footprints of a cone beam and of a fan, of views that are upright, and of views of any geometry.
inline std::vector<Backend> footprint_backends(Device device) {
  const bool there = device.is_cuda();
  const double mismatch = there ? tolerance::footprint_products : tolerance::mismatch,
               coupling = there ? tolerance::footprint_products_coupling : tolerance::coupling,
               of_any = there ? kernels::bounds::windows_on_cuda.mu : tolerance::mismatch;
  std::vector<Backend> all;
  const auto add = [&](std::string name, const auto& scan, VolumeGrid grid, double mu, double kappa) {
    all.push_back(
        {.name = std::move(name),
         .make = [=](Device d, Index) { return projector(scan, grid, Model::separable_footprint, d); },
         .mismatch = mu,
         .coupling = kappa});
  };
  const auto mm = [](double pitch) { return std::to_string(pitch) + " mm"; };
  add("cone", far_cone(29, 61, 83), box(37, 41, 29, 0.5), mismatch, coupling);
  add("fan", far_cone(29, 1, 83), box(37, 41, 1, 0.5), tolerance::mismatch, coupling);
  for (const double pitch : {0.4, 0.7, 3.0})
    add("cone, " + mm(pitch), far_cone(29, 31, 47), box(23, 19, 21, pitch), mismatch, coupling);
  Random random(13);
  for (const double pitch : {0.3, 0.6, 1.5})
    add("upright views, " + mm(pitch), random_upright_views(17, 61, 67, 25 * pitch, random),
        box(23, 19, 40, pitch), mismatch, tolerance::coupling);
  for (const bool parallel : {false, true})
    for (const double pitch : {0.4, 0.9, 1.7, 6.0})
      add((parallel ? "views of parallel rays, " : "views, ") + mm(pitch),
          random_views(17, 61, 67, 20 * pitch, random, parallel), {{23, 19, 21}, {pitch, pitch, pitch}, {}},
          of_any, tolerance::coupling);
  return all;
}

/// What both the CPU and a GPU make, on one of them.
inline std::vector<Backend> backends(Device device) {
  std::vector<Backend> all = parallel_backends();
  for (auto& more : {cone_hats_backends(device), footprint_backends(device)})
    all.insert(all.end(), more.begin(), more.end());
  return on(device, std::move(all));
}

}  // namespace tandem::test
