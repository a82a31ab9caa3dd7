// Cone beams whose detector is rolled, or whose axis is tilted along the beam, against closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../geometry/phantom.hpp"
#include "../../io/scans/memory_scan.hpp"
#include "../../kernels/upright.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Index bins = 95, rows = 81, views = 90;

/// Axis and midplane off the middle, cells that are not square.
ConeBeam cone() {
  return {{bins, rows, 0.4, 0.5, 48.7}, test::regular_angles(views, whole_turn), 80, 120, 36.3};
}

Phantom body() {
  Phantom all{{{0.01, {9, 9, 11}, {1, -1, 0}, 0}}};
  Random random(4);
  for (int k = 0; k < 12; ++k) {
    const double at = 6.2831853 * random.uniform(), far = 7 * std::sqrt(random.uniform()),
                 size = 2.5 + random.uniform();
    all.ellipsoids.push_back(
        {0.02, {size, size, size}, {far * std::cos(at), far * std::sin(at), 18 * random.uniform() - 9}, 0});
  }
  return all;
}

/// The point of the world at (U, y, V) in the frame of the beam, when the axis leans: a cell of the rolled
/// detector, or the source. It is turned about the horizontal until the axis is upright, and then by the
/// angle of the view.
std::array<double, 3> in_world(double angle, double tilt, double U, double y, double V) {
  const double upright_y = y * std::cos(tilt) - V * std::sin(tilt),
               z = y * std::sin(tilt) + V * std::cos(tilt);
  return {U * std::cos(angle) - upright_y * std::sin(angle),
          U * std::sin(angle) + upright_y * std::cos(angle), z};
}

/// Writes line integrals, the means over 2 x 2 rays in each cell; `line` has those of a view, a row and a
/// bin.
template <class Line>
void write_lines_of(const std::filesystem::path& path, const ConeBeam& scan, const Line& line) {
  io::Frames frames{io::PixelType::float32, {views, rows, bins}, {}};
  frames.bytes.resize(static_cast<std::size_t>(views * rows * bins) * sizeof(float));
  auto* y = reinterpret_cast<float*>(frames.bytes.data());
  parallel_for(views * rows, [&](Index k) {
    for (Index b = 0; b < bins; ++b) {
      double sum = 0;
      for (Index i = 0; i < 4; ++i)
        sum += line(scan.angles[static_cast<std::size_t>(k / rows)],
                    static_cast<double>(k % rows) + 0.5 * static_cast<double>(i / 2) - 0.25,
                    static_cast<double>(b) + 0.5 * static_cast<double>(i % 2) - 0.25);
      y[k * bins + b] = static_cast<float>(sum / 4);
    }
  });
  io::ScanWriter writer({path, io::Content::scan}, scan, scan.detector.bin_pitch, io::PixelType::float32, 0,
                        0);
  writer.write(io::FrameKind::projection, {0, rows}, frames);
  writer.finish("{}");
}

void write_crooked(const std::filesystem::path& path, double roll_deg, double tilt_deg) {
  const ConeBeam scan = cone();
  const Detector& d = scan.detector;
  const double roll = in_radians(roll_deg), tilt = in_radians(tilt_deg);
  write_lines_of(path, scan, [&, phantom = body()](double angle, double row, double bin) {
    const double u = (bin - d.axis_bin) * d.bin_pitch, v = (row - scan.midplane_row) * d.row_pitch;
    const double U = u * std::cos(roll) - v * std::sin(roll), V = u * std::sin(roll) + v * std::cos(roll);
    return line_integral(phantom, in_world(angle, tilt, 0, -scan.sod, 0),
                         in_world(angle, tilt, U, scan.sdd - scan.sod, V));
  });
}

