// Files that say where each view was taken from: written, read back, and what is refused.

#include <fstream>
#include <numbers>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../io/scans/geometries/geometry_file.hpp"
#include "../../../io/scans/scan_writer.hpp"
#include "../../support/flexible_scans.hpp"
#include "../io_checks.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;
using io::FrameKind;
using io::OpenOptions;

constexpr Index rows = 5, bins = 7;

FlexibleBeam some_views(bool parallel, Index views = 4) {
  Random random(11);
  return random_views(views, rows, bins, 6, random, parallel);
}

ConeBeam some_circle() {
  return {.detector = {.bins = bins, .rows = rows, .bin_pitch = 0.2, .row_pitch = 0.25, .axis_bin = 2.6},
          .angles = {0, 0.4, 2.25, 5},
          .sod = 66,
          .sdd = 199,
          .midplane_row = 1.75};
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void write_geometry(const fs::path& path, const Scan& scan) {
  write_text(path, io::geometry_text(path, scan));
}

void write_scan(const fs::path& path, const Scan& scan, std::optional<double> pixel_size_mm = {}) {
  io::ScanWriter writer({path, io::Content::scan}, scan, pixel_size_mm, io::PixelType::float32, 1, 1);
  for (const FrameKind kind : {FrameKind::projection, FrameKind::flat, FrameKind::dark}) {
    const Index count = kind == FrameKind::projection ? views_of(scan) : 1;
    io::Frames frames{io::PixelType::float32, {count, rows, bins}, {}};
    frames.bytes.resize(static_cast<std::size_t>(count * rows * bins) * 4);
    writer.write(kind, {0, rows}, frames);
  }
  writer.finish("{}");
}

const FlexibleBeam& views_in(const io::ScanInfo& info) { return std::get<FlexibleBeam>(info.scan); }

void expect_same_views(const FlexibleBeam& a, const FlexibleBeam& b, double off) {
  ASSERT_EQ(views_of(a), views_of(b));
  EXPECT_EQ(a.parallel, b.parallel);
  for (Index view = 0; view < views_of(a); ++view) {
    const auto k = static_cast<std::size_t>(view);
    for (const Vector3& point : {Vector3{0, 0, 0}, Vector3{3, -2, 1}, Vector3{-1, 2, 4}})
      for (std::size_t axis = 0; axis < 2; ++axis)
        EXPECT_NEAR(shadow_of(a, view, point)[axis], shadow_of(b, view, point)[axis], off);
    EXPECT_NEAR(length(a.views[k].bin_step - b.views[k].bin_step), 0, off);
    if (!a.parallel) {
      EXPECT_NEAR(length(a.views[k].source - b.views[k].source), 0, off);
    }
  }
}

class GeometryFiles : public ::testing::Test {
 protected:
  void SetUp() override { write_scan(scan_, some_circle(), 0.2); }
  io::ScanInfo opened(const std::string& name, OpenOptions options = {}) const {
    options.geometry = folder_ / name;
    return io::open_scan(scan_, options)->info();
  }
  std::string refused(const std::string& name, const OpenOptions& options = {}) const {
    try {
      opened(name, options);
    } catch (const Error& fault) {
      return fault.what();
    }
    return "not refused";
  }
  std::string refused_text(const std::string& name, const std::string& text) const {
    write_text(folder_ / name, text);
    return refused(name);
  }
  TemporaryFolder folder_;
  fs::path scan_ = folder_ / "scan.h5";
};

TEST_F(GeometryFiles, OfAstraComeBackToTheBit) {
  for (const bool parallel : {false, true})
    for (const char* name : {"views.npy", "views.geom", "views.txt"}) {
      const FlexibleBeam scan = some_views(parallel);
      write_geometry(folder_ / name, scan);
      const io::ScanInfo info = opened(name);
      EXPECT_EQ(io::numbers_of(views_in(info)), io::numbers_of(scan)) << name;
      EXPECT_EQ(views_in(info).parallel, parallel) << name;
      EXPECT_EQ(info.axis_bin, std::nullopt);
    }
}

TEST_F(GeometryFiles, OfLeapComeBackWithinRounding) {
  const FlexibleBeam scan = [] {  // LEAP has one pitch for all views
    FlexibleBeam views = some_views(false);
    for (FlexibleView& view : views.views)
      view.bin_step = 0.7 / length(view.bin_step) * view.bin_step,
      view.row_step = 0.9 / length(view.row_step) * view.row_step;
    return flexible_beam(rows, bins, views.views, false);
  }();
  write_geometry(folder_ / "views.cfg", scan);
  expect_same_views(views_in(opened("views.cfg")), scan, 1e-9);
  EXPECT_THROW(io::geometry_text("views.cfg", some_views(true)), GeometryError);
}

/// A circle of LEAP: the axis falls on centerCol, and the plane of the source on centerRow.
TEST_F(GeometryFiles, OfLeapMayBeCircles) {
  const std::string cells =
      "numAngles = 4\nnumRows = 5\nnumCols = 7\npixelHeight = 0.25\npixelWidth = 0.2\ncenterCol = 3.25\n";
  const std::string detector = cells + "centerRow = 1.5\n";
  const std::string distances = "sod = 66\nsdd = 199\n";
  const auto write = [&](const std::string& text) { write_text(folder_ / "circle.cfg", text); };
  for (const char* angles : {"phis = 10, 100, 190, 280\n", "angularRange = 360\ninitAngle = 10\n"}) {
    write("# scan\ngeometry = cone\n" + detector + distances + angles + "tau = 0\nhelicalPitch = 0\n");
    const io::ScanInfo info = opened("circle.cfg");
    ASSERT_EQ(kind_of(info.scan), ConeBeam::kind);
    const ConeBeam& cone = point_source_of(info.scan);
    EXPECT_EQ(cone.sod, 66);
    EXPECT_EQ(cone.sdd, 199);
    EXPECT_EQ(cone.detector.bin_pitch, 0.2);
    EXPECT_EQ(cone.detector.row_pitch, 0.25);
    EXPECT_NEAR(cone.detector.axis_bin, 3.25, 1e-9);
    EXPECT_NEAR(cone.midplane_row, 1.5, 1e-9);
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(cone.angles[k], (10.0 + 90.0 * static_cast<double>(k)) * std::numbers::pi / 180, 1e-12);
  }
  write("geometry = parallel\n" + cells + "centerRow = 2\nphis = 10, 100, 190, 280\n");
  const io::ScanInfo parallel = opened("circle.cfg");
  ASSERT_EQ(kind_of(parallel.scan), ParallelBeam::kind);
  EXPECT_NEAR(detector_of(parallel.scan).axis_bin, 3.25, 1e-9);
  EXPECT_NEAR(angles_of(parallel.scan)[1], 100 * std::numbers::pi / 180, 1e-12);
  // tau moves the source and the detector: the axis falls tau sdd / sod beside centerCol
  write("geometry = cone\n" + detector + distances + "phis = 0, 90, 180, 270\ntau = 0.5\n");
  const FlexibleBeam beside = views_in(opened("circle.cfg"));
  EXPECT_NEAR(length(beside.views[0].source - Vector3{-0.5, -66, 0}), 0, 1e-12);
  EXPECT_NEAR(shadow_of(beside, 0, {0, 0, 0})[1], 3.25 + 0.5 * 199 / (66 * 0.2), 1e-9);

  const auto of = [&](const std::string& text) { return refused_text("a.cfg", text); };
  const std::string cone = "geometry = cone\n" + detector + "phis = 0, 90, 180, 270\n";
  EXPECT_TRUE(says(of(cone), {"a.cfg: has no sod"}));
  EXPECT_TRUE(says(of(cone + distances + "helicalPitch = 2\n"), {"a.cfg: helicalPitch = 2", "no circle"}));
  EXPECT_TRUE(says(of(cone + distances + "detectorType = curved\n"), {"a.cfg: detectorType = curved"}));
  EXPECT_TRUE(says(of("geometry = fan\n" + detector + distances), {"a.cfg: geometry = fan of 5 rows"}));
  EXPECT_TRUE(
      says(of("geometry = spiral\n"), {"a.cfg: geometry = \"spiral\"; modular, cone, fan or parallel"}));
  EXPECT_TRUE(says(of("proj_geometry = cone\n"), {"a.cfg: geometry = \"\"", "as LEAP 1 saves it"}));
  EXPECT_TRUE(says(of("geometry = cone\nnumAngles = 1e300\n"), {"a.cfg: numAngles = 1e+300"}));
  EXPECT_TRUE(says(of("geometry = cone\n" + detector + distances + "phis = 0, 90\n"),
                   {"a.cfg: phis: 2 numbers for 4 views"}));
}

/// Its bins and rows are at right angles, and have the pitches of the detector.
TEST_F(GeometryFiles, OfRtkComeBackWithinRounding) {
  for (const bool parallel : {false, true}) {
    std::vector<FlexibleView> views;
    const double lean = parallel ? 0 : 0.1;  // its parallel rays meet the detector squarely
    for (const Stand& stand :
         {Stand{0.3, 0.2, lean}, Stand{-0.9, 2.5, -2 * lean}, Stand{0, -1, 0}, Stand{0.1, 0, 0}})
      views.push_back(standing(3, rows, bins, 60, 180, stand, parallel, 0.2).views[views.size() % 3]);
    for (FlexibleView& view : views)
      view.detector = view.detector + 1.5 * view.bin_step - 0.5 * view.row_step;
    const FlexibleBeam scan = flexible_beam(rows, bins, views, parallel);
    write_geometry(folder_ / "views.xml", scan);
    OpenOptions options;
    options.pixel_size_mm = 0.2;
    expect_same_views(views_in(opened("views.xml", options)), scan, 1e-9);
  }
  EXPECT_THROW(io::geometry_text("views.xml",
                                 [] {
                                   FlexibleBeam views = some_views(false);
                                   views.views[1].row_step =
                                       views.views[1].row_step + 0.1 * views.views[1].bin_step;
                                   return views;
                                 }()),
               GeometryError);
}

FlexibleBeam on_curved_detector(double roll = 0) {
  OffCircle off;
  off.roll = roll, off.curved = true;
  return as_free_views(some_circle(), off);
}

void expect_same_cells(const FlexibleBeam& a, const FlexibleBeam& b) {
  EXPECT_TRUE(a.curved && b.curved);
  ASSERT_EQ(views_of(a), views_of(b));
  for (Index view = 0; view < views_of(a); ++view)
    for (const auto& [row, bin] : {std::pair{0, 0}, {4, 2}, {1, 6}})
      EXPECT_NEAR(length(place_of(a, view, row, bin) - place_of(b, view, row, bin)), 0, 1e-9);
}

/// RTK has the radius of the cylinder, and ranges along the arc from where the source is before it.
TEST_F(GeometryFiles, OfRtkKeepCurvedDetectors) {
  OpenOptions options;
  options.pixel_size_mm = 0.2;
  for (const double roll : {0.0, 0.2}) {
    FlexibleBeam scan = on_curved_detector(roll);
    for (FlexibleView& view : scan.views) view.row_step = 0.8 * view.row_step;  // RTK has no pitches
    write_geometry(folder_ / "views.xml", scan);
    expect_same_cells(views_in(opened("views.xml", options)), scan);
  }
  for (const char* name : {"views.npy", "views.geom", "views.cfg"})
    EXPECT_THROW(io::geometry_text(name, on_curved_detector()), GeometryError) << name;
  const std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version=\"3\">\n"
      "<SourceToIsocenterDistance>66</SourceToIsocenterDistance>\n"
      "<SourceToDetectorDistance>199</SourceToDetectorDistance>\n"
      "<RadiusCylindricalDetector>150</RadiusCylindricalDetector>\n"
      "<Projection><GantryAngle>0</GantryAngle></Projection>\n</RTKThreeDCircularGeometry>\n";
  EXPECT_TRUE(says(refused_text("views.xml", text), {"about another line than the source", "resample it"}));
}

/// Angles of RTK, and places of its detector, by hand: a quarter turn puts the source on the x axis.
TEST_F(GeometryFiles, OfRtkHaveItsFrame) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version=\"3\">\n"
      "<SourceToIsocenterDistance>66</SourceToIsocenterDistance>\n"
      "<SourceToDetectorDistance>199</SourceToDetectorDistance>\n"
      "<ProjectionOffsetX>0.5</ProjectionOffsetX><ProjectionOffsetY>-2</ProjectionOffsetY>\n";
  for (const char* angle : {"0", "90", "180", "300"})
    text += std::string("<Projection><GantryAngle>") + angle + "</GantryAngle></Projection>\n";
  write_text(folder_ / "circle.xml", text + "</RTKThreeDCircularGeometry>\n");
  const io::ScanInfo info = opened("circle.xml");
  const ConeBeam& cone = point_source_of(info.scan);
  EXPECT_EQ(cone.sod, 66);
  EXPECT_EQ(cone.sdd, 199);
  EXPECT_EQ(cone.detector.bin_pitch, 0.2);
  EXPECT_NEAR(cone.detector.axis_bin, 3 - 0.5 / 0.2, 1e-12);
  EXPECT_NEAR(cone.midplane_row, 2 + 2 / 0.25, 1e-12);
  const std::vector<double> degrees{0, 90, 180, 300};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(cone.angles[k], degrees[k] * std::numbers::pi / 180, 1e-14);
}

