// Views that stand beside a circle: a rolled detector, a tilted axis, views that are moved. Solvers take them
// where they stand, which is nearer to the truth than frames that are resampled.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../geometry/phantom.hpp"
#include "../../pipeline/plan/make_job.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

constexpr Index bins = 49, rows = 33, views = 60;

/// How the detector stands, and how far the image of a view lies towards higher bins and rows.
struct Stand {
  double roll_deg = 0, tilt_deg = 0, wobble = 0;
  double bins_of(Index view) const { return wobble * std::sin(2.1 * static_cast<double>(view)); }
  double rows_of(Index view) const { return wobble * std::cos(1.3 * static_cast<double>(view)); }
};

/// A point of the world: in the frame of the beam it is U to the side, y along the beam from the axis, V up.
/// The axis leans along the beam by the tilt, and the sample is turned about it by the angle.
std::array<double, 3> in_world(double angle, double tilt, double U, double y, double V) {
  const double level = y * std::cos(tilt) - V * std::sin(tilt), z = y * std::sin(tilt) + V * std::cos(tilt);
  return {U * std::cos(angle) - level * std::sin(angle), U * std::sin(angle) + level * std::cos(angle), z};
}

/// Bodies of nested ellipsoids, whose attenuation falls evenly from the middle to the rim: what is left of
/// voxels at sharp edges would hide what resampling does.
Phantom soft_balls(double radius, double half_height) {
  constexpr int shells = 8;
  Phantom all;
  const auto add = [&](double attenuation, std::array<double, 3> axes, const std::array<double, 3>& centre) {
    for (int k = 0; k < shells; ++k) {
      const double part = (static_cast<double>(k) + 0.5) / shells;
      all.ellipsoids.push_back(
          {attenuation / shells, {part * axes[0], part * axes[1], part * axes[2]}, centre, 0});
    }
  };
  add(0.02, {radius, radius, half_height}, {});
  Random random(11);
  for (int k = 0; k < 10; ++k) {
    const double at = whole_turn * random.uniform(), far = 0.6 * radius * std::sqrt(random.uniform()),
                 size = 0.15 * radius * (1 + random.uniform());
    add(0.1, {size, size, size},
        {far * std::cos(at), far * std::sin(at), half_height * (1.2 * random.uniform() - 0.6)});
  }
  return all;
}

/// One scan by the definition of its options, which knows no views of the library.
struct Made {
  Scan scan;
  Phantom phantom;
  Stand stand;
  StepValues steps{};

  /// The beginning and the end of the ray of a cell, mm.
  std::array<std::array<double, 3>, 2> ray(Index view, double row, double bin) const {
    const Detector& d = detector_of(scan);
    const double roll = in_radians(stand.roll_deg), tilt = in_radians(stand.tilt_deg),
                 angle = angles_of(scan)[static_cast<std::size_t>(view)];
    const auto* cone = std::get_if<ConeBeam>(&scan);
    const double midplane = cone ? cone->midplane_row : 0.5 * static_cast<double>(d.rows - 1);
    const double u = (bin - stand.bins_of(view) - d.axis_bin) * d.bin_pitch,
                 v = (row - stand.rows_of(view) - midplane) * d.row_pitch;
    const double U = u * std::cos(roll) - v * std::sin(roll), V = u * std::sin(roll) + v * std::cos(roll);
    if (!cone) {  // the middle of the detector keeps its height
      const double lower =
          (0.5 * static_cast<double>(d.bins - 1) - d.axis_bin) * d.bin_pitch * std::sin(roll);
      return {in_world(angle, tilt, U, -200, V - lower), in_world(angle, tilt, U, 200, V - lower)};
    }
    std::array both{in_world(angle, tilt, 0, -cone->sod, 0),
                    in_world(angle, tilt, U, cone->sdd - cone->sod, V)};
    for (auto& point : both) point[2] += cone->sod * std::sin(tilt);  // the source is at z = 0
    return both;
  }

  /// Means over 2 x 2 rays in each cell.
  io::Frames frames() const {
    io::Frames all{io::PixelType::float32, {views, rows, bins}, {}};
    all.bytes.resize(static_cast<std::size_t>(views * rows * bins) * sizeof(float));
    auto* y = reinterpret_cast<float*>(all.bytes.data());
    parallel_for(views * rows, [&](Index k) {
      for (Index b = 0; b < bins; ++b) {
        double sum = 0;
        for (const double dr : {-0.25, 0.25})
          for (const double db : {-0.25, 0.25}) {
            const auto [from, to] =
                ray(k / rows, static_cast<double>(k % rows) + dr, static_cast<double>(b) + db);
            sum += line_integral(phantom, from, to);
          }
        y[k * bins + b] = static_cast<float>(sum / 4);
      }
    });
    return all;
  }

