// Rows that are selected are those of the whole scan, whatever the steps need beside them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../../counts/steps/step.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../../pipeline/plan/margin_rows.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::same_bits;

constexpr Index bins = 41, rows = 29, views = 30;

/// A scan with a pixel size, zingers, and cells that are dead.
Simulation scan_of_rows() {
  Simulation s;
  s.phantom = "ellipsoids";
  detector_of(s.scan) = {bins, rows, 1, 1, 0.5 * (bins - 1) + 0.7};
  angles_of(s.scan) = test::regular_angles(views, half_turn);
  s.grid = fitting_grid(s.scan);
  s.photons = 3e3;
  return s;
}

/// Counts that the steps have to mend: each seventh row has a bright pixel in each view.
void add_zingers(io::Frames& frames) {
  auto* counts = reinterpret_cast<std::uint16_t*>(frames.bytes.data());
  for (Index v = 0; v < frames.shape[0]; ++v)
    for (Index r = 0; r < frames.shape[1]; ++r)
      counts[(v * frames.shape[1] + r) * frames.shape[2] + (5 * r + 3 * v) % frames.shape[2]] += 20000;
}

struct Case {
  const char* step;
  StepValues values;
  std::vector<double> row_shifts = {};
};

std::vector<Case> cases() {
  return {{"dezinger-projection",
           {{"dezinger", Index{5}},
            {"dezinger:threshold", 500.0},
            {"dezinger:window", std::string("projection")}}},
          {"dezinger-cube",
           {{"dezinger", Index{3}}, {"dezinger:threshold", 500.0}, {"dezinger:window", std::string("cube")}}},
          {"repair-cells", {{"repair-cells", true}}},
          {"detector-roll", {{"detector-roll", 1.5}}},
          {"row-shifts", {}, {2.5, -1.25}},
          {"phase",
           {{"retrieve-phase-method", std::string("paganin")},
            {"retrieve-phase-method:energy", 20.0},
            {"retrieve-phase-method:distance", 50.0},
            {"retrieve-phase-method:delta-beta", 2.0}}}};
}

class SelectedRows : public ::testing::Test {
 protected:
  void SetUp() override { test::write_scan(path_, SimulatedScan(scan_of_rows()), add_zingers); }