TEST_F(GeometryFiles, OfRtkAreReadAsXml) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<RTKThreeDCircularGeometry version=\"3\">\n"
      "<!-- <SourceToIsocenterDistance>70</SourceToIsocenterDistance> -->\n"
      "<SourceToIsocenterDistance>6<!-- 7 -->6</SourceToIsocenterDistance>\n"
      "<SourceToDetectorDistance>199</SourceToDetectorDistance><CollimationUInf>4</CollimationUInf>\n"
      "<!-- <Projection><GantryAngle>45</GantryAngle></Projection> -->\n";
  for (const char* angle : {"0", "90", "180", "270"})
    text += std::string("<Projection><!-- <GantryAngle>1</GantryAngle> --><GantryAngle>") + angle +
            "</GantryAngle></Projection>\n";
  write_text(folder_ / "circle.xml", text + "</RTKThreeDCircularGeometry>\n");
  const io::ScanInfo info = opened("circle.xml");
  const ConeBeam& cone = point_source_of(info.scan);
  EXPECT_EQ(cone.sod, 66);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(cone.angles[k], k * std::numbers::pi / 2, 1e-14);
  EXPECT_TRUE(says(notes_of(info), {"circle.xml: CollimationUInf is left out"}));

  const auto of = [&](const std::string& root, const std::string& inside) {
    return refused_text("a.xml", "<" + root + ">" + inside + "</RTKThreeDCircularGeometry>");
  };
  const std::string rtk = "RTKThreeDCircularGeometry", angle = "<GantryAngle>0</GantryAngle>";
  EXPECT_TRUE(says(of(rtk, "<Projection>" + angle + angle + "</Projection>"),
                   {"a.xml: projection 0: has GantryAngle twice"}));
  EXPECT_TRUE(says(of(rtk + " version=\"1\"", ""), {"a.xml: version = \"1\"; 2 or 3 is needed"}));
  EXPECT_TRUE(says(of(rtk, "<Projection><GantryAngle>&a;</GantryAngle></Projection>"),
                   {"a.xml: projection 0: GantryAngle = \"&a;\"; a finite number"}));
  EXPECT_TRUE(says(of(rtk, "<Projection>"), {"a.xml: is no XML: line 1: "}));
  EXPECT_TRUE(says(refused_text("a.xml", "<a></a>"), {"a.xml: has no RTKThreeDCircularGeometry"}));
}

