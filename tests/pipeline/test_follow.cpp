#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::MemoryWriter, test::write_scan;

/// A finished scan that shows more of its views each time that one looks, and, with `angles_too`, only their
/// angles.
class Revealed final : public io::GrowingScan {
 public:
  Revealed(const std::filesystem::path& path, std::vector<Index> steps, bool angles_too = false)
      : whole_(io::open_scan(path)), steps_(std::move(steps)), angles_too_(angles_too) {
    info_ = whole_->info();
    look();
    next_ = 0;
  }
  Index look() override {
    shown_ = steps_[std::min(next_++, steps_.size() - 1)];
    if (!angles_too_) return shown_;
    std::vector<double>& angles = angles_of(info_.scan);
    angles = angles_of(whole_->info().scan);
    for (Index k = shown_; k < planned(); ++k)
      angles[static_cast<std::size_t>(k)] = angles[static_cast<std::size_t>(k - 1)] + 0.05;
    return shown_;
  }
  Index planned() const override { return views_of(whole_->info().scan); }
  Index angles_known() const override { return angles_too_ ? shown_ : planned(); }
  std::string next() const override { return shown_ < planned() ? "too dark" : ""; }
  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override {
    if (kind == io::FrameKind::projection) {
      EXPECT_LE(frames.last, shown_);
    }
    whole_->read(kind, frames, rows, bins, into);
  }

 private:
  std::unique_ptr<io::ScanReader> whole_;
  std::vector<Index> steps_;
  bool angles_too_;
  std::size_t next_ = 0;
  Index shown_ = 0;
};

class FollowTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "scan.h5"; }

  std::vector<float> followed(const Recipe& like, std::vector<Index> steps, bool angles_too = false) {
    Recipe recipe = like;
    recipe.follow = true;
    Revealed scan(path(), std::move(steps), angles_too);
    const Plan plan = make_plan(scan.info(), recipe);
    MemoryWriter writer(plan.job.grid.shape());
    options_.following.scan = &scan, options_.following.patience = 0.4;
    outcome_ = reconstruct(scan, plan, writer, options_);
    return writer.volume;
  }

  /// The volume by `reconstruct`, with the model that can be followed.
  std::vector<float> whole(Recipe recipe) {
    const Scan scan = io::open_scan(path())->info().scan;
    recipe.model = rows_are_slices(scan) ? Model::pixel_driven : Model::separable_footprint;
    return test::reconstructed(path(), recipe);
  }

  static void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
    ASSERT_EQ(a.size(), b.size());
    float largest = 0, apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(b[i]));
      apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(apart, static_cast<float>(tolerance::parts_of_fbp) * largest);
  }

  test::TemporaryFolder folder_;
  Options options_;
  Outcome outcome_;
};

TEST_F(FollowTest, MakesTheVolumeOfReconstruct) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  Recipe recipe;
  expect_same(followed(recipe, {3, 40, 47}), whole(recipe));
  EXPECT_EQ(outcome_.followed->views, test::small::views);
  EXPECT_EQ(outcome_.followed->of, test::small::views);
  EXPECT_EQ(outcome_.followed->again, 0);
  EXPECT_TRUE(outcome_.warnings.empty());
  recipe.binning = 1, recipe.views = Range{5, 44}, recipe.bins = Range{2, 60};
  recipe.region_x = Range{3, 25}, recipe.region_z = Range{1, 4};
  expect_same(followed(recipe, {2, 47}), whole(recipe));
  EXPECT_EQ(outcome_.followed->of, 39);
}

TEST_F(FollowTest, MakesTheVolumeOfAConeBeam) {
  Simulation simulation = test::cone_simulation();
  for (const double arc : {whole_turn, 3.7}) {
    angles_of(simulation.scan) = test::regular_angles(60, arc);
    for (const double axis : {21.4, 14.0}) {
      detector_of(simulation.scan).axis_bin = axis;
      write_scan(path(), SimulatedScan(simulation));
      expect_same(followed({}, {1, 60}), whole({}));
    }
  }
}

/// Bins of a half acquisition are weighed in a band that is the wider the fewer views there are.
TEST_F(FollowTest, MakesTheVolumeOfAHalfAcquisition) {
  Simulation simulation = test::small_simulation(1e4);
  auto& scan = std::get<ParallelBeam>(simulation.scan);
  scan.angles = test::regular_angles(40, whole_turn);
  scan.row_axis_bins.clear();
  scan.detector.axis_bin = 17.3;
  write_scan(path(), SimulatedScan(simulation));
  Recipe recipe;
  recipe.size = 70;
  expect_same(followed(recipe, {3, 25, 40}), whole(recipe));
  expect_same(followed(recipe, {3, 20, 40}, true), whole(recipe));
  recipe.views = Range{0, 33};
  const std::vector<float> those = whole(recipe);
  recipe.views.reset();
  expect_same(followed(recipe, {7, 33}), those);
  EXPECT_EQ(outcome_.followed->again, 33);
}

