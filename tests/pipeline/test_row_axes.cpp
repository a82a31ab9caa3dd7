// Rows with axes of their own, in iterative methods: bins that no detector has measured have no weight.

#include "../../pipeline/beams/row_axes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../counts/steps/options.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::regular_angles;

/// Rows that are moved by these bins to the right.
ParallelBeam moved_rows(Index bins, const std::vector<double>& angles, const std::vector<double>& moves) {
  ParallelBeam scan{
      {bins, static_cast<Index>(moves.size()), 1, 1, 0.5 * static_cast<double>(bins - 1)}, angles, {}};
  for (double move : moves) scan.row_axis_bins.push_back(scan.detector.axis_bin - move);
  return scan;
}

Problem problem_of(const ParallelBeam& scan, const VolumeGrid& grid) {
  return {scan, grid, projector(std::get<ParallelBeam>(solved_scan(scan, grid)), grid)};
}

TEST(RowAxes, BinsThatAreKeptLieOnTheDetectorTwice) {
  const VolumeGrid grid = test::grid_of(20, 20, 8);
  const auto kept = bins_kept(moved_rows(20, {0, 1, 2}, {0, 3, -3, 2.25, -2.25, 19, -19, 4 + 1e-12}), grid);
  const std::vector<Range> right{{0, 20}, {0, 17}, {3, 20}, {0, 17}, {3, 20}, {0, 1}, {19, 20}, {0, 16}};
  EXPECT_EQ(kept, right);
  EXPECT_EQ(data_kept(moved_rows(20, {0, 1, 2}, {0, 3, -2.25}), grid), (std::vector<Index>{60, 51, 51}));
  EXPECT_EQ(data_kept(ConeBeam{{20, 4, 1, 1, 9}, {0, 1, 2}, 50, 60, 1}, grid), std::vector<Index>{240});
}

/// A grid of 30 reaches five bins farther than the detector on both sides.
TEST(RowAxes, BinsAreKeptAsFarAsTheGridReaches) {
  const VolumeGrid grid = test::grid_of(30, 24, 4);
  const ParallelBeam scan = moved_rows(20, {0, 1}, {0, 3, -5, 7.5});
  EXPECT_EQ(detector_of(solved_scan(scan, grid)).bins, 30);
  EXPECT_EQ(bins_kept(scan, grid), (std::vector<Range>{{0, 20}, {0, 20}, {0, 20}, {0, 17}}));
  EXPECT_EQ(data_kept(scan, grid), (std::vector<Index>{40, 40, 40, 34}));
}

/// Rows are moved by whole bins. The bins that are kept of a row have the coefficients of a scan with that
/// row's axis, bin by bin, and its data; all else is zero on both sides.
TEST(RowAxes, EquationsAreThoseOfTheBinsMeasured) {
  const std::vector<double> moves{0, 4, -7}, angles{0.1, 0.8, 1.9, 2.6, 4.4};
  const Index bins = 23, rows = 3;
  const ParallelBeam scan = moved_rows(bins, angles, moves);
  const VolumeGrid grid = test::grid_of(11, 9, rows), slice = test::grid_of(11, 9, 1);
  const Array y = test::random_array(projection_space(scan), 5);
  const Equations equations = equations_of(problem_of(scan, grid), {y.clone(), {}});
  const Eigen::MatrixXd A = test::dense(equations.A);
  for (Index row = 0; row < rows; ++row) {
    ParallelBeam alone = test::with_rows(scan, 1);
    alone.detector.axis_bin = scan.row_axis_bins[static_cast<std::size_t>(row)];
    alone.row_axis_bins.clear();
    const Eigen::MatrixXd own = test::dense(projector(alone, slice));
    for (Index view = 0; view < 5; ++view)
      for (Index bin = 0; bin < bins; ++bin) {
        const Index from = bin - static_cast<Index>(moves[static_cast<std::size_t>(row)]),
                    line = view * rows + row;
        const bool measured = 0 <= from && from < bins;
        Eigen::VectorXd right = Eigen::VectorXd::Zero(own.cols());
        if (measured) right = own.row(view * bins + from);
        EXPECT_LE((A.row(line * bins + bin).segment(row * own.cols(), own.cols()).transpose() - right)
                      .cwiseAbs()
                      .maxCoeff(),
                  tolerance::float_rounding * static_cast<double>(bins));
        EXPECT_NEAR(equations.y.data()[line * bins + bin], measured ? y.data()[line * bins + from] : 0,
                    tolerance::filtered_row * std::sqrt(static_cast<double>(bins)));
      }
  }
}