/// The same views by matrices alone, at any scale.
TEST_F(GeometryFiles, OfRtkAreReadFromMatricesWithoutNumbers) {
  for (const bool parallel : {false, true}) {
    std::vector<FlexibleView> views;
    const double lean = parallel ? 0 : 0.1;
    for (const Stand& stand : {Stand{0.3, 0.2, lean}, Stand{-0.9, 2.5, -2 * lean}, Stand{0, -1, 0}, Stand{}})
      views.push_back(standing(3, rows, bins, 60, 180, stand, parallel, 0.2).views[views.size() % 3]);
    for (FlexibleView& view : views)
      view.detector = view.detector + 1.5 * view.bin_step - 0.5 * view.row_step;
    const FlexibleBeam scan = flexible_beam(rows, bins, views, parallel);
    std::istringstream lines(io::geometry_text("views.xml", scan));
    std::string left;
    bool within = false;
    for (std::string line; std::getline(lines, line);) {
      const bool number = line.starts_with("    <") && line.find("Matrix") == std::string::npos;
      within =
          within ? line.find("</Matrix>") == std::string::npos : line.find("<Matrix>") != std::string::npos;
      if (within && line.find('<') == std::string::npos) {
        std::istringstream row(line);
        line.clear();
        for (double number_of_row = 0; row >> number_of_row;)
          line += std::to_string(-3e3 * number_of_row) + ' ';
      }
      if (!number) left += line + '\n';
    }
    write_text(folder_ / "views.xml", left);
    OpenOptions options;
    options.pixel_size_mm = 0.2;
    expect_same_views(views_in(opened("views.xml", options)), scan, 1e-5);
  }
  const std::string begin = "<RTKThreeDCircularGeometry><Projection><Matrix>",
                    end = "</Matrix></Projection></RTKThreeDCircularGeometry>";
  EXPECT_TRUE(says(refused_text("a.xml", begin + "1 2 3" + end), {"projection 0: Matrix has 3 numbers; 12"}));
  EXPECT_TRUE(
      says(refused_text("a.xml", begin + "1 0 0 0 0 2 0 0 0 0 1 9" + end), {"projection 0: Matrix is"}));
  EXPECT_TRUE(
      says(refused_text("a.xml", begin + "0 0 0 0 0 0 0 0 0 0 0 0" + end), {"projection 0: Matrix is"}));
}

