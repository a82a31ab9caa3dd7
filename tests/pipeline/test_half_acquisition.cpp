// Fields of view: half acquisitions, samples that reach beyond the detector, and the grids that hold them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/test_data.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::regular_angles;

/// The disc of `disc()`, whose unit circle fits `across` voxels, centred on the axis.
Simulation disc_scan(const Scan& scan, Index across) {
  Simulation s;
  s.phantom = "disc";
  s.scan = scan;
  s.grid = fitting_grid(scan);
  s.grid.size[0] = s.grid.size[1] = across;
  s.max_attenuation = 2;
  return s;
}

ParallelBeam parallel(Index bins, double axis, double arc, Index views = 180) {
  return {{bins, 2, 1, 1, axis}, regular_angles(views, arc), {}};
}

class FieldOfView : public ::testing::Test {
 protected:
  void write(const Simulation& s) {
    const SimulatedScan simulated(s);
    mu_ = simulated.phantom().ellipsoids[0].attenuation;
    unit_ = half_width(s.grid);
    test::write_scan(path_, simulated);
  }
  Plan plan(const Recipe& recipe) const { return make_plan(io::open_scan(path_)->info(), recipe); }

  /// The mean of the disc's inner four fifths in slice 0, over the attenuation.
  double reading(const Recipe& recipe, Outcome* outcome = nullptr) {
    const std::vector<float> x = reconstructed(path_, recipe, 0, outcome);
    const VolumeGrid grid = plan(recipe).job.grid;
    double sum = 0, count = 0;
    for (Index iy = 0; iy < grid.size[1]; ++iy)
      for (Index ix = 0; ix < grid.size[0]; ++ix) {
        const double dx = grid.x(static_cast<double>(ix)) - 0.2 * unit_,
                     dy = grid.y(static_cast<double>(iy)) - 0.1 * unit_;
        if (std::hypot(dx, dy) > 0.4 * unit_) continue;
        sum += static_cast<double>(x[static_cast<std::size_t>(iy * grid.size[0] + ix)]), ++count;
      }
    return sum / count / mu_;
  }

  static Recipe iterative(const std::string& method, int iterations) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = iterations;
    return recipe;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  double mu_ = 0, unit_ = 0;
};

TEST_F(FieldOfView, HalfAcquisitionIsRightByEveryMethod) {
  write(disc_scan(parallel(70, 15.3, whole_turn), 106));
  std::vector<Recipe> recipes{iterative("fbp", 0), iterative("fbp", 0), iterative("cgls", 20),
                              iterative("sirt", 100), iterative("cgls", 20)};
  recipes[0].model = Model::pixel_driven, recipes[1].model = Model::fourier;
  recipes[4].initial = Initial::fbp;
  for (const Recipe& recipe : recipes) {
    Outcome outcome;
    EXPECT_EQ(plan(recipe).job.grid.size[0], 108);  // 2 x 53.7 + 1
    EXPECT_NEAR(reading(recipe, &outcome), 1, tolerance::iterated_disc) << recipe.method;
    EXPECT_TRUE(outcome.warnings.empty());
  }
}

/// Clears what FDK leaves beyond the field, which is not zero.
void clear_beyond(double radius, std::vector<float>& slices) {
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double x = static_cast<double>(i % 256) - 127.5, y = static_cast<double>(i / 256 % 256) - 127.5;
    if (std::hypot(x, y) > radius) slices[i] = 0;
  }
}

