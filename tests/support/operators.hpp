#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/tiled_projector.hpp"
#include "cone_scans.hpp"

namespace tandem::test {

/// The call is refused by a GeometryError whose line has the word.
template <class Call>
void expect_refused(const Call& call, const char* word) {
  try {
    call();
    ADD_FAILURE() << word << " was not refused";
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

inline const std::vector<Window> windows = [] {
  std::vector<Window> all;
  for (const std::string_view name : window_names()) all.push_back(window_named(name));
  return all;
}();

/// Uniform in [-0.3, 0.7).
inline Array random_array(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return static_cast<float>(random.uniform()) - 0.3f; });
}

/// Relative L2, of arrays anywhere.
inline double relative_error(const Array& a, const Array& truth) {
  const Array here = on_device(a, Device::cpu()), there = on_device(truth, Device::cpu());
  double difference = 0, size = 0;
  for (Index i = 0; i < here.size(); ++i) {
    difference += std::pow(static_cast<double>(here.data()[i]) - there.data()[i], 2);
    size += std::pow(static_cast<double>(there.data()[i]), 2);
  }
  return std::sqrt(difference / size);
}

inline bool same_bits(const Array& a, const Array& b) {
  const Array x = on_device(a, Device::cpu()), y = on_device(b, Device::cpu());
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * 4) == 0;
}

/// A batch comes out with the bits of its vectors one by one, and what lies between them stays as it is.
inline void expect_bits_of_one_by_one(const LinearOperator& A, Index count, const std::string& name) {
  const Space from = A.domain(), to = A.range();
  const Batch batch{count, from.size() + 3, to.size() + 5};
  Stream& stream = default_stream(from.device());
  const auto memory = [&](Index step) { return Space({1, count, step}, Blocks::whole, from.device()); };
  const Array in = random_array(memory(batch.step_in), 8);
  Array out = random_array(memory(batch.step_out), 9), wanted = out.clone();
  A.apply(0.75f, {in.data(), from}, 2, {out.data(), to}, batch, stream);
  for (Index k = 0; k < count; ++k)
    A.apply(0.75f, {in.data() + k * batch.step_in, from}, 2, {wanted.data() + k * batch.step_out, to},
            stream);
  stream.synchronize();
  EXPECT_TRUE(same_bits(out, wanted)) << name << ", " << count;
}

/// 53 odd angles, an axis off the middle, rows with axes of their own.
inline ParallelBeam odd_scan(Index bins, Index rows) {
  ParallelBeam scan = scan_of(53, rows, bins);
  if (bins < 7) scan.detector.axis_bin = 0.3;
  return scan;
}

/// A scan whose three rows have axes of their own, one whole bins and two fractions off.
inline ParallelBeam wobbling_scan() {
  ParallelBeam scan = scan_of(53, 3, 47);
  const double axis = scan.detector.axis_bin;
  scan.row_axis_bins = {axis - 0.37, axis + 2, axis + 0.81};
  return scan;
}

inline VolumeGrid odd_grid() { return grid_of(37, 41, 3); }

/// Every operator that is not made of others.
inline std::vector<std::pair<std::string, LinearOperator>> single_operators() {
  const ParallelBeam scan = wobbling_scan();
  Random random(11);
  std::vector<std::pair<std::string, LinearOperator>> all{
      {"pixel-driven", projector(scan, odd_grid(), Model::pixel_driven)},
      {"Joseph", projector(scan, odd_grid(), Model::joseph)},
      {"Joseph, voxels of 2.3 bins", projector(scan, grid_of(17, 19, 3, 2.3), Model::joseph)},
      {"align_rows", align_rows(scan)},
      {"identity", identity(volume_space(odd_grid()))},
      {"diagonal", diagonal(uniform_array(volume_space(odd_grid()), random))}};
  for (Window window : windows)
    all.emplace_back("filter " + std::to_string(static_cast<int>(window)),
                     ramp_filter(scan, {.window = window}));
  return all;
}