  std::filesystem::path write(const std::filesystem::path& path) const {
    io::ScanWriter writer({path, io::Content::scan}, scan, detector_of(scan).bin_pitch,
                          io::PixelType::float32, 0, 0);
    writer.write(io::FrameKind::projection, {0, rows}, frames());
    writer.finish("{}");
    return path;
  }

  io::OpenOptions shifts(const std::filesystem::path& folder) const {
    if (stand.wobble == 0) return {};
    std::ofstream along(folder / "bins.txt"), up(folder / "rows.txt");
    for (Index v = 0; v < views; ++v) along << stand.bins_of(v) << '\n', up << stand.rows_of(v) << '\n';
    return {.view_shifts = folder / "bins.txt", .row_shifts = folder / "rows.txt"};
  }
};

Made parallel_scan(const Stand& stand) {
  return {ParallelBeam{{bins, rows, 0.5, 0.5, 24.9}, test::regular_angles(views, half_turn)},
          soft_balls(10.5, 7),
          stand,
          {{"minus-log", false}, {"detector-roll", stand.roll_deg}, {"axis-tilt", stand.tilt_deg}}};
}

Made cone_scan(const Stand& stand) {
  Made made = parallel_scan(stand);
  made.scan = ConeBeam{{bins, rows, 0.5, 0.5, 24.9}, test::regular_angles(views, whole_turn), 80, 110, 15.4};
  made.phantom = soft_balls(7, 4.5);
  return made;
}

Recipe cgls(const Made& made) {
  Recipe recipe;
  recipe.method = "cgls";
  recipe.iterations = 20;
  recipe.steps = made.steps;
  return recipe;
}

/// The means of the voxels of a grid.
std::vector<float> truth_on(const Phantom& phantom, const VolumeGrid& grid) {
  constexpr Index parts = 4;
  VolumeGrid fine = grid;
  fine.size[2] *= parts, fine.pitch[2] /= parts;
  const auto area = static_cast<std::size_t>(grid.size[0] * grid.size[1]);
  std::vector<float> cuts(area * static_cast<std::size_t>(fine.size[2])), truth(cuts.size() / parts);
  voxelise(phantom, fine, {0, fine.size[2]}, cuts, 4);
  for (std::size_t i = 0; i < cuts.size(); ++i)
    truth[i / (parts * area) * area + i % area] += cuts[i] / static_cast<float>(parts);
  return truth;
}

/// Relative RMSE of a reconstruction beside the truth on its grid, away from the ends.
double error_of(io::ScanReader& reader, const Recipe& recipe, const Phantom& phantom) {
  const Plan plan = make_plan(reader.info(), recipe);
  const std::vector<float> x = test::reconstructed(reader, plan);
  const VolumeGrid& grid = plan.job.grid;
  const std::vector<float> truth = truth_on(phantom, grid);
  const auto beyond = static_cast<std::ptrdiff_t>(6 * grid.size[0] * grid.size[1]);
  return test::relative_error({x.begin() + beyond, x.end() - beyond},
                              {truth.begin() + beyond, truth.end() - beyond});
}

struct Case {
  const char* name;
  Made made;
  bool frames_know = true;  ///< whether frames can be resampled for that
};

std::vector<Case> cases() {
  return {{"parallel, roll 0.5", parallel_scan({.roll_deg = 0.5})},
          {"parallel, roll -2", parallel_scan({.roll_deg = -2})},
          {"parallel, views moved", parallel_scan({.wobble = 1.5})},
          {"parallel, tilt 2", parallel_scan({.tilt_deg = 2}), false},
          {"cone, roll 0.5", cone_scan({.roll_deg = 0.5})},
          {"cone, roll -2, tilt 1", cone_scan({.roll_deg = -2, .tilt_deg = 1})},
          {"cone, views moved", cone_scan({.wobble = 1.5}), false}};
}

/// Beside an upright scan of the same body, nothing of a roll, a tilt or a wobble is left but that cells cut
/// voxels in other ways. The footprint of any geometry is also nearer to the truth than the model of slices
/// of a parallel beam, which resampled frames need.
TEST(OffCircle, SolversTakeViewsWhereTheyStand) {
  const test::TemporaryFolder folder;
  const auto error = [&](const Made& made, bool resample) {
    const auto path = made.write(folder / "scan.h5");
    const auto reader = io::open_scan(path, made.shifts(folder.path()));
    Recipe recipe = cgls(made);
    recipe.resample_frames = resample;
    return error_of(*reader, recipe, made.phantom);
  };
  const double upright[] = {error(parallel_scan({}), false), error(cone_scan({}), false)};
  for (const Case& c : cases()) {
    const bool cone = std::holds_alternative<ConeBeam>(c.made.scan);
    const double stand = error(c.made, false);
    std::cout << c.name << ": RMSE of an upright scan " << upright[cone] << ", views as they stand " << stand;
    EXPECT_LE(stand, 1.2 * upright[cone]) << c.name;
    if (c.frames_know) {
      const double frames = error(c.made, true);
      std::cout << ", frames resampled " << frames;
      EXPECT_LT(stand, (cone ? 1.3 : 0.6) * frames) << c.name;
    } else {
      EXPECT_THROW(error(c.made, true), GeometryError) << c.name;
    }
    std::cout << '\n';
  }
}

