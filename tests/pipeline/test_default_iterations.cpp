// How many iterations methods make if nobody asks for a number: not so many that they fit noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../pipeline/methods/method.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

Simulation low_dose(const char* phantom, Index n, Index views, double photons, bool fan) {
  Simulation s;
  s.phantom = phantom;
  const auto size = static_cast<double>(n);
  if (fan)
    s.scan = FanBeam{{{n * 11 / 8, 1, 2, 2, 0.5 * static_cast<double>(n * 11 / 8 - 1)},
                      test::regular_angles(views, whole_turn),
                      3.1 * size,
                      6.2 * size,
                      0}};
  else
    s.scan = ParallelBeam{{n, 1, 1, 1, 0.5 * (size - 1)}, test::regular_angles(views)};
  s.grid = fitting_grid(s.scan);
  s.grid.size = {n, n, 1};
  s.photons = photons;
  return s;
}

TEST(DefaultIterations, AreSharedOutAmongSubsetsOfOsem) {
  const Method& osem = method_named("osem");
  EXPECT_EQ(osem.iterations_with(10), 3);
  EXPECT_EQ(osem.iterations_with(1), method_named("mlem").iterations_with(1));
  EXPECT_EQ(osem.iterations_with(7), 5);
  EXPECT_EQ(osem.iterations_with(500), 1);
}

/// The error is within a tenth of the least one that any number of iterations has.
TEST(DefaultIterations, OfMlemAndOsemAreNearTheBestAtLowDoses) {
  for (const Simulation& s :
       {low_dose("ellipsoids", 64, 60, 300, false), low_dose("shepp-logan", 96, 90, 500, false),
        low_dose("foam", 96, 120, 300, false), low_dose("ellipsoids", 64, 90, 500, true)}) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "scan.h5";
    const SimulatedScan scan(s);
    test::write_scan(path, scan);
    std::vector<float> truth(static_cast<std::size_t>(s.grid.size[0] * s.grid.size[1]));
    scan.truth({0, 1}, truth);
    for (const std::string name : {"mlem", "osem"}) {
      Recipe recipe;
      recipe.method = name;
      recipe.size = s.grid.size[0];
      const auto error = [&] { return test::relative_error(test::reconstructed(path, recipe), truth); };
      const double by_default = error();
      double least = INFINITY;
      for (const int times : {1, 2, 3, 4, 5, 6, 8, 10}) {
        recipe.iterations = name == "osem" ? times : 8 * times;
        least = std::min(least, error());
      }
      EXPECT_LE(by_default, 1.1 * least) << name << ", " << s.phantom << ", " << kind_of(s.scan);
    }
  }
}

}  // namespace
}  // namespace tandem::pipeline
