// Metal, from a scan in a file to a volume.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../geometry/phantom.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../../pipeline/slice_maker.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

using calibration::MetalVerdict;

Scan parallel() { return ParallelBeam{{96, 6, 1, 1, 47.5}, test::regular_angles(160), {}}; }
Scan cone() {
  return ConeBeam{{96, 12, 0.5, 0.5, 47.5}, test::regular_angles(160, whole_turn), 200, 300, 5.5};
}

/// A body with pins of metal whose rays have hardly a photon left, or another phantom.
class ScanOfMetal {
 public:
  explicit ScanOfMetal(Scan scan, const char* phantom = "pins", double max_attenuation = 12) {
    Simulation s;
    s.phantom = phantom, s.scan = std::move(scan), s.grid = fitting_grid(s.scan);
    s.photons = 2e4, s.max_attenuation = max_attenuation;
    const SimulatedScan simulated(s);
    truth.resize(s.grid.size[0] * s.grid.size[1] * s.grid.size[2]);
    simulated.truth({0, s.grid.size[2]}, truth);
    test::write_scan(folder_ / "scan.h5", simulated);
    reader = io::open_scan(folder_ / "scan.h5", {});
  }

  Completed complete(Recipe& recipe) {
    return pipeline::complete(recipe, *reader,
                              {.note = [this](const std::string& text) { notes += text + '\n'; },
                               .warn = [this](const std::string& text) { warnings += text + '\n'; }});
  }
  std::vector<float> volume(Recipe recipe) {
    complete(recipe);
    return test::reconstructed(*reader, make_plan(reader->info(), recipe));
  }

  std::unique_ptr<io::ScanReader> reader;
  std::vector<float> truth;
  std::string notes, warnings;

 private:
  test::TemporaryFolder folder_;
};

/// The root mean square error where the truth is the main material or air.
double error_beside_metal(const ScanOfMetal& scan, const std::vector<float>& volume) {
  const float main = [&] {
    std::vector<float> body;
    for (const float value : scan.truth)
      if (value > 0) body.push_back(value);
    std::nth_element(body.begin(), body.begin() + std::ssize(body) / 2, body.end());
    return body[body.size() / 2];
  }();
  double sum = 0, count = 0;
  for (std::size_t k = 0; k < volume.size(); ++k)
    if (scan.truth[k] <= 1.6F * main) sum += std::pow((volume[k] - scan.truth[k]) / main, 2), ++count;
  return std::sqrt(sum / count);
}

TEST(MetalOfScan, IsMendedInParallelAndConeBeams) {
  for (const Scan& beam : {parallel(), cone()}) {
    ScanOfMetal scan(beam);
    Recipe recipe{.mends_metal = true};
    const Completed by = scan.complete(recipe);
    ASSERT_TRUE(by.metal);
    EXPECT_EQ(by.metal->verdict, MetalVerdict::mended) << scan.notes << scan.warnings;
    EXPECT_GT(by.metal->voxels, 100);
    const std::vector<float> before = scan.volume({}), after = scan.volume({.mends_metal = true});
    EXPECT_LT(error_beside_metal(scan, after), 0.6 * error_beside_metal(scan, before)) << kind_of(beam);
  }
}

TEST(MetalOfScan, HasTheSameBitsInAnyChunks) {
  ScanOfMetal scan(parallel());
  const std::vector<float> whole = scan.volume({.mends_metal = true});
  for (const Index most : {1, 4}) {
    Recipe recipe{.mends_metal = true};
    recipe.most_slices = most;
    EXPECT_TRUE(test::same_bits(scan.volume(recipe), whole)) << most;
  }
  Recipe part{.mends_metal = true};
  part.region_z = Range{2, 3};
  const std::vector<float> slice = scan.volume(part);
  EXPECT_TRUE(
      test::same_bits(slice, {whole.begin() + 2 * std::ssize(slice), whole.begin() + 3 * std::ssize(slice)}))
      << "metal is looked for in all selected rows";
}

TEST(MetalOfScan, ThatIsNotThereChangesNoBit) {
  for (const Scan& beam : {parallel(), cone()}) {
    ScanOfMetal scan(beam, "ellipsoids", 2);
    EXPECT_TRUE(test::same_bits(scan.volume({.mends_metal = true}), scan.volume({})));
    EXPECT_NE(scan.notes.find("no metal"), std::string::npos) << scan.notes;
  }
}

TEST(MetalOfScan, IsFoundBeforeBeamHardening) {
  ScanOfMetal scan(parallel());
  Recipe recipe{.mends_metal = true};
  recipe.steps["beam-hardening"] = std::string("auto");
  const Completed by = scan.complete(recipe);
  ASSERT_TRUE(by.hardening.one);
  EXPECT_FALSE(by.hardening.one->has_metal);
  EXPECT_FALSE(by.hardening.one->is_corrected()) << "it is a beam of one energy";
  Recipe given{.mends_metal = true};
  option::beam_hardening.set(given.steps, std::vector<double>{2});  // twice, after the trace is mended
  std::vector<float> twice = scan.volume(given);
  const std::vector<float> once = scan.volume({.mends_metal = true});
  double worst = 0;
  for (std::size_t k = 0; k < twice.size(); ++k)
    if (once[k] < 0.1F) worst = std::max(worst, 1.0 * std::abs(twice[k] - 2 * once[k]));
  EXPECT_LT(worst, 1e-5);
}