TEST_F(GeometryFiles, OfACircleAreThatCircle) {
  const Scan circle = io::open_scan(scan_)->info().scan;
  for (const char* name : {"views.npy", "views.txt"}) {
    write_geometry(folder_ / name, circle);
    const io::ScanInfo info = opened(name);
    EXPECT_EQ(projection_space(info.scan), projection_space(circle)) << name;
    EXPECT_EQ(info.axis_bin, 2.6);
  }
  for (const char* name : {"views.xml", "views.cfg"}) {
    write_geometry(folder_ / name, circle);
    EXPECT_EQ(kind_of(opened(name).scan), ConeBeam::kind) << name;
  }
}

/// A bin of the file then is as wide as the user says.
TEST_F(GeometryFiles, GetTheUnitOfTheirLengthsFromThePixelSize) {
  write_geometry(folder_ / "views.npy", some_views(false));
  const FlexibleBeam in_mm = views_in(opened("views.npy"));
  OpenOptions options;
  options.pixel_size_mm = 3 * in_mm.detector.bin_pitch;
  const FlexibleBeam scaled = views_in(opened("views.npy", options));
  EXPECT_NEAR(length(scaled.views[2].source - 3.0 * in_mm.views[2].source), 0, 1e-9);
  EXPECT_NEAR(length(scaled.views[2].detector - 3.0 * in_mm.views[2].detector), 0, 1e-9);
  EXPECT_NEAR(length(scaled.views[2].row_step - 3.0 * in_mm.views[2].row_step), 0, 1e-9);
}