/// The foam, from as many views as both scans have: what the detector's other side would have seen is seen
/// half a turn later. Both axes are at the middle of a bin. The place of the axis between bins decides how
/// aliases of bins and of pixels meet. That makes up to 3.5 dB, for whole scans as for half ones.
TEST_F(FieldOfView, HalfAcquisitionIsAsGoodAsTheWholeScan) {
  const auto psnr = [&](Scan scan) {
    Simulation s;
    s.phantom = "foam";
    s.scan = std::move(scan);
    const Index slices = (detector_of(s.scan).rows + 1) / 2;  // seen whole by a cone
    s.grid = {{256, 256, slices}, {1, 1, 1}, {}};
    const SimulatedScan simulated(std::move(s));
    test::write_scan(path_, simulated);
    std::vector<float> truth(static_cast<std::size_t>(256 * 256 * slices));
    simulated.truth({0, slices}, truth);
    Recipe recipe;
    recipe.size = 256;
    recipe.slices = slices;
    const double range = *std::ranges::max_element(truth);  // from air
    std::vector<float> x = reconstructed(path_, recipe);
    const Shape shape{slices, 256, 256};
    const double everywhere = compare(x, truth, shape, range).psnr;
    for (std::vector<float>* each : {&x, &truth}) clear_beyond(125, *each);
    return std::pair{everywhere, compare(x, truth, shape, range).psnr};
  };
  const double twice_the_rays = 10 * std::log10(2.0);  // rays of a fan: opposite ones are no repetition
  const std::vector<double> angles = regular_angles(720, whole_turn);
  const double fan = 1.5;  // magnification
  const struct {
    const char* what;
    Scan half, whole;
  } cases[] = {{"parallel", ParallelBeam{{160, 1, 1, 1, 30}, angles, {}},
                ParallelBeam{{259, 1, 1, 1, 129}, angles, {}}},
               {"fan", FanBeam{{{160, 1, fan, fan, 30}, angles, 1000, 1500, 0}},
                FanBeam{{{259, 1, fan, fan, 129}, angles, 1000, 1500, 0}}},
               {"cone", ConeBeam{{160, 5, fan, fan, 30}, angles, 1000, 1500, 2},
                ConeBeam{{259, 5, fan, fan, 129}, angles, 1000, 1500, 2}}};
  for (const auto& [what, half, whole] : cases) {
    const auto [of_half, half_in_field] = psnr(half);
    const auto [of_whole, whole_in_field] = psnr(whole);
    EXPECT_GE(of_half, of_whole - 1) << what;
    EXPECT_GE(half_in_field, whole_in_field - twice_the_rays) << what;
    if (rows_are_slices(whole)) {  // opposite rays are repetitions
      EXPECT_NEAR(half_in_field, whole_in_field, tolerance::half_acquisition_db);
    }
    std::cout << what << ": " << of_half << " dB, from the whole width " << of_whole << " dB; in the field "
              << half_in_field << " and " << whole_in_field << " dB\n";
  }
}

TEST_F(FieldOfView, FbpTakesAnAxisAsideWhereAllIsSeen) {
  for (const double arc : {half_turn, whole_turn}) {
    write(disc_scan(parallel(140, 50, arc), 90));
    Outcome outcome;
    EXPECT_NEAR(reading({}, &outcome), 1, tolerance::fbp_patch);
    EXPECT_TRUE(outcome.warnings.empty());
  }
}

TEST_F(FieldOfView, ASampleBeyondTheDetectorIsSaid) {
  struct {
    const char* what;
    Scan scan;
    Index across;
    bool said;
  } const cases[] = {
      {"interior", parallel(60, 29.5, half_turn), 160, true},
      {"a rim beyond", parallel(140, 69.5, half_turn), 224, true},
      {"all inside", parallel(140, 69.5, half_turn), 130, false},
      {"beyond the nearer end of a full turn", parallel(140, 49.5, whole_turn), 170, false},
      {"beyond the nearer end of half a turn", parallel(140, 49.5, half_turn), 190, true},
      {"one-sided fan", ConeBeam{{140, 1, 1, 1, 40.3}, regular_angles(180, whole_turn), 500, 600, 0}, 180,
       false},
      {"one-sided fan, interior",
       ConeBeam{{140, 1, 1, 1, 40.3}, regular_angles(180, whole_turn), 500, 600, 0}, 400, true}};
  for (const auto& [what, scan, across, said] : cases) {
    write(disc_scan(scan, across));
    Outcome outcome;
    const double read = reading({}, &outcome);
    ASSERT_EQ(outcome.warnings.size(), said ? 1u : 0u) << what << ": reads " << read;
    if (said)
      EXPECT_NE(outcome.warnings[0].find("rows do not come down to air"), std::string::npos)
          << outcome.warnings[0];
    else
      EXPECT_NEAR(read, 1, tolerance::fbp_patch) << what;
    std::cout << what << ": reads " << read << '\n';
  }
}

