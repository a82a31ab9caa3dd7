// Pictures and steps of solvers do not depend on the unit of lengths.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../pipeline/methods/method.hpp"
#include "../support/tolerances.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

/// A scan with its lengths in mm, and the same lengths with other numbers.
struct Units {
  std::string scan, simulate;
  double pitch, sod, sdd;  ///< 0 for parallel rays
};

const std::vector<Units>& scans() {
  static const std::vector<Units> all{
      {"parallel", "--phantom disc --rows 2", 0.5, 0, 0},
      {"fan", "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --phantom ellipsoids", 0.5, 60, 90},
      {"cone", "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --phantom ellipsoids --rows 12", 0.5, 60,
       90}};
  return all;
}

/// Units of which a mm has so many: um, m, and with parallel rays no unit at all.
std::vector<double> units_of(const Units& scan) {
  std::vector<double> all{1e3, 1e-3};
  if (scan.sod == 0) all.push_back(1 / scan.pitch);
  return all;
}

std::string lengths(const Units& scan, double unit) {
  if (unit == 1 / scan.pitch && scan.sod == 0) return "";
  std::ostringstream words;
  words << " --pixel-size " << unit * scan.pitch;
  if (scan.sod > 0) words << " --sod " << unit * scan.sod << " --sdd " << unit * scan.sdd;
  return words.str();
}

/// The rules that a method takes; "" is its default.
std::vector<std::string> rules_of(const pipeline::Method& method) {
  std::vector<std::string> all{"", " --iterations 8 --stop relative=0.3"};
  if (method.kind.tells.residual) all.push_back(" --iterations 40 --stop ncp");
  if (method.kind.tells.reach) all.push_back(" --iterations 40 --stop stagnation");
  if (method.kind.leads()) all.push_back(" --iterations 40 --stop gcv");
  if (!method.kind.takes_blank) all.push_back(" --iterations 40 --stop discrepancy");
  return all;
}

class UnitsOfLength : public ::testing::TestWithParam<Units> {
 protected:
  struct Made {
    std::vector<float> volume;  ///< times the pitch
    nlohmann::json iterations, stopped_by;
  };
  Made made(double unit, const std::string& options) {
    const Ended ended =
        run("recon scan.h5 -o v.h5 --overwrite --json v.json" + lengths(GetParam(), unit) + options);
    EXPECT_EQ(ended.code, 0) << options << ": " << ended.err;
    if (ended.code != 0) return {};
    std::vector<float> volume = voxels(run / "v.h5");
    for (float& voxel : volume) voxel *= static_cast<float>(unit * GetParam().pitch);
    const nlohmann::json report = run.json("v.json");
    return {std::move(volume), report["slice_iterations"], report["slice_stopped_by"]};
  }
  /// Expects the same picture and steps in another unit, whose options may have other numbers.
  void expect_alike(const Made& in_mm, double unit, const std::string& options) {
    const Made other = made(unit, options);
    EXPECT_EQ(other.iterations, in_mm.iterations) << unit << options;
    EXPECT_EQ(other.stopped_by, in_mm.stopped_by) << unit << options;
    ASSERT_EQ(other.volume.size(), in_mm.volume.size());
    double difference = 0, all = 0;
    for (std::size_t i = 0; i < in_mm.volume.size(); ++i) {
      difference += std::pow(1.0 * other.volume[i] - in_mm.volume[i], 2);
      all += std::pow(1.0 * in_mm.volume[i], 2);
    }
    EXPECT_LE(std::sqrt(difference / all), tolerance::of_units) << unit << options;
  }
  void make_scan() {
    ASSERT_EQ(
        run("simulate -o scan.h5 --size 24 --bins 28 --views 30 --photons 3e3 " + GetParam().simulate).code,
        0);
  }
  Program run;
};

TEST_P(UnitsOfLength, ChangeNeitherThePictureNorTheSteps) {
  make_scan();
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) continue;
    for (const std::string& rule : rules_of(method)) {
      const std::string options = " --size 24 --reconstruction-algorithm " + std::string(method.name) + rule;
      const Made in_mm = made(1, options);
      for (const double unit : units_of(GetParam())) expect_alike(in_mm, unit, options);
    }
  }
}

/// W is a length, and D an attenuation.
TEST_P(UnitsOfLength, AreThoseOfTheWeightOfTotalVariation) {
  make_scan();
  const auto options = [](double unit, double weight, double huber) {
    std::ostringstream words;
    words.precision(9);
    words << " --size 24 --reconstruction-algorithm tv --iterations 25 --tv-weight " << weight * unit
          << ":huber=" << huber / unit;
    return words.str();
  };
  const Made in_mm = made(1, options(1, 0.1, 0.01));
  for (const double unit : units_of(GetParam())) expect_alike(in_mm, unit, options(unit, 0.1, 0.01));
  const Made smoother = made(1, options(1, 0.2, 0.01)), edgier = made(1, options(1, 0.1, 0.001));
  EXPECT_NE(smoother.volume, in_mm.volume);
  EXPECT_NE(edgier.volume, in_mm.volume);
}

INSTANTIATE_TEST_SUITE_P(Beams, UnitsOfLength, ::testing::ValuesIn(scans()),
                         [](const auto& one) { return one.param.scan; });

}  // namespace
}  // namespace tandem::test