TEST_F(GeometryFiles, GoWithEverySecondView) {
  const FlexibleBeam scan = some_views(false);
  write_geometry(folder_ / "views.npy", scan);
  OpenOptions options;
  options.first_view = 1, options.view_step = 2;
  const FlexibleBeam some = views_in(opened("views.npy", options));
  ASSERT_EQ(views_of(some), 2);
  EXPECT_EQ(some.views[1].source, scan.views[3].source);
}

TEST_F(GeometryFiles, OfAnotherScanAreRefused) {
  write_geometry(folder_ / "views.npy", some_views(false, 3));
  EXPECT_TRUE(says(refused("views.npy"), {"views.npy: 3 views for 4 images", "one per image is needed"}));
  write_geometry(folder_ / "views.cfg", flexible_beam(rows, bins + 1, some_views(false).views, false));
  EXPECT_TRUE(says(refused("views.cfg"), {"says a detector of 5 rows x 8 bins", "there are 5 x 7"}));
}

TEST_F(GeometryFiles, SayInOneLineWhatIsWrong) {
  EXPECT_TRUE(says(refused_text("a.txt", "1 2 3\n"), {"a.txt: line 1: number 4 of 12 is missing"}));
  EXPECT_TRUE(says(refused_text("a.txt", ""), {"a.txt: has no views"}));
  EXPECT_TRUE(says(refused_text("a.npy", "\x93NUMPY"), {"a.npy: is no array of NumPy"}));
  EXPECT_TRUE(
      says(refused_text("a.bin", "1"), {"a.bin: is no list of views", "*.xml of RTK", "*.npy of ASTRA"}));
  EXPECT_TRUE(says(refused("missing.npy"), {"missing.npy"}));
  const auto changed = [&](const auto& change) {
    FlexibleBeam scan = some_views(false);
    change(scan.views[2]);
    write_geometry(folder_ / "a.npy", scan);
    return refused("a.npy");
  };
  EXPECT_TRUE(says(changed([](FlexibleView& v) { v.source[1] = NAN; }),
                   {"a.npy: view 2: number 2 of 12 is not finite"}));
  EXPECT_TRUE(says(changed([](FlexibleView& v) { v.row_step = 2.0 * v.bin_step; }),
                   {"view 2: bin_step and row_step"}));
  EXPECT_TRUE(
      says(changed([](FlexibleView& v) { v.source = -0.5 * v.source; }),
           {"a.npy: view 2: the origin, where the volume is, lies behind the source", " mm before it"}));
  EXPECT_TRUE(says(changed([](FlexibleView& v) { v.source = 1e3 * v.source; }),
                   {"times as far from the source as in view 0"}));
  EXPECT_TRUE(says(changed([](FlexibleView& v) { v.bin_step = 1e3 * v.bin_step; }),
                   {"view 2: bins are", "one unit"}));
  EXPECT_TRUE(says(refused_text("a.txt",
                                "0 -1e6 0 0 1e6 0 1e4 0 0 0 0 1e4\n0 -1e6 0 0 1e6 0 1e4 0 0 0 0 1e4\n"
                                "0 -1e6 0 0 1e6 0 1e4 0 0 0 0 1e4\n0 -1e6 0 0 1e6 0 1e4 0 0 0 0 1e4\n"),
                   {"a.txt: bins are 10000 mm wide; no detector has such"}));
  EXPECT_TRUE(
      says(refused_text("a.xml", "<RTKThreeDCircularGeometry><Projection/></RTKThreeDCircularGeometry>"),
           {"a.xml: projection 0: has no GantryAngle"}));
  EXPECT_TRUE(says(refused_text("a.cfg", "geometry = modular\nnumAngles = 2\nnumRows = 5\nnumCols = 7\n"),
                   {"a.cfg: has no sourcePositions"}));
}