/// Writes what an upright detector would have seen of the same source. In the frame of the axis, both are
/// nearer, and the source is lower. It has the height 0 there.
void write_upright(const std::filesystem::path& path, double tilt_deg) {
  const double tilt = in_radians(tilt_deg);
  const ConeBeam real = cone();
  ConeBeam scan = real;
  scan.sod *= std::cos(tilt), scan.sdd *= std::cos(tilt);
  scan.midplane_row -= real.sdd * std::sin(tilt) / scan.detector.row_pitch;
  Phantom phantom = body();
  for (Ellipsoid& one : phantom.ellipsoids) one.centre[2] += real.sod * std::sin(tilt);
  const Detector& d = scan.detector;
  write_lines_of(path, scan, [&](double angle, double row, double bin) {
    return line_integral(phantom, in_world(angle, 0, 0, -scan.sod, 0),
                         in_world(angle, 0, (bin - d.axis_bin) * d.bin_pitch, scan.sdd - scan.sod,
                                  (row - scan.midplane_row) * d.row_pitch));
  });
}

pipeline::Recipe recipe_with(pipeline::StepValues steps) {
  pipeline::Recipe recipe;
  recipe.steps = std::move(steps);
  recipe.steps["minus-log"] = false;
  recipe.fbp_filter.window = Window::hann;
  return recipe;
}

/// Half of the slices, which are seen in all views.
std::vector<float> middle_of(const std::vector<float>& x) {
  const auto quarter = static_cast<std::ptrdiff_t>(x.size() / 4);
  return {x.begin() + quarter, x.end() - quarter};
}

double error_of(const std::filesystem::path& scan, pipeline::Recipe recipe, double roll, double tilt,
                const std::vector<float>& truth) {
  recipe.steps["detector-roll"] = roll, recipe.steps["axis-tilt"] = tilt;
  return test::relative_error(middle_of(test::reconstructed(scan, recipe)), truth);
}

/// The steps make the frames of an upright detector. What is left is the interpolation.
TEST(Upright, RollAndTiltAreTakenAway) {
  const test::TemporaryFolder folder;
  for (const auto& [roll, tilt] : {std::pair{2.0, 0.0}, {0.0, 5.0}, {-2.0, -4.0}}) {
    write_crooked(folder / "crooked.h5", roll, tilt);
    write_upright(folder / "upright.h5", tilt);
    const std::vector<float> truth = middle_of(test::reconstructed(folder / "upright.h5", recipe_with({})));
    const auto error = [&, roll = roll, tilt = tilt](double sign) {
      return error_of(folder / "crooked.h5", recipe_with({}), sign * roll, sign * tilt, truth);
    };
    const double taken = error(1), left = error(0), wrong = error(-1);
    std::cout << "roll " << roll << ", tilt " << tilt << ": beside an upright scan " << taken << ", left "
              << left << ", wrong sign " << wrong << '\n';
    EXPECT_LE(taken, 0.3 * left);
    EXPECT_GT(std::min(error(0.8), error(1.2)), taken);
    EXPECT_GE(wrong, 1.5 * left);
  }
}

TEST(Upright, DoesNotDependOnChunks) {
  const test::TemporaryFolder folder;
  write_crooked(folder / "crooked.h5", 1, 1);
  const pipeline::Recipe recipe = recipe_with({{"detector-roll", 1.0}, {"axis-tilt", 1.0}});
  const std::vector<float> all = test::reconstructed(folder / "crooked.h5", recipe);
  EXPECT_LE(test::relative_error(test::reconstructed(folder / "crooked.h5", recipe, 7), all),
            tolerance::region);
}

TEST(Upright, SelectionAndBinningKeepThePose) {
  const test::TemporaryFolder folder;
  write_crooked(folder / "crooked.h5", 1.5, 4);
  write_upright(folder / "upright.h5", 4);
  for (const int binning : {0, 1}) {
    pipeline::Recipe recipe = recipe_with({});
    recipe.rows = Range{5, 74}, recipe.bins = Range{2, 95}, recipe.binning = binning;
    const std::vector<float> truth = middle_of(test::reconstructed(folder / "upright.h5", recipe));
    const double taken = error_of(folder / "crooked.h5", recipe, 1.5, 4, truth),
                 left = error_of(folder / "crooked.h5", recipe, 0, 0, truth);
    std::cout << "binning " << binning << ": beside an upright scan " << taken << ", left " << left << '\n';
    EXPECT_LE(taken, 0.2 * left);
  }
}