/// Every way to make an operator of others.
inline std::vector<std::pair<std::string, LinearOperator>> composed_operators(Device device = Device::cpu()) {
  const ParallelBeam scan = wobbling_scan();
  const LinearOperator A = projector(scan, odd_grid(), Model::joseph, device),
                       B = projector(scan, odd_grid(), Model::pixel_driven, device);
  const LinearOperator I = identity(A.domain()), F = ramp_filter(scan, {}, device);
  Random random(12);
  const LinearOperator D = diagonal(uniform_array(A.range(), random));
  const Overwrite forward = [A](ConstVectorView in, VectorView out, Stream& s) { A.apply(1, in, 0, out, s); };
  const Overwrite backward = [A](ConstVectorView in, VectorView out, Stream& s) {
    A.apply_adjoint(1, in, 0, out, s);
  };
  return {{"adjoint", adjoint(A)},
          {"scaled", -0.3f * A},
          {"sum", A + B},
          {"difference", A - 0.5f * B},
          {"product", F * A},
          {"weighted", D * A},
          {"normal operator", adjoint(A) * A},
          {"fbp", fbp(A, scan, odd_grid())},
          {"backprojector", backprojector(B, scan, odd_grid())},
          {"vstack", vstack({A, 0.3f * I})},
          {"vstack of vstacks", vstack({vstack({A, B}), I})},
          {"hstack", hstack({A, F})},
          {"adjoint of vstack", adjoint(vstack({A, B, F * A}))},
          {"made of functions", make_operator(A.domain(), A.range(), forward, backward)},
          {"pair of one", unmatched_pair(A, adjoint(A))}};
}

/// Operators that take slices of several vectors together: for a parallel beam whose rows share their axis.
inline std::vector<std::pair<std::string, LinearOperator>> operators_of_slices(
    Index slices, Device device = Device::cpu()) {
  const ParallelBeam scan = scan_of(53, slices, 47);
  const VolumeGrid grid = grid_of(37, 41, slices);
  const LinearOperator A = projector(scan, grid, Model::joseph, device),
                       B = projector(scan, grid, Model::pixel_driven, device),
                       F = ramp_filter(scan, {.padding = Padding::edge}, device);
  return {{"Joseph", A},
          {"pixel-driven", B},
          {"Fourier", projector(scan, grid, Model::fourier, device)},
          {"filter", F},
          {"fbp", fbp(A, scan, grid)},
          {"sum of scaled", A - 0.5f * B},
          {"stack", vstack({A, identity(A.domain()), F * B})},
          {"normal operator", adjoint(A) * A},
          {"pair", unmatched_pair(A, adjoint(B))}};
}

/// Projectors of cone and fan beams, in every model and in tiles, their filters, and what is made of both.
inline std::vector<std::pair<std::string, LinearOperator>> cone_operators() {
  const ConeBeam cone = far_cone(19, 7, 23);
  const FanBeam fan{far_cone(19, 1, 23)};
  ConeBeam aside = cone;
  aside.detector.axis_bin += 5;
  const VolumeGrid grid = box(13, 11, 5, 0.7), slice = box(13, 11, 1, 0.7);
  const Device cpu = Device::cpu();
  const ThreadLimit two(2);  // tiles are planned with the memory of all threads
  return {{"footprint", projector(cone, grid)},
          {"cone Joseph", projector(cone, grid, Model::joseph)},
          {"cone pixel-driven", projector(cone, grid, Model::pixel_driven)},
          {"fan", projector(fan, slice)},
          {"tiles", tiled_projector(cone, grid, {cpu, cpu}, 120e3)},
          {"cone filter", ramp_filter(cone)},
          {"cone filter, aside", ramp_filter(aside)},
          {"FDK's back-projector", fdk_backprojector(aside, grid)},
          {"FDK", fdk(aside, grid)},
          {"FDK of a fan", fdk(fan, slice)}};
}

inline std::vector<std::pair<std::string, LinearOperator>> all_operators() {
  auto all = single_operators();
  for (auto& more : {composed_operators(), cone_operators()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Fills a volume with the means of f over voxels: 4 x 4 x 4 points each.
template <class F>
Array means_of(const VolumeGrid& grid, const F& f) {
  Array x(cone_volume_space(grid));
  const Index nx = grid.size[0], ny = grid.size[1];
  for (Index i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (int k = 0; k < 64; ++k) {
      const auto part = [](int j) { return (j % 4 - 1.5) / 4.0; };
      sum += f(Vector3{grid.x(static_cast<double>(i % nx) + part(k)),
                       grid.y(static_cast<double>(i / nx % ny) + part(k / 4)),
                       grid.z(static_cast<double>(i / nx / ny) + part(k / 16))});
    }
    x.data()[i] = static_cast<float>(sum / 64);
  }
  return x;
}

}  // namespace tandem::test