/// The same voxels by both ways: size, pitch and place, of some rows and binned too.
TEST(OffCircle, TheGridIsThatOfTheCircle) {
  const test::TemporaryFolder folder;
  for (const Made& made : {parallel_scan({.roll_deg = 1}), cone_scan({.roll_deg = 1, .tilt_deg = 1})}) {
    const auto reader = io::open_scan(made.write(folder / "scan.h5"));
    for (const int binning : {0, 1})
      for (const auto& some : {std::optional<Range>(), std::optional<Range>({6, 30})}) {
        Recipe recipe = cgls(made);
        recipe.rows = some, recipe.binning = binning;
        const VolumeGrid stand = make_job(reader->info(), recipe).grid;
        recipe.resample_frames = true;
        const VolumeGrid frames = make_job(reader->info(), recipe).grid;
        EXPECT_EQ(stand.size, frames.size);
        for (std::size_t k = 0; k < 3; ++k) {
          EXPECT_DOUBLE_EQ(stand.pitch[k], frames.pitch[k]);
          EXPECT_NEAR(stand.centre[k], frames.centre[k], 1e-12);
        }
      }
  }
}

TEST(OffCircle, APlanSaysWhichWayIsTaken) {
  const test::TemporaryFolder folder;
  const Made made = parallel_scan({.roll_deg = 0.5});
  const auto reader = io::open_scan(made.write(folder / "scan.h5"));
  Recipe recipe = cgls(made);
  const Job stand = make_job(reader->info(), recipe);
  EXPECT_TRUE(std::holds_alternative<FlexibleBeam>(stand.scan));
  EXPECT_TRUE(stand.circle.has_value());
  EXPECT_FALSE(stand.preprocessing.values.contains("detector-roll"));
  recipe.initial = Initial::fbp;  // a filter takes frames
  EXPECT_FALSE(make_job(reader->info(), recipe).circle.has_value());
  recipe.initial.reset(), recipe.steps.erase("detector-roll");
  EXPECT_TRUE(std::holds_alternative<ParallelBeam>(make_job(reader->info(), recipe).scan));
  recipe = {};
  recipe.steps = made.steps;
  EXPECT_TRUE(std::holds_alternative<ParallelBeam>(make_job(reader->info(), recipe).scan));
}

/// A sample that climbs is seen higher up than one circle reaches; no filter takes that, and a motion across
/// the beam is left out by fdk alone.
TEST(OffCircle, AHelixIsForSolvers) {
  const test::TemporaryFolder folder;
  for (const Made& made : {parallel_scan({}), cone_scan({})}) {
    io::ScanInfo info = io::open_scan(made.write(folder / "scan.h5"))->info();
    for (Index v = 0; v < views; ++v) info.off_circle.moves.push_back({0, 0, 0.5 * static_cast<double>(v)});
    info.is_no_circle = true;
    const auto circle =
        static_cast<double>(make_job(io::open_scan(folder / "scan.h5")->info(), cgls(made)).grid.size[2]);
    const Job job = make_job(info, cgls(made));
    EXPECT_TRUE(std::holds_alternative<FlexibleBeam>(job.scan));
    EXPECT_NEAR(static_cast<double>(job.grid.size[2]) - circle, 0.5 * (views - 1) / job.grid.pitch[2], 2);
    Recipe filtered;
    filtered.steps = made.steps;
    EXPECT_THROW(make_job(info, filtered), GeometryError);
    info.is_no_circle = false;
    EXPECT_FALSE(make_job(info, filtered).circle.has_value());
  }
}

/// Without a pitch, a bin is the unit of length, before binning and behind it.
TEST(OffCircle, LengthsAreInBinsWithoutAPitch) {
  const Made made = parallel_scan({.roll_deg = 1});
  const FlexibleBeam mm = as_free_views(made.scan, {.roll = in_radians(1)});
  Scan in_bins = made.scan;
  detector_of(in_bins).bin_pitch = detector_of(in_bins).row_pitch = 1;
  const FlexibleBeam binned = bin_down(as_free_views(in_bins, {.roll = in_radians(1)}), 1, false),
                     known = bin_down(mm, 1, true);
  for (std::size_t k = 0; k < known.views.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(binned.views[k].detector[i], known.views[k].detector[i], 1e-12);
      EXPECT_NEAR(binned.views[k].bin_step[i], known.views[k].bin_step[i], 1e-12);
      EXPECT_NEAR(binned.views[k].row_step[i], known.views[k].row_step[i], 1e-12);
    }
}

}  // namespace
}  // namespace tandem::pipeline