class RowAxesScan : public ::testing::Test {
 protected:
  static constexpr Index bins_ = 96;

  void write(const std::vector<double>& moves, std::optional<double> photons = {},
             std::optional<Index> size = {}) {
    simulation_.phantom = "shepp-logan";
    simulation_.scan = moved_rows(bins_, regular_angles(150, whole_turn), moves);
    simulation_.grid = fitting_grid(simulation_.scan);
    if (size) simulation_.grid.size[0] = simulation_.grid.size[1] = *size;
    simulation_.photons = photons;
    test::write_scan(path_, SimulatedScan(simulation_));
  }
  static Recipe recipe(const std::string& method, int iterations) {
    Recipe recipe;
    recipe.method = method;
    recipe.iterations = iterations;
    return recipe;
  }
  /// The size of the grid on which a solver works for these rows; their axes are those of the file.
  Index solved_size(Recipe recipe, Range rows) const {
    recipe.rows = rows;
    recipe.size = simulation_.grid.size[0];
    recipe.axis_bin.reset();
    return make_plan(io::open_scan(path_)->info(), recipe).job.solved.size[0];
  }
  /// Relative L2, one a slice, on the grid that all rows together have: on a larger one, iterations need more
  /// steps.
  std::vector<double> errors(Recipe recipe, Range rows) const {
    const Index size = simulation_.grid.size[0],
                solved = solved_size(recipe, {0, detector_of(simulation_.scan).rows});
    recipe.rows = rows;
    recipe.size = size + 2 * ((solved - size) / 2);
    recipe.region_x = recipe.region_y = Range{(*recipe.size - size) / 2, (*recipe.size + size) / 2};
    const std::vector<float> x = test::reconstructed(path_, recipe);
    std::vector<float> truth(x.size());
    const Index voxels = simulation_.grid.size[0] * simulation_.grid.size[1];
    SimulatedScan(simulation_).truth(rows, truth);
    std::vector<double> all;
    for (auto at = x.begin(); at != x.end(); at += voxels) {
      const auto exact = truth.begin() + (at - x.begin());
      all.push_back(test::relative_error({at, at + voxels}, {exact, exact + voxels}));
    }
    return all;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "scan.h5";
  Simulation simulation_;
};

/// The axis as recorded for the row, or given for the row alone: then nothing is moved.
TEST_F(RowAxesScan, IteratedRowsAreAsGoodAsScansOfTheirOwn) {
  const std::vector<double> moves{0, 9, -15, 9.5, -15.37};
  write(moves);
  for (Recipe how : {recipe("cgls", 15), recipe("sirt", 60)}) {
    const std::vector<double> together = errors(how, {0, 5});
    for (Index row = 0; row < 5; ++row) {
      how.axis_bin = detector_of(simulation_.scan).axis_bin - moves[static_cast<std::size_t>(row)];
      EXPECT_LE(together[static_cast<std::size_t>(row)],
                tolerance::moved_row * errors(how, {row, row + 1}).front())
          << how.method << ", row " << row;
    }
  }
}

/// Rows end within the sample, and go on where they are moved by a part of a bin. A grid that is wider than
/// the detector has all that the farther side of a row sees.
TEST_F(RowAxesScan, RowsWhoseAxesDifferMuchAreAsGoodAsAlone) {
  const std::vector<double> moves{26.5, -40.5, 14};
  for (const Index size : {bins_, bins_ + 40}) {
    write(moves, {}, size);
    for (Recipe how : {recipe("cgls", 15), recipe("sirt", 40)}) {
      const std::vector<double> together = errors(how, {0, 3});
      for (Index row = 0; row < 3; ++row) {
        how.axis_bin = detector_of(simulation_.scan).axis_bin - moves[static_cast<std::size_t>(row)];
        EXPECT_LE(together[static_cast<std::size_t>(row)],
                  tolerance::moved_row * errors(how, {row, row + 1}).front())
            << how.method << ", row " << row << ", size " << size;
      }
    }
  }
}

/// The farthest row sees 88 bins of 96 on one side of its axis: 2 x 88 + 1 voxels, in whole ones around an
/// even number.
TEST_F(RowAxesScan, SolversHaveAllThatAnyRowSeesWhicheverAreRead) {
  write({26.5, -40.5, 14}, 1e4);
  const Recipe how = recipe("cgls", 5);
  const std::vector<float> whole = test::reconstructed(path_, how);
  const std::size_t slice = whole.size() / 3;
  for (Index row = 0; row < 3; ++row) {
    EXPECT_EQ(solved_size(how, {row, row + 1}), 178);
    Recipe some = how;
    some.rows = Range{row, row + 1};
    const auto first = whole.begin() + row * static_cast<Index>(slice);
    EXPECT_TRUE(test::same_bits({first, first + static_cast<Index>(slice)}, test::reconstructed(path_, some)))
        << "row " << row;
  }
}

/// FBP weighs rays by the mean of the axes; a solver needs no weights. Rows that are nearly in the middle are
/// right.
TEST_F(RowAxesScan, FbpSaysWhichRowIsAsideAndWhatHelps) {
  const auto warnings = [&](const Recipe& how) {
    return make_plan(io::open_scan(path_)->info(), how).warnings;
  };
  write({1, -20, 19});
  const auto said = warnings({});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("row 1 has its axis at bin 67.5, far from the mean of all rows, bin 47.5"),
            std::string::npos)
      << said[0];
  EXPECT_NE(said[0].find("give an iterative method, or --rotation-axis X"), std::string::npos) << said[0];
  EXPECT_TRUE(warnings(recipe("cgls", 5)).empty());
  Recipe some;
  some.rows = Range{0, 1};
  EXPECT_TRUE(warnings(some).empty());
  write({1, -1, 0});
  EXPECT_TRUE(warnings({}).empty());
}