/// The third case has a tilt that moves the rows in the middle farther than both ends.
TEST(Upright, MarginsHoldAllRowsThatFramesTake) {
  for (const auto& [roll, tilt, midplane] :
       {std::tuple{2.0, 0.0, 36.3}, {-1.0, 5.0, 36.3}, {0.0, 10.0, -894.0}, {0.5, -10.0, 1763.0}}) {
    pipeline::Preprocessing how = pipeline::preprocessing_of({}, {0, 61}, 0);
    const ConeBeam upright{{61, 870, 0.1, 0.1, 40}, {}, 700, 1000, midplane};
    how.pose = pipeline::DetectorPose{in_radians(roll), in_radians(tilt), upright, 0};
    const kernels::UprightRays real{0.1,
                                    0.1,
                                    40,
                                    midplane,
                                    1000,
                                    std::cos(how.pose->roll),
                                    std::sin(how.pose->roll),
                                    std::cos(how.pose->tilt),
                                    std::sin(how.pose->tilt)};
    double above = 0, below = 0;
    for (Index row = 0; row < 870; ++row)
      for (Index bin = 0; bin < 61; ++bin) {
        const auto r = static_cast<double>(row);
        const double second = std::floor(real(r, static_cast<double>(bin)).row);
        above = std::max(above, r - (second - 1)), below = std::max(below, second + 2 - r);
      }
    EXPECT_GE(static_cast<double>(pipeline::margin_of(how).beside), std::max(above, below)) << tilt;
    EXPECT_LE(static_cast<double>(pipeline::margin_of(how).beside), std::max(above, below) + 1) << tilt;
  }
}

/// One view has the same frame as the first of many, and as a scan of one.
TEST(Upright, OfOneViewIsThatOfManyViews) {
  const test::TemporaryFolder folder;
  write_crooked(folder / "crooked.h5", 1, 5);
  pipeline::Recipe recipe = recipe_with({{"detector-roll", 1.0}, {"axis-tilt", 5.0}});
  const auto reader = io::open_scan(folder / "crooked.h5");
  const auto frames_of = [&](Range range) {
    recipe.views = range;
    const pipeline::Plan plan = make_plan(reader->info(), recipe);
    io::Frames frames;
    reader->read(io::FrameKind::projection, range, {0, rows}, {0, bins}, frames);
    const pipeline::Reference reference =
        read_reference(*reader, {0, rows}, {0, bins}, plan.job.preprocessing);
    pipeline::Findings findings;
    return preprocess(frames, reference, plan.job.preprocessing, Space({range.size(), rows, bins}), findings)
        .y;
  };
  const Array many = frames_of({7, 10}), one = frames_of({7, 8});
  EXPECT_EQ(std::vector(one.data(), one.data() + one.size()),
            std::vector(many.data(), many.data() + one.size()));
  for (const float voxel : test::reconstructed(folder / "crooked.h5", recipe))
    ASSERT_TRUE(std::isfinite(voxel));
}

TEST(Upright, IsRefusedWhereItSaysNothing) {
  io::ScanInfo info;
  info.scan = ParallelBeam{{20, 8, 1, 1, 9.5}, test::regular_angles(9), {}};
  EXPECT_THROW(make_plan(info, recipe_with({{"axis-tilt", 1.0}})), GeometryError);
  EXPECT_NO_THROW(make_plan(info, recipe_with({{"axis-tilt", 0.0}})));
  info.scan = cone();
  info.pixel_size_mm = 0.4;
  pipeline::Recipe one_row = recipe_with({{"detector-roll", 1.0}});
  one_row.rows = Range{36, 37};
  EXPECT_NO_THROW(make_plan(info, one_row));  // rows beside it are read
  ConeBeam low = cone();
  low.detector.rows = 1;
  low.midplane_row = 0;
  info.scan = low;
  for (const char* option : {"detector-roll", "axis-tilt"})
    EXPECT_THROW(make_plan(info, recipe_with({{option, 1.0}})), GeometryError) << option;
}

}  // namespace
}  // namespace tandem