  /// The volume of some rows, and the plan for it.
  std::vector<float> volume(const Case& one, std::optional<Range> some, int binning,
                            Plan* planned = nullptr) {
    const auto reader = io::open_scan(path_, {.pixel_size_mm = 1e-3});
    Recipe recipe;
    recipe.steps = one.values;
    recipe.rows = some;
    recipe.binning = binning;
    io::ScanInfo info = reader->info();
    for (Index v = 0; !one.row_shifts.empty() && v < views; ++v)
      info.row_shifts.push_back(one.row_shifts[static_cast<std::size_t>(v) % one.row_shifts.size()]);
    const Plan plan = make_plan(info, recipe);
    if (planned) *planned = plan;
    return reconstructed(*reader, plan);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "scan.h5";
};

TEST_F(SelectedRows, AreThoseOfTheWholeScanForAllStepsThatLookBeside) {
  std::vector<std::string_view> seen{"upright"};  // `upright` is a step for a cone beam: see below
  for (const Case& one : cases())
    for (const int binning : {0, 1}) {
      Plan plan;
      const auto whole = volume(one, {}, binning, &plan);
      seen.push_back(one.step);
      ASSERT_GT(plan.job.margin.beside, 0) << one.step;
      const auto area = plan.job.grid.size[0] * plan.job.grid.size[1];
      for (const Range some : {Range{12, 18}, Range{0, 4}, Range{24, 28}}) {
        const auto first = whole.begin() + (some.first >> binning) * area;
        const std::vector<float> due(first, first + (some.size() >> binning) * area);
        EXPECT_TRUE(same_bits(volume(one, some, binning), due))
            << one.step << ' ' << binning << ' ' << some.first;
      }
    }
  for (const Step& step : steps())
    EXPECT_TRUE(!step.margin || std::ranges::find(seen, step.name) != seen.end())
        << step.name << ": has no case";
}

/// One row alone is not binned with those beside it, which steps still see.
TEST_F(SelectedRows, OfOneRowHaveTheirNeighboursToo) {
  for (const Case& one : cases()) {
    const auto whole = volume(one, {}, 0);
    const auto area = static_cast<std::ptrdiff_t>(whole.size()) / rows;
    EXPECT_TRUE(
        same_bits(volume(one, Range{13, 14}, 0), {whole.begin() + 13 * area, whole.begin() + 14 * area}))
        << one.step;
    Plan plan;
    volume(one, Range{13, 14}, 1, &plan);
    EXPECT_EQ(plan.job.rows_together, 1);
    EXPECT_EQ(plan.job.grid.size[2], 1);
  }
}

TEST_F(SelectedRows, BeginAndEndAtTheRowsOfTheFile) {
  const auto reader = io::open_scan(path_);
  Recipe recipe;
  recipe.rows = Range{3, 27};
  for (const int binning : {0, 1}) {
    recipe.binning = binning;
    Plan plan = make_plan(reader->info(), recipe);
    plan.job.margin.beside = 4;
    const RowsRead read = rows_read(plan, {0, plan.job.grid.size[2]});
    EXPECT_EQ(read.rows, (binning ? Range{1, 29} : Range{0, 29})) << "rows join as those that are selected";
    EXPECT_EQ(read.above, binning ? 1 : 3);
    EXPECT_EQ(read.below, binning ? 1 : 2);
  }
}

/// A user leaves out broken rows. Margins end there, as at an edge.
TEST_F(SelectedRows, EndTheirMarginsAtBrokenRows) {
  Simulation s = scan_of_rows();
  s.photons.reset();  // floats
  for (const bool lost_in_all : {true, false}) {
    test::write_scan(path_, SimulatedScan(s), [&](io::Frames& frames) {
      auto* y = reinterpret_cast<float*>(frames.bytes.data());
      for (Index v = lost_in_all ? 0 : 1; v < views; ++v)
        std::fill_n(y + (v * rows + 8) * bins, bins, std::numeric_limits<float>::quiet_NaN());
    });
    const auto reader = io::open_scan(path_);
    Recipe recipe;
    recipe.rows = Range{10, 20};
    Plan plan = make_plan(reader->info(), recipe);
    plan.job.margin.beside = 5;
    end_margins_at_bad_rows(*reader, plan.job);
    EXPECT_EQ(plan.job.rows_there, (lost_in_all ? Range{9, rows} : Range{0, rows}));
    EXPECT_NO_THROW(reconstructed(*reader, plan));
  }
}

TEST_F(SelectedRows, EndTheirMarginsWhereFlatsAreDead) {
  const auto reader = io::open_scan(path_);
  class DeadRow final : public io::ScanReader {
   public:
    explicit DeadRow(io::ScanReader& scan) : scan_(scan) { info_ = scan.info(); }
    void read(io::FrameKind kind, Range frames, Range some, Range columns, io::Frames& into) override {
      scan_.read(kind, frames, some, columns, into);
      if (kind != io::FrameKind::flat || some.first > 21 || some.last <= 21) return;
      auto* counts = reinterpret_cast<std::uint16_t*>(into.bytes.data());
      for (Index f = 0; f < frames.size(); ++f)
        std::fill_n(counts + (f * some.size() + 21 - some.first) * columns.size(), columns.size(), 0);
    }

   private:
    io::ScanReader& scan_;
  } scan(*reader);
  Recipe recipe;
  recipe.rows = Range{10, 20};
  recipe.steps = cases()[0].values;
  const Plan plan = make_plan(reader->info(), recipe);
  EXPECT_NO_THROW(reconstructed(scan, plan));
  Plan narrow = plan;
  end_margins_at_bad_rows(scan, narrow.job);
  EXPECT_EQ(narrow.job.rows_there, (Range{0, 21}));
}

/// Selected rows of a cone beam have a grid of their own: its slices are compared with those of the whole.
TEST_F(SelectedRows, OfACrookedConeBeamAreThoseOfTheWholeScan) {
  const auto cone = folder_.path() / "cone.h5";
  test::write_scan(cone, SimulatedScan(test::cone_simulation(1e4)));
  for (const char* option : {"detector-roll", "axis-tilt"}) {
    Recipe recipe;
    recipe.steps[option] = 2.0;
    recipe.region_z = Range{16, 18};  // its rays meet rows 13 to 21
    const auto whole = reconstructed(cone, recipe);
    recipe.rows = Range{10, 25};
    recipe.region_z = Range{6, 8};
    EXPECT_LT(test::relative_error(reconstructed(cone, recipe), whole), 20 * tolerance::float_rounding)
        << option;
  }
}

}  // namespace
}  // namespace tandem::pipeline
