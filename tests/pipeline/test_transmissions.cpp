// A method that takes no logarithm of counts, from a file of counts to the volume.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "../../core/error.hpp"
#include "../../counts/steps/options.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

/// A scan with 200 photons a cell, 2 of which come through the middle of a disc.
class Transmissions : public ::testing::Test {
 protected:
  Transmissions() { test::write_scan(path_, scan_); }

  static Simulation simulation() {
    Simulation s;
    s.phantom = "disc";
    s.scan = ParallelBeam{{96, 2, 1, 1, 47.5 + 1.3}, test::regular_angles(120), {}};
    s.grid = fitting_grid(s.scan);
    s.photons = 200;
    s.max_attenuation = std::log(100);
    return s;
  }
  Recipe recipe(std::string method = "mltr") const {
    Recipe asked;
    asked.method = std::move(method);
    option::most_floored.set(asked.steps, 100);
    return asked;
  }
  /// Mean and standard deviation of the voxels within the disc, as shares of its attenuation.
  std::pair<double, double> within(const std::vector<float>& volume) const {
    std::vector<float> truth(volume.size());
    scan_.truth({0, 2}, truth);
    const auto mu = static_cast<double>(*std::ranges::max_element(truth));
    const Index n = simulation().grid.size[0];
    const double unit = 0.5 * static_cast<double>(n), middle = 0.5 * static_cast<double>(n - 1);
    double sum = 0, squares = 0, count = 0;
    for (Index i = 0; i < static_cast<Index>(volume.size()); ++i) {
      const double x = static_cast<double>(i % n) - middle, y = static_cast<double>(i / n % n) - middle;
      if (std::hypot(x - 0.2 * unit, y - 0.1 * unit) > 0.4 * unit) continue;
      const double value = static_cast<double>(volume[static_cast<std::size_t>(i)]) / mu;
      sum += value, squares += value * value, ++count;
    }
    return {sum / count, std::sqrt(squares / count - sum * sum / (count * count))};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "scan.h5";
  SimulatedScan scan_{simulation()};
};

TEST_F(Transmissions, MeasureABodyWhereLogarithmsOfCountsDoNot) {
  Outcome outcome;
  const auto [mean, noise] = within(test::reconstructed(path_, recipe(), 0, &outcome));
  const auto [fbp_mean, fbp_noise] = within(test::reconstructed(path_, recipe("fbp")));
  EXPECT_NEAR(mean, 1, 0.02);
  EXPECT_LE(noise, 0.5 * fbp_noise);
  EXPECT_GT(std::abs(fbp_mean - 1), 0.02);
  EXPECT_EQ(outcome.findings.replaced_by("minus-log"), 0);
  EXPECT_TRUE(outcome.warnings.empty()) << outcome.warnings.front();
}

TEST_F(Transmissions, ComeOfLineIntegralsToo) {
  Recipe asked = recipe();
  asked.steps["minus-log"] = false;  // so that the transmissions are taken for line integrals
  asked.iterations = 3;
  const auto volume = test::reconstructed(path_, asked);
  EXPECT_TRUE(std::ranges::all_of(volume, [](float v) { return v >= 0 && std::isfinite(v); }));
  EXPECT_GT(*std::ranges::max_element(volume), 0.001f);
}

TEST_F(Transmissions, RefuseWhatNeedsLineIntegrals) {
  const auto plan = [&](const auto& change) {
    Recipe asked = recipe();
    change(asked);
    return make_plan(io::open_scan(path_)->info(), asked);
  };
  EXPECT_NO_THROW(plan([](Recipe&) {}));
  EXPECT_THROW(plan([](Recipe& r) { r.initial = Initial::fbp; }), GeometryError);
  EXPECT_THROW(plan([](Recipe& r) { r.stop_by_discrepancy = true; }), GeometryError);
  EXPECT_THROW(plan([](Recipe& r) {
                 r.steps["beam-hardening"] = std::vector<double>{1, 0.1};
               }),
               GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
