// The variant `nearest`: a pixel takes the bin whose middle is the nearest. Against its coefficients in
// double. What runs on a GPU is skipped where none is.

#include <numbers>

#include "../../kernels/variants.hpp"
#include "../../operators/algebra.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using enum Precision;

const kernels::ParallelVariant& row() { return *find(kernels::backends().back().parallel, "nearest"); }

const Execution single{"nearest", float32}, half{"nearest", float16};

/// Calls take(view, y, x, bin, coefficient) for all coefficients that are not zero.
template <class Take>
void for_each_coefficient(const ParallelBeam& scan, const VolumeGrid& grid, const Take& take) {
  const ParallelViews views = pack(scan, grid, Model::pixel_driven);
  for (Index v = 0; v < static_cast<Index>(views.views.size()); ++v)
    for (Index y = 0; y < grid.size[1]; ++y)
      for (Index x = 0; x < grid.size[0]; ++x)
        for (Index bin = 0; bin < scan.detector.bins; ++bin)
          if (const double a = row().coefficient(views, v, x, y, bin); a != 0) take(v, y, x, bin, a);
}

/// The pair in double, from its coefficients.
LinearOperator dense(const ParallelBeam& scan, const VolumeGrid& grid) {
  const auto apply = [=](ConstVectorView x, VectorView y, bool back) {
    std::vector<double> sums(static_cast<std::size_t>(y.space.size()));
    const Image<const float> in = image(x);
    const Image<float> out = image(y);
    for_each_coefficient(scan, grid, [&](Index v, Index iy, Index ix, Index bin, double a) {
      for (Index z = 0; z < grid.size[2]; ++z) {
        const float& to = back ? out(z, iy, ix) : out(v, z, bin);
        sums[static_cast<std::size_t>(&to - y.data)] += a * (back ? in(v, z, bin) : in(z, iy, ix));
      }
    });
    std::copy(sums.begin(), sums.end(), y.data);
  };
  return make_operator(
      volume_space(grid), projection_space(scan),
      [=](ConstVectorView x, VectorView y, Stream&) { apply(x, y, false); },
      [=](ConstVectorView x, VectorView y, Stream&) { apply(x, y, true); });
}

TEST(Nearest, CoefficientsAreBoxes) {
  for (const double pitch : {0.5, 1.0, 2.3}) {
    const ParallelBeam scan = odd_scan(147, 1);
    const VolumeGrid grid = grid_of(37, 41, 1, pitch);
    const ParallelViews views = pack(scan, grid, Model::pixel_driven);
    Index boxes = 0;
    for_each_coefficient(scan, grid, [&](Index v, Index y, Index x, Index bin, double a) {
      const ParallelView& view = views.views[static_cast<std::size_t>(v)];
      const double h =
          view.origin + view.step_x * static_cast<double>(x) + view.step_y * static_cast<double>(y);
      const double rounded =
          (45 * std::sqrt(2) * pitch + 3) * tolerance::u;  // as of `tolerance::coefficient`
      EXPECT_LE(std::abs(h - static_cast<double>(bin)), 0.5 + rounded);
      EXPECT_NEAR(a, pitch * pitch, tolerance::u * a);  // the area of a pixel over a bin of one
      ++boxes;
    });
    EXPECT_EQ(boxes, 53 * 37 * 41) << "one bin for each pixel and view, pitch " << pitch;
  }
}

TEST(Nearest, LimitIsFourSlicesAFetch) {
  EXPECT_DOUBLE_EQ(row().limit(float32, kernels::Direction::backward, {100, 9})->gups, 1600);
  EXPECT_FALSE(row().limit(float32, kernels::Direction::forward, {100, 9}));
}

using CudaNearest = Cuda;

void expect_dense(const ParallelBeam& scan, const VolumeGrid& grid) {
  expect_pairs_alike(projector(scan, grid, Model::pixel_driven, Device::cuda(0), single), dense(scan, grid),
                     std::to_string(scan.detector.bins) + " bins, " + std::to_string(grid.size[2]) +
                         " slices, pitch " + std::to_string(grid.pitch[0]));
}