TEST_F(RowAxesScan, BitsDoNotDependOnChunks) {
  write({0, 9, -15, 9.5, -15.37}, 1e4);
  for (const std::string method : {"fbp", "cgls", "sirt"}) {
    Recipe how = recipe(method, 8);
    how.stop_by_discrepancy = method != "fbp";
    const std::vector<float> whole = test::reconstructed(path_, how, 5);
    for (Index at_once : {1, 3})
      EXPECT_TRUE(test::same_bits(whole, test::reconstructed(path_, how, at_once)));
  }
}

/// Bins that leave the detector hold next to no photons, or as many as they should: their noise, which would
/// be more than all else, stops no row.
TEST_F(RowAxesScan, NoiseOfBinsThatLeaveTheDetectorDoesNotCount) {
  constexpr Index leaving = 12;
  simulation_.max_attenuation = 2;
  write({0, -leaving}, 100);
  Recipe how = recipe("cgls", 20);
  how.stop_by_discrepancy = true;
  option::most_floored.set(how.steps, 100);
  Outcome bright, dim;
  test::reconstructed(path_, how, 0, &bright);
  const SimulatedScan scan(simulation_);
  const io::Frames darks = scan.frames(io::FrameKind::dark, {0, 2});
  io::Frames counts = scan.frames(io::FrameKind::projection, {0, 2});
  for (Index view = 0; view < counts.shape[0]; ++view)  // the counts of row 1
    std::copy_n(darks.bytes.data() + 2 * bins_, 2 * leaving,
                counts.bytes.data() + 2 * (2 * view + 1) * bins_);
  io::ScanWriter writer({path_, io::Content::scan}, simulation_.scan, {}, scan.type(), simulation_.flats,
                        simulation_.darks);
  writer.write(io::FrameKind::projection, {0, 2}, counts);
  writer.write(io::FrameKind::flat, {0, 2}, scan.frames(io::FrameKind::flat, {0, 2}));
  writer.write(io::FrameKind::dark, {0, 2}, darks);
  writer.finish("{}");
  test::reconstructed(path_, how, 0, &dim);
  EXPECT_GT(dim.findings.replaced_by("minus-log"), bright.findings.replaced_by("minus-log") + leaving * 100);
  EXPECT_EQ(dim.slice_iterations, bright.slice_iterations);
  EXPECT_EQ(dim.stopped_by, bright.stopped_by);
  EXPECT_EQ(dim.stopped_by[1], "discrepancy");
  EXPECT_GT(dim.slice_iterations[1], 1);
}

}  // namespace
}  // namespace tandem::pipeline