/// No method knows what no ray saw: both are warned about, with what each is good for.
TEST_F(FieldOfView, IterationOverAllOfTheSampleComesNearer) {
  write(disc_scan(parallel(60, 29.5, half_turn), 160));
  Outcome outcome;
  Recipe bare;
  bare.padding = Padding::none;
  EXPECT_GT(reading(bare, &outcome), 1.3);
  EXPECT_NE(outcome.warnings.at(0).find("bright rim"), std::string::npos);
  EXPECT_NEAR(reading({}, &outcome), 1, tolerance::interior_fbp);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("cgls with a --size"), std::string::npos);
  EXPECT_LT(outcome.warnings[0].size(), 480u);
  Recipe recipe = iterative("cgls", 20);
  recipe.size = 170;
  const std::vector<float> x = reconstructed(path_, recipe, 0, &outcome);
  double sum = 0, count = 0;
  for (Index iy = 65; iy < 105; ++iy)
    for (Index ix = 65; ix < 105; ++ix)
      sum += static_cast<double>(x[static_cast<std::size_t>(iy * 170 + ix)]), ++count;
  EXPECT_NEAR(sum / count / mu_, 1, tolerance::interior_disc);
  EXPECT_EQ(outcome.warnings.size(), 1u);
}

/// Mean and mean square of what differs between two slices of n x n pixels, and the mean of the second one,
/// where the radius is between two limits.
struct Difference {
  double mean = 0, square = 0, of = 0;
  Difference(const std::vector<float>& x, const std::vector<float>& truth, Index n, Range radii) {
    double count = 0;
    for (Index iy = 0; iy < n; ++iy)
      for (Index ix = 0; ix < n; ++ix) {
        const double middle = 0.5 * static_cast<double>(n - 1);
        const double r = std::hypot(static_cast<double>(ix) - middle, static_cast<double>(iy) - middle);
        if (r < static_cast<double>(radii.first) || r >= static_cast<double>(radii.last)) continue;
        const auto i = static_cast<std::size_t>(iy * n + ix);
        const double e = static_cast<double>(x[i]) - static_cast<double>(truth[i]);
        mean += e, square += e * e, of += static_cast<double>(truth[i]), ++count;
      }
    mean /= count, square /= count, of /= count;
  }
};

/// A body twice as wide as the columns that are taken: flat to the rim, up to a constant. The truth is the
/// same region from all columns.
TEST_F(FieldOfView, InteriorScansAreFlatUpToAConstant) {
  Simulation s = disc_scan(parallel(512, 255.5, half_turn, 360), 512);
  s.phantom = "shepp-logan";
  write(s);
  Recipe recipe;
  recipe.size = 256;
  for (const Model model : {Model::pixel_driven, Model::fourier}) {
    recipe.model = model;
    recipe.bins.reset();
    const std::vector<float> truth = reconstructed(path_, recipe);
    recipe.bins = Range{128, 384};
    const std::vector<float> x = reconstructed(path_, recipe);
    const Difference middle(x, truth, 256, {0, 64}), rim(x, truth, 256, {118, 128});
    const double spread = std::sqrt(middle.square - middle.mean * middle.mean);
    EXPECT_LE(spread, 0.05 * middle.of);
    EXPECT_NEAR(rim.mean, middle.mean, 0.15 * rim.of);
    std::cout << "interior: " << 100 * spread / middle.of << " % in the middle, "
              << 100 * (rim.mean - middle.mean) / rim.of << " % at the rim, " << 100 * middle.mean / middle.of
              << " % everywhere\n";
  }
}

TEST_F(FieldOfView, WarningsDoNotDependOnChunksAndCountRows) {
  Simulation s = disc_scan(parallel(60, 29.5, half_turn, 60), 160);
  s.scan = ParallelBeam{{60, 7, 1, 1, 29.5}, regular_angles(60), {}};
  s.grid = fitting_grid(s.scan), s.grid.size[0] = s.grid.size[1] = 160;
  write(s);
  std::vector<std::string> said;
  for (const Index at_once : {1, 3, 7}) {
    Outcome outcome;
    reconstructed(path_, {}, at_once, &outcome);
    ASSERT_EQ(outcome.warnings.size(), 1u);
    said.push_back(outcome.warnings[0]);
    EXPECT_EQ(said.back(), said.front());
  }
  EXPECT_EQ(said[0].find("7 of 7 rows"), 0u) << said[0];
}

