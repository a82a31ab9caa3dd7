// Rows that go on with circles on a GPU, against the CPU. Skipped where no GPU is.

#include <algorithm>
#include <array>
#include <cmath>

#include "../../operators/filtered_scan.hpp"
#include "../../operators/fourier.hpp"
#include "../support/half_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaCircles = Cuda;

Filter with_circles(double attenuation, Window window = Window::ramp, std::optional<Index> over = {}) {
  return {.window = window, .padding = Padding::circle, .padding_bins = over, .attenuation = attenuation};
}
/// Circles of random rows whose bend within the bins that tell them is less than the rows; and circles that
/// are longer than the detector.
std::array<double, 2> attenuations(Index bins) {
  const double bent = 2.4 / static_cast<double>(bins);
  return {std::min(0.04, bent), bent / 60};
}

/// Two of three lines are open at most ends, and the third one comes down to air at both.
Array lines_of(const Space& rows) {
  Array y = random_array(rows, 3);
  const Image<float> at = image(VectorView(y));
  for (Index view = 0; view < at.n0; ++view)
    for (Index row = 0; row < at.n1; ++row) {
      if ((view + row) % 3 > 0) continue;
      for (Index b = 0; b < at.n2; ++b)
        if (std::min(b, at.n2 - 1 - b) < std::max<Index>(6, at.n2 / 20)) at(view, row, b) = 0;
    }
  return y;
}

/// The same numbers as on the CPU, and not those of the usual continuation.
void expect_same(const Make& make, const Make& usual, const std::string& what,
                 double bound = tolerance::devices) {
  const LinearOperator there = make(Device::cuda(0)), here = make(Device::cpu());
  const Array y = lines_of(here.domain()), truth = here * y;
  EXPECT_LE(relative_error(there * on_device(y, there.domain().device()), truth), bound) << what;
  EXPECT_GT(relative_error(usual(Device::cpu()) * y, truth), 0.003) << what;
}

template <class Beam>
void expect_filters_alike(const Beam& scan, const std::string& what) {
  for (const double mu : attenuations(scan.detector.bins))
    for (const Filter& filter : {with_circles(mu), with_circles(mu, Window::hann, 9)}) {
      Filter usual = filter;
      usual.padding = Padding::cosine;
      expect_same([&](Device device) { return ramp_filter(scan, filter, device); },
                  [&](Device device) { return ramp_filter(scan, usual, device); },
                  what + ", " + std::to_string(mu));
    }
}

/// A half acquisition: its rows are widened, and its rays are weighed.
ParallelBeam half_scan() { return {{61, 3, 1, 1, 10}, regular_angles(81, whole_turn), {}}; }

ConeBeam cone_about(double axis, Index rows = 5, double arc = whole_turn) {
  return {{31, rows, 0.9, 1.3, axis}, regular_angles(19, arc), 60, 100, rows == 1 ? 0 : 1.7};
}

TEST_F(CudaCircles, OfParallelBeamsAgreeWithTheCpu) {
  for (const Index bins : {13, 60, 301, 2047})
    expect_filters_alike(odd_scan(bins, 5), std::to_string(bins) + " bins");
  expect_filters_alike(wobbling_scan(), "rows that move");
  expect_filters_alike(half_scan(), "half acquisition");
  ParallelBeam moving_half = half_scan();
  moving_half.row_axis_bins = {10, 9.4, 11.3};
  expect_filters_alike(moving_half, "half acquisition whose rows move");
}

TEST_F(CudaCircles, OfFanAndConeBeamsAgreeWithTheCpu) {
  for (const double axis : {15.2, 6.4, 25.1})
    for (const double arc : {whole_turn, 3.6})
      for (const Index rows : {1, 5})
        expect_filters_alike(cone_about(axis, rows, arc),
                             std::to_string(rows) + " rows, axis at bin " + std::to_string(axis));
}

/// There are more pairs of rows than are transformed at once.
TEST_F(CudaCircles, OfManyLongRowsAgreeWithTheCpu) { expect_filters_alike(odd_scan(4097, 13), "long rows"); }