/// Rows of views that stand on no circle lie apart, and cannot tell whether mending is right.
TEST(MetalOfScan, IsMendedAlongViewsOfAnyGeometry) {
  Simulation s = test::views_simulation(2e4);
  s.phantom = "pins", s.max_attenuation = 12;
  test::TemporaryFolder folder;
  test::write_scan(folder / "scan.h5", SimulatedScan(s));
  const auto reader = io::open_scan(folder / "scan.h5", {});
  Recipe recipe{.mends_metal = true, .metal_threshold = 0.3};
  std::string warnings;
  const Completed by =
      complete(recipe, *reader, {.warn = [&](const std::string& text) { warnings += text; }});
  ASSERT_TRUE(by.metal);
  EXPECT_FALSE(by.metal->before);
  if (by.metal->verdict == MetalVerdict::mended) {
    EXPECT_NE(warnings.find("cannot tell whether that is right"), std::string::npos) << warnings;
  }
}

TEST(MetalOfScan, SaysWhereItIsNotLookedFor) {
  ScanOfMetal scan(parallel());
  Recipe recipe{.mends_metal = true};
  recipe.row_axis_bins.assign(6, 47.5);
  EXPECT_THROW(scan.complete(recipe), GeometryError);
  SliceMaker slices(*scan.reader);
  EXPECT_THROW(slices.slice({.mends_metal = true}, {}, [] {}), GeometryError);
}

/// A body with three rods that are 2.2 times as dense, in a beam of three energies, which rods attenuate
/// otherwise than the body.
class ScanOfTwo {
 public:
  ScanOfTwo() {
    Simulation s;
    s.scan = ParallelBeam{{160, 3, 1, 1, 79.5}, test::regular_angles(240), {}};
    s.grid = fitting_grid(s.scan);
    test::write_scan(folder_ / "scan.h5", SimulatedScan(s), [&](io::Frames& frames) {
      const std::vector<float> of_body = rays(body(), s.scan), of_rods = rays(rods(), s.scan);
      auto* out = reinterpret_cast<float*>(frames.bytes.data());
      for (std::size_t k = 0; k < of_body.size(); ++k) {
        double through = 0;
        for (const auto& [share, main, dense] : beam)
          through += share * std::exp(-main * of_body[k] - dense * of_rods[k]);
        out[k] = static_cast<float>(through);
      }
    });
    reader = io::open_scan(folder_ / "scan.h5", {});
  }
  std::vector<float> volume(Recipe recipe, Completed* by = nullptr) {
    const Completed completed = complete(recipe, *reader);
    if (by) *by = completed;
    return test::reconstructed(*reader, make_plan(reader->info(), recipe));
  }
  /// The standard deviation of the main material, away from its edges, over its attenuation.
  static double spread(const std::vector<float>& volume) {
    const VolumeGrid grid = fitting_grid(ParallelBeam{{160, 1, 1, 1, 79.5}, test::regular_angles(2), {}});
    double sum = 0, squares = 0, count = 0;
    for (Index y = 0; y < grid.size[1]; ++y)
      for (Index x = 0; x < grid.size[0]; ++x) {
        const auto all = [&](const Phantom& of, double wanted) {
          for (const double dx : {-5.0, 0.0, 5.0})
            for (const double dy : {-5.0, 0.0, 5.0})
              if ((value_at(of, grid.x(x) + dx, grid.y(y) + dy, 0) > 0) != (wanted > 0)) return false;
          return true;
        };
        if (!all(body(), 1) || !all(rods(), 0)) continue;
        const double value = volume[y * grid.size[0] + x];
        sum += value, squares += value * value, ++count;
      }
    return std::sqrt(squares / count - sum * sum / (count * count)) / (sum / count);
  }
  std::unique_ptr<io::ScanReader> reader;

 private:
  struct Energy {
    double share, main, dense;
  };
  static constexpr std::array<Energy, 3> beam{{{0.3, 1.35, 2.2}, {0.5, 0.9, 0.6}, {0.2, 0.725, 0.2}}};
  static Phantom body() { return scaled({{{1, {0.75, 0.55, INFINITY}, {}, 0.3}}}, 80, 0.03); }
  static Phantom rods() {
    return scaled({{{1.2, {0.09, 0.09, INFINITY}, {-0.4, -0.05, 0}, 0},
                    {1.2, {0.08, 0.08, INFINITY}, {0.35, 0.15, 0}, 0},
                    {1.2, {0.08, 0.08, INFINITY}, {0.1, -0.25, 0}, 0}}},
                  80, 0.03);
  }
  static std::vector<float> rays(const Phantom& of, const Scan& scan) {
    std::vector<float> out(projection_space(scan).size());
    project(of, scan, {0, 3}, out);
    return out;
  }
  test::TemporaryFolder folder_;
};

TEST(SecondMaterial, IsCorrectedAlongItsRays) {
  ScanOfTwo scan;
  Recipe found;
  found.steps["beam-hardening"] = std::string("auto");
  Completed by;
  const std::vector<float> both = scan.volume(found, &by);
  ASSERT_TRUE(by.hardening.second) << by.hardening.one->before << " -> " << by.hardening.one->after
                                   << ", noise " << by.hardening.one->noise;
  EXPECT_TRUE(by.hardening.second->is_told()) << by.hardening.second->why_not;
  const double before = ScanOfTwo::spread(scan.volume({})), after = ScanOfTwo::spread(both);
  EXPECT_LT(after, 0.65 * before) << before;
  for (const Index most : {1, 2}) {
    Recipe chunks = found;
    chunks.most_slices = most;
    EXPECT_TRUE(test::same_bits(scan.volume(chunks), both)) << most;
  }
  Recipe solver = found;
  solver.method = "cgls";
  complete(solver, *scan.reader);
  EXPECT_FALSE(solver.first.dense) << "it goes with filters";
}

}  // namespace
}  // namespace tandem::pipeline