TEST_F(CudaNearest, AgreesWithItsCoefficients) {
  for (const Index slices : {1, 2, 3, 4, 5, 6, 7, 29})
    expect_dense(odd_scan(61, slices), grid_of(37, 41, slices));
  for (const double pitch : {0.5, 2.3}) expect_dense(odd_scan(147, 3), grid_of(37, 41, 3, pitch));
  for (const Index bins : {1, 7, 2047}) expect_dense(odd_scan(bins, 3), grid_of(37, 41, 3));
  expect_dense(odd_scan(61, 5), region(grid_of(37, 41, 5), {5, 36}, {3, 22}, {0, 5}));
}

TEST_F(CudaNearest, ShiftedViewsAgreeWithItsCoefficients) {
  for (const Index slices : {1, 2, 5})
    expect_dense(with_shifted_views(odd_scan(61, slices)), grid_of(37, 41, slices));
  expect_dense(with_shifted_views(odd_scan(147, 3)), grid_of(37, 41, 3, 2.3));
}

/// Two textures where one has 65 000 rows at the most.
TEST_F(CudaNearest, MoreViewsThanATextureHasRows) { expect_dense(scan_of(70'001, 3, 11), grid_of(3, 4, 3)); }

/// Each entry is the same both ways, in float16 too: units are powers of two.
TEST_F(CudaNearest, TheTransposeIsExact) {
  const ParallelBeam scan = scan_of(7, 1, 29);
  const VolumeGrid grid = grid_of(13, 17, 1);
  for (const Execution& how : {single, half}) {
    const LinearOperator A = projector(scan, grid, Model::pixel_driven, gpu, how);
    std::vector<float> forward, back;
    Array x(volume_space(grid));
    for (Index i = 0; i < x.size(); ++i) {
      x.data()[i] = 1;
      const Array column = on_device(A * on_device(x, gpu), cpu);
      forward.insert(forward.end(), column.data(), column.data() + column.size());
      x.data()[i] = 0;
    }
    back.resize(forward.size());
    Array q(projection_space(scan));
    for (Index j = 0; j < q.size(); ++j) {
      q.data()[j] = 1;
      const Array line = on_device(adjoint(A) * on_device(q, gpu), cpu);
      for (Index i = 0; i < line.size(); ++i)
        back[static_cast<std::size_t>(i * q.size() + j)] = line.data()[i];
      q.data()[j] = 0;
    }
    EXPECT_EQ(forward, back) << name_of(how);
  }
}

TEST_F(CudaNearest, OtherHatsAreLeftToTheCores) {
  EXPECT_EQ(resolved(half, odd_scan(61, 3), grid_of(37, 41, 3), Model::joseph, gpu),
            (Execution{"alu", float32}));
}

/// Views x variance of white noise of variance 1: the nearest bin has pi^2 / 12 of what the sharp ramp
/// leaves, and by the bare ramp as much as linear interpolation, `tolerance::fbp_noise`
/// (tests/operators/test_fbp.cpp).
void expect_noise(Device gpu, const Filter& filter, double expected) {
  constexpr Index rows = 24, views = 181, n = 127;
  ParallelBeam scan = scan_of(1, rows, n);
  scan.angles = regular_angles(views);
  const VolumeGrid grid = fitting_grid(scan);
  Random random(17);
  const Interpolation nearest = interpolation_of(scan, grid, Model::pixel_driven, single, gpu);
  EXPECT_EQ(nearest.kind, Interpolation::Kind::nearest);
  const LinearOperator A = projector(scan, grid, Model::pixel_driven, gpu, single);
  const Array noise = on_device(sign_array(projection_space(scan), random), gpu),
              volume = on_device(fbp(A, scan, grid, filter, nearest) * noise, Device::cpu());
  double sum = 0, count = 0;
  for (Index i = 0; i < volume.size(); ++i) {
    const double radius = std::hypot(static_cast<double>(i % n) - 63, static_cast<double>(i / n % n) - 63);
    if (radius < 10 || radius > 50) continue;  // near the axis offsets are not all met; beyond, rows end
    sum += std::pow(static_cast<double>(volume.data()[i]), 2);
    ++count;
  }
  EXPECT_NEAR(static_cast<double>(views) * sum / count, expected,
              tolerance::fbp_noise_within / tolerance::fbp_noise * expected);
}

TEST_F(CudaNearest, FilteredBackProjectionHasTheNoiseOfTheory) {
  expect_noise(gpu, {Window::sharp}, std::numbers::pi * std::numbers::pi / 12);
  expect_noise(gpu, {Window::ramp}, tolerance::fbp_noise);
}

}  // namespace
}  // namespace tandem::test