TEST_F(CudaCircles, OfSomeViewsOrOnATeamAgreeWithTheCpu) {
  const ConeBeam scan = cone_about(15.2);
  const Filter filter = with_circles(0.02);
  for (const Range views : {Range{0, 7}, Range{7, 19}})
    expect_same([&](Device device) { return ramp_filter_of_views(scan, filter, device)(views); },
                [&](Device device) {
                  return ramp_filter_of_views(scan, {.padding = Padding::cosine}, device)(views);
                },
                "views");
  const Array y = lines_of(projection_space(scan)), truth = ramp_filter(scan, filter) * y;
  for (const std::vector<Device>& gpus : several_gpus()) {
    const Device team = Device::team(gpus);
    EXPECT_LE(relative_error(ramp_filter(scan, filter, team) * on_device(y, team), truth), tolerance::devices)
        << team.name();
  }
}

TEST_F(CudaCircles, BackProjectedAgreeWithTheCpu) {
  const Filter filter = with_circles(0.02), usual{.padding = Padding::cosine};
  const auto expect_volumes_alike = [&](const auto& make, const std::string& what) {
    expect_same([&](Device device) { return make(filter, device); },
                [&](Device device) { return make(usual, device); }, what, tolerance::fbp_devices);
  };
  for (const ParallelBeam& scan : {odd_scan(61, 3), wobbling_scan(), half_scan()}) {
    const VolumeGrid grid = grid_of(45, 37, 3);
    expect_volumes_alike(
        [&](const Filter& f, Device device) {
          return fbp(projector(symmetric(scan), grid, Model::joseph, device), scan, grid, f);
        },
        "FBP");
    expect_volumes_alike([&](const Filter& f, Device device) { return fourier_fbp(scan, grid, f, device); },
                         "Fourier");
  }
  expect_volumes_alike(
      [&](const Filter& f, Device device) {
        return fdk(cone_about(15.2), box(13, 11, 5, 0.7), f, Model::separable_footprint, device);
      },
      "FDK");
  expect_volumes_alike(
      [&](const Filter& f, Device device) {
        return fdk(FanBeam{cone_about(15.2, 1)}, box(13, 11, 1, 0.7), f, Model::separable_footprint, device);
      },
      "FDK of a fan");
}

/// Lines come down to air beside open ones, in the same pair of views too.
template <class Beam>
void expect_air_to_stay(const Beam& scan, Index first_row, const std::string& what) {
  const Device gpu = Device::cuda(0);
  const Array y = lines_of(projection_space(scan)), in = on_device(y, gpu),
              circles =
                  on_device(ramp_filter(scan, with_circles(attenuations(scan.detector.bins)[0]), gpu) * in,
                            Device::cpu()),
              usual = on_device(ramp_filter(scan, {.padding = Padding::cosine}, gpu) * in, Device::cpu());
  const auto [views, rows, bins] = circles.space().shape();
  Index same = 0;
  for (Index view = 0; view < views; ++view)
    for (Index row = 0; row < rows; ++row) {
      const Index from = std::clamp<Index>(row - first_row, 0, scan.detector.rows - 1);
      const float* line = circles.data() + (view * rows + row) * bins;
      const bool equal = std::equal(line, line + bins, usual.data() + (view * rows + row) * bins);
      EXPECT_TRUE(equal || (view + from) % 3 > 0) << what << ", view " << view << ", row " << row;
      same += equal;
    }
  EXPECT_LT(3 * same, 2 * views * rows) << what;
}

TEST_F(CudaCircles, LeaveRowsThatComeDownToAirAsTheyAre) {
  expect_air_to_stay(odd_scan(61, 4), 0, "parallel");
  expect_air_to_stay(odd_scan(4097, 13), 0, "many long rows");
  expect_air_to_stay(wobbling_scan(), 0, "rows that move");
  for (const double axis : {15.2, 25.1}) {
    const ConeBeam scan = cone_about(axis);
    expect_air_to_stay(scan, std::lround(filtered_scan(scan).midplane_row - scan.midplane_row), "cone");
  }
}

TEST_F(CudaCircles, KeepTheLawsOfOperators) {
  for (const LinearOperator& F : {ramp_filter(wobbling_scan(), with_circles(0.02), gpu),
                                  ramp_filter(cone_about(15.2), with_circles(0.02), gpu)}) {
    expect_beta_zero_reads_nothing(F, "circles");
    expect_same_bits_in_every_run(F, "circles");
  }
  const ParallelBeam many = odd_scan(61, 40), one = odd_scan(61, 1);
  expect_same_bits(ramp_filter(many, with_circles(0.02), gpu), ramp_filter(one, with_circles(0.02), gpu),
                   {0, 17, 39}, "rows");
}

}  // namespace
}  // namespace tandem::test