TEST_F(FollowTest, EndsWithTheViewsThatCame) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  std::vector<std::string> said;
  options_.following.say = [&](const std::string& text) { said.push_back(text); };
  Recipe those;
  those.views = Range{0, 30};
  expect_same(followed({}, {7, 30}), whole(those));
  EXPECT_EQ(outcome_.followed->views, 30);
  EXPECT_EQ(outcome_.followed->of, test::small::views);
  EXPECT_GT(outcome_.followed->again, 0);
  ASSERT_EQ(outcome_.warnings.size(), 1U);
  EXPECT_NE(outcome_.warnings[0].find("30 of 47 planned views"), std::string::npos);
  EXPECT_NE(outcome_.warnings[0].find("too dark"), std::string::npos);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("30 of 47"), std::string::npos) << said[0];
}

TEST_F(FollowTest, WeighsACircleThatBecomesAnArcAnew) {
  Simulation simulation = test::cone_simulation();
  detector_of(simulation.scan).axis_bin = 14;  // a circle is filtered onto a wider detector, an arc is not
  write_scan(path(), SimulatedScan(simulation));
  Recipe those;
  those.views = Range{0, 40};
  Recipe same_grid;
  those.size = same_grid.size = 43;
  expect_same(followed(same_grid, {40}), whole(those));
  EXPECT_GE(outcome_.followed->again, 38);  // rays at the ends of an arc may count nothing
}

TEST_F(FollowTest, TakesAnglesAsTheyCome) {
  Simulation simulation = test::small_simulation(1e4);
  Random random(3);
  angles_of(simulation.scan) = test::irregular_angles(47, random);
  std::sort(angles_of(simulation.scan).begin(), angles_of(simulation.scan).end());
  write_scan(path(), SimulatedScan(simulation));
  expect_same(followed({}, {5, 21, 47}, true), whole({}));
  EXPECT_LT(outcome_.followed->again, 10);  // the ends, whose neighbours were not known
  Recipe those;
  those.views = Range{0, 33};
  expect_same(followed({}, {5, 33}, true), whole(those));
}

TEST_F(FollowTest, RefusesAScanOfWhichNoViewComes) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  Recipe recipe;
  recipe.views = Range{20, 40};
  EXPECT_THROW(followed(recipe, {20}), FileError);
}

TEST_F(FollowTest, ShowsTheThreePlanes) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  std::vector<LivePicture> last;
  int shown = 0;
  options_.show = [&](std::vector<LivePicture> pictures) { ++shown, last = std::move(pictures); };
  const std::vector<float> volume = followed({}, {9, 47});
  EXPECT_GE(shown, 2);
  ASSERT_EQ(last.size(), 3U);
  const Index n = test::small::bins, middle = test::small::rows / 2;
  EXPECT_EQ(last[0].index, middle);
  EXPECT_TRUE(
      std::equal(last[0].grey.grey.begin(), last[0].grey.grey.end(), volume.begin() + middle * n * n));
  EXPECT_EQ(last[2].grey.width, n);
  EXPECT_EQ(last[2].grey.height, test::small::rows);
}

TEST_F(FollowTest, IsCancelledByItsProgress) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  options_.progress = [](const Stage& at) {
    EXPECT_EQ(at.total, 47);
    if (at.done > 0) throw Error("enough");
  };
  EXPECT_THROW(followed({}, {9}), Error);
}

TEST_F(FollowTest, RefusesWhatNeedsAllViewsOrTooMuchMemory) {
  write_scan(path(), SimulatedScan(test::small_simulation(1e4)));
  Recipe recipe;
  recipe.method = "cgls";
  EXPECT_THROW(followed(recipe, {47}), GeometryError);
  recipe.method = "fbp", recipe.model = Model::fourier;
  recipe.follow = true;
  EXPECT_THROW(make_plan(io::open_scan(path())->info(), recipe), GeometryError);
  recipe.model.reset();
  recipe.size = 4000;
  recipe.host_bytes = 500 << 20;
  EXPECT_THROW(make_plan(io::open_scan(path())->info(), recipe), DeviceError);
}

}  // namespace
}  // namespace tandem::pipeline
