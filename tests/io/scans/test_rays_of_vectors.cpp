// Vectors of ASTRA: whether they are directions of parallel rays or sources of a cone.

#include <fstream>

#include "../../../core/error.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../io/scans/geometries/geometry_file.hpp"
#include "../../support/flexible_scans.hpp"
#include "../io_checks.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr Index rows = 5, bins = 7;

FlexibleBeam some_views(bool parallel) {
  Random random(11);
  return random_views(4, rows, bins, 6, random, parallel);
}

class RaysOfVectors : public ::testing::Test {
 protected:
  /// What a file with these views is taken for.
  FlexibleBeam taken(const char* name, const FlexibleBeam& scan, const std::string& rays = "") const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << io::geometry_text(path, scan);
    return as_free_views(io::scan_of_views(io::read_geometry_file(io::geometry_named(path.string() + rays)),
                                           scan.detector, {}, false));
  }
  std::string refused(const char* name, const FlexibleBeam& scan, const std::string& rays = "") const {
    try {
      taken(name, scan, rays);
    } catch (const Error& fault) {
      return fault.what();
    }
    return "not refused";
  }
  TemporaryFolder folder_;
};

FlexibleBeam with_directions(FlexibleBeam scan, double length) {
  for (FlexibleView& view : scan.views) view.source = length * view.source;
  return scan;
}

/// A cone whose first source is at the distance 1 from the origin, as are all others.
FlexibleBeam in_units_of_sod(FlexibleBeam scan) {
  for (FlexibleView& view : scan.views) {
    const double unit = 1 / length(view.source);
    for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step}) *each = unit * *each;
  }
  return scan;
}

TEST_F(RaysOfVectors, MayBeParallelWithAnyLength) {
  const FlexibleBeam rays = some_views(true), longer = with_directions(rays, 2.5),
                     found = taken("rays.npy", longer, ":parallel");
  EXPECT_TRUE(found.parallel);
  EXPECT_EQ(io::numbers_of(found), io::numbers_of(longer));
  EXPECT_TRUE(taken("rays.npy", rays).parallel);
  EXPECT_TRUE(taken("rays.txt", longer).parallel);  // its first line says so
}

TEST_F(RaysOfVectors, MayComeFromSourcesAtTheDistanceOne) {
  const FlexibleBeam cone = in_units_of_sod(some_views(false));
  EXPECT_TRUE(says(refused("cone.npy", cone), {"cone.npy: the first vectors have the length 1",
                                               "cone.npy:parallel or ", "cone.npy:cone"}));
  EXPECT_EQ(io::numbers_of(taken("cone.npy", cone, ":cone")), io::numbers_of(cone));
  EXPECT_TRUE(taken("cone.npy", cone, ":parallel").parallel);
  EXPECT_FALSE(taken("cone.txt", cone).parallel);
  EXPECT_TRUE(says(refused("cone.txt", cone, ":parallel"),
                   {"cone.txt: says that rays come from a source", "leave :parallel"}));
}

/// Behind each source there is no origin, if they are directions that end in the middle of the detector or
/// before it.
TEST_F(RaysOfVectors, OnTheDetectorsSideAreNamed) {
  for (const auto& [along, text] : {std::pair{0.0, "the detector lies on the source's side of the origin"},
                                    {0.5, "the detector lies on the source's side of the origin"},
                                    {2.0, "the origin, where the volume is, lies behind the source"}}) {
    FlexibleBeam rays = with_directions(some_views(true), 40);
    for (FlexibleView& view : rays.views) view.detector = along * view.source;
    EXPECT_TRUE(says(
        refused("rays.npy", rays),
        {"rays.npy: view 0: ", text, "if the first vectors are directions of parallel rays", ":parallel"}))
        << along;
    EXPECT_TRUE(taken("rays.npy", rays, ":parallel").parallel);
    EXPECT_FALSE(says(refused("rays.npy", rays, ":cone"), {"directions"}));
  }
}

/// Directions of another length and detectors beyond the origin are those of a cone, too.
TEST_F(RaysOfVectors, AreSaidToBeSourcesWhereTheFileIsSilent) {
  const fs::path path = folder_ / "cone.npy";
  std::ofstream(path, std::ios::binary) << io::geometry_text(path, some_views(false));
  const auto notes = [&](std::optional<bool> parallel) {
    const io::ViewGeometry found = io::read_geometry_file({path, parallel});
    return found.notes.empty() ? "" : found.notes.front();
  };
  EXPECT_TRUE(says(notes({}), {"taken as places of sources (cone_vec)", "cone.npy:parallel"}));
  EXPECT_EQ(notes(false), "");
}

TEST(GeometryName, EndsWithWhatRaysAre) {
  for (const auto& [text, path, parallel] : {std::tuple{"a:b.npy", "a:b.npy", std::optional<bool>()},
                                             {":cone", ":cone", std::optional<bool>()},
                                             {"a.npy:parallel", "a.npy", true},
                                             {"a.npy:cone", "a.npy", false}}) {
    EXPECT_EQ(io::geometry_named(text).path, path);
    EXPECT_EQ(io::geometry_named(text).parallel, parallel);
  }
}

}  // namespace
}  // namespace tandem::test