TEST_F(GeometryFiles, LeaveNoRoomForOtherOptions) {
  write_geometry(folder_ / "views.npy", some_views(false));
  const auto with = [&](const auto& change) {
    OpenOptions options;
    change(options);
    return refused("views.npy", options);
  };
  EXPECT_TRUE(says(with([](OpenOptions& o) { o.arc_deg = 180; }), {"leave --arc out"}));
  EXPECT_TRUE(says(with([](OpenOptions& o) { o.sod_mm = 180; }), {"leave --sod out"}));
  EXPECT_TRUE(
      says(with([](OpenOptions& o) { o.reverse_rotation = true; }), {"leave --rotation-direction out"}));
}

TEST_F(GeometryFiles, EndingsOfNoFormatAreRefused) {
  EXPECT_THROW(io::geometry_text("views.tif", some_circle()), FileError);
  EXPECT_THROW(io::geometry_text("views", some_circle()), FileError);
}

TEST(ScanWriter, KeepsEachViewToTheBit) {
  const TemporaryFolder folder;
  for (const bool parallel : {false, true}) {
    const FlexibleBeam scan = some_views(parallel);
    const fs::path path = folder / (parallel ? "parallel.h5" : "cone.h5");
    write_scan(path, scan, scan.detector.bin_pitch);
    const io::ScanInfo info = io::open_scan(path)->info();
    EXPECT_EQ(io::numbers_of(views_in(info)), io::numbers_of(scan));
    EXPECT_EQ(views_in(info).parallel, parallel);
    EXPECT_EQ(projection_space(info.scan), projection_space(scan));
  }
}

TEST(ScanWriter, KeepsCurvedDetectors) {
  const TemporaryFolder folder;
  const FlexibleBeam scan = on_curved_detector(0.1);
  write_scan(folder / "scan.h5", scan, 0.2);
  const io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  EXPECT_EQ(fingerprint(views_in(info)), fingerprint(flexible_beam(rows, bins, scan.views, false, true)));
  OpenOptions options;
  options.orientation = *io::orientation_of("transpose");
  EXPECT_THROW(io::open_scan(folder / "scan.h5", options), GeometryError);
}

/// The steps are turned as the images are; the detector stays where it is.
TEST(ScanWriter, ViewsAreTurnedWithTheirImages) {
  const TemporaryFolder folder;
  const FlexibleBeam scan = some_views(false);
  write_scan(folder / "scan.h5", scan, scan.detector.bin_pitch);
  OpenOptions options;
  options.orientation = *io::orientation_of("transpose,flip-rows");
  const FlexibleBeam turned = views_in(io::open_scan(folder / "scan.h5", options)->info());
  EXPECT_EQ(turned.detector.bins, rows);
  for (const auto& [row, bin] : {std::pair{0, 1}, {4, 2}, {6, 4}})
    EXPECT_NEAR(length(place_of(turned, 3, row, bin) - place_of(scan, 3, bin, 6 - row)), 0, 1e-9);
}

}  // namespace
}  // namespace tandem::test