TEST_F(FieldOfView, SlicesFollowTheRowsOfAMidplaneAside) {
  const ConeBeam cone{{60, 24, 1, 1, 29.5}, regular_angles(60, whole_turn), 500, 600, -6.5};
  write(disc_scan(cone, 50));
  const Plan all = plan({});
  EXPECT_EQ(all.job.rows.size(), 24);
  EXPECT_TRUE(all.warnings.empty()) << all.warnings[0];
  Recipe recipe;
  recipe.slices = 8;
  const Plan some = plan(recipe);
  EXPECT_NEAR(some.job.grid.centre[2], all.job.grid.centre[2], 1e-9);
  recipe.region_x = recipe.region_y = Range{10, 20};
  recipe.region_z = Range{2, 5};
  const Plan part = plan(recipe);
  EXPECT_EQ(part.job.grid.shape(), (Shape{3, 10, 10}));
  EXPECT_NEAR(part.job.grid.z(0), some.job.grid.z(2), 1e-9);
  recipe.region_z = Range{2, 9};
  EXPECT_THROW(plan(recipe), GeometryError);
}

TEST_F(FieldOfView, RegionsOfSlicesAreRowsOfAParallelBeam) {
  Simulation s = disc_scan(parallel(60, 29.5, half_turn, 60), 60);
  s.scan = ParallelBeam{{60, 11, 1, 1, 29.5}, regular_angles(60), {}};
  s.grid = fitting_grid(s.scan);
  write(s);
  Recipe recipe;
  recipe.slices = 5;  // rows 3:8
  recipe.region_x = recipe.region_y = Range{10, 20};
  recipe.region_z = Range{1, 3};
  EXPECT_EQ(plan(recipe).job.rows.first, 4);
  EXPECT_EQ(plan(recipe).job.rows.last, 6);
  recipe.region_z = Range{4, 6};
  EXPECT_THROW(plan(recipe), GeometryError);
}

// ---- Measured data,

const std::filesystem::path data = test::test_data();

io::OpenOptions of_sweetener() {
  const std::filesystem::path folder = data / "fan-tiff/sweetener";
  return {.flats = {folder / "io000000.tif", folder / "io000001.tif"},
          .darks = {folder / "di000000.tif"},
          .arc_deg = 360,
          .pixel_size_mm = 0.0748,
          .sod_mm = 423.56,
          .sdd_mm = 528};
}

std::vector<std::string> warnings_of(const std::filesystem::path& path, const io::OpenOptions& how,
                                     Recipe recipe) {
  const auto reader = io::open_scan(path, how);
  recipe.size = 16;
  Outcome outcome;
  reconstructed(*reader, make_plan(reader->info(), recipe), &outcome);
  return outcome.warnings;
}

TEST(MeasuredField, OfToothAndSweetenerHoldsTheSample) {
  if (!exists(data / "dxchange/tooth.h5")) GTEST_SKIP() << data << " is not there";
  Recipe recipe;
  recipe.axis_bin = 295.5;
  EXPECT_TRUE(warnings_of(data / "dxchange/tooth.h5", {}, recipe).empty());
  recipe.bins = Range{200, 400};  // through the tooth
  EXPECT_EQ(warnings_of(data / "dxchange/tooth.h5", {}, recipe).size(), 1u);
  recipe.bins = {}, recipe.axis_bin = 971.1;
  EXPECT_TRUE(warnings_of(data / "fan-tiff/sweetener", of_sweetener(), recipe).empty());
}

/// Its flat is brighter than its air by half, -log 0.4: not a larger sample, but as wrong.
TEST(MeasuredField, OfTheCapsuleDoesNotComeDownToAir) {
  const std::filesystem::path path = data / "nxtomo/capsule_nxtomo.nxs";
  if (!exists(path)) GTEST_SKIP() << path << " is not there";
  Recipe recipe;
  recipe.axis_bin = 85.8;
  const auto warnings = warnings_of(path, {}, recipe);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("flats are brighter than the air"), std::string::npos) << warnings[0];
}

/// Columns cut away until both sides are alike change little: rays that both sides see count alike.
TEST(MeasuredField, OfTheSweetenerIsTheSameFromColumnsCutAlike) {
  const std::filesystem::path folder = data / "fan-tiff/sweetener";
  if (!exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto reader = io::open_scan(folder, of_sweetener());
  Recipe recipe;
  recipe.axis_bin = 970.0;  // 970 bins before and 973 after it
  recipe.size = 1944;
  recipe.region_x = Range{700, 860}, recipe.region_y = Range{1000, 1160}, recipe.region_z = Range{0, 1};
  const std::vector<float> whole = reconstructed(*reader, make_plan(reader->info(), recipe));
  recipe.bins = Range{0, 1941};
  const std::vector<float> cut = reconstructed(*reader, make_plan(reader->info(), recipe));
  EXPECT_LE(test::relative_error(whole, cut), tolerance::columns_cut);
}

}  // namespace
}  // namespace tandem::pipeline
