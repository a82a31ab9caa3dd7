// Nikon's geometry: offsets, an axis that leans, and files of angles. The reference is CIL's reading of these
// files (21.0 and 26, NikonDataReader.py), written out in double arithmetic.

#include <cmath>

#include "../../../core/units.hpp"
#include "../../../kernels/upright.hpp"
#include "../../../pipeline/plan/plan.hpp"
#include "scanned_folder.hpp"

namespace tandem::test {

namespace {

using Vector = std::array<double, 3>;
struct Place {
  double row, bin;
};

/// Numbers of a file, as CIL names them.
struct Nikon {
  double sod = 120, sdd = 600, pitch_x = 0.2, pitch_y = 0.4, rows = 41, bins = 61;
  double object_x = 0, detector_x = 0, detector_y = 0, roll_deg = 0, tilt_deg = 0, initial_deg = 30,
         step_deg = 90;
};

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The place where CIL sees a point of the sample: the source is at 0, y is along the beam, and the image
/// begins at its top right corner. The sample turns about the direction of the axis. The point is given in a
/// frame with that direction as its z.
Place seen_by_cil(const Nikon& n, const Vector& point, int view) {
  const double turn = in_radians(-n.step_deg * view - n.initial_deg + 180), roll = in_radians(n.roll_deg),
               tilt = in_radians(-n.tilt_deg);
  const Vector axis{std::sin(roll), -std::cos(roll) * std::sin(tilt), std::cos(roll) * std::cos(tilt)};
  // a frame about the axis whose y is as near to the beam as can be
  Vector x = cross({0, 1, 0}, axis);
  const double size = std::sqrt(dot(x, x));
  for (double& number : x) number /= size;
  const Vector y = cross(axis, x);
  const double px = point[0] * std::cos(turn) - point[1] * std::sin(turn),
               py = point[0] * std::sin(turn) + point[1] * std::cos(turn);
  Vector at{-n.object_x, n.sod, 0};
  for (std::size_t k = 0; k < 3; ++k) at[k] += px * x[k] + py * y[k] + point[2] * axis[k];
  const double across = at[0] * n.sdd / at[1] + n.detector_x, up = at[2] * n.sdd / at[1] - n.detector_y;
  return {(n.rows - 1) / 2 - up / n.pitch_y, (n.bins - 1) / 2 - across / n.pitch_x};
}

/// The place from which a plan takes the same point: the view is turned about the beam, as seen from the
/// other side.
Place seen_by_plan(const pipeline::Plan& plan, const io::ScanInfo& info, const Vector& point, int view) {
  const double roll = plan.job.preprocessing.pose ? plan.job.preprocessing.pose->roll : 0,
               tilt = plan.job.preprocessing.pose ? plan.job.preprocessing.pose->tilt : 0;
  const ConeBeam& c =
      plan.job.preprocessing.pose ? plan.job.preprocessing.pose->upright : point_source_of(info.scan);
  const Detector& d = c.detector;
  const double a = angles_of(info.scan)[static_cast<std::size_t>(view)];
  // slices are turned by half a turn against CIL's; heights count from the source, which a tilt lowers
  const Vector p{point[0], -point[1], -point[2] + c.sod * std::tan(tilt)};
  const double along = p[0] * std::cos(a) + p[1] * std::sin(a),
               depth = c.sod - p[0] * std::sin(a) + p[1] * std::cos(a);
  const kernels::UprightRays real{d.bin_pitch,    d.row_pitch,    d.axis_bin,     c.midplane_row, c.sdd,
                                  std::cos(roll), std::sin(roll), std::cos(tilt), std::sin(tilt)};
  const kernels::DetectorPlace at = real(c.midplane_row + c.sdd * p[2] / (depth * d.row_pitch),
                                         d.axis_bin + c.sdd * along / (depth * d.bin_pitch));
  return {at.row, at.bin};
}

std::vector<std::string> lines_of(const Nikon& n) {
  const auto line = [](const char* key, double value) {
    return std::string(key) + '=' + std::to_string(value);
  };
  return {"[XTekCT]",
          "Name=cup",
          "InputSeparator=_",
          line("SrcToObject", n.sod),
          line("SrcToDetector", n.sdd),
          "DetectorPixelsX=" + std::to_string(static_cast<int>(n.bins)),
          "DetectorPixelsY=" + std::to_string(static_cast<int>(n.rows)),
          line("DetectorPixelSizeX", n.pitch_x),
          line("DetectorPixelSizeY", n.pitch_y),
          line("ObjectOffsetX", n.object_x),
          line("DetectorOffsetX", n.detector_x),
          line("DetectorOffsetY", n.detector_y),
          line("ObjectRoll", n.roll_deg),
          line("ObjectTilt", n.tilt_deg),
          "WhiteLevel=60000",
          "Projections=4",
          line("InitialAngle", n.initial_deg),
          line("AngularStep", n.step_deg)};
}

/// The largest distance of what CIL and a plan see, in bins and rows.
double miss(const Nikon& n) {
  const TemporaryFolder folder;
  const auto bins = static_cast<unsigned>(n.bins), rows = static_cast<unsigned>(n.rows);
  for (int k = 1; k <= 4; ++k)
    write_tiff_pages(folder / ("cup_" + std::to_string(k) + ".tif"),
                     {std::vector<double>(std::size_t{bins} * rows, 100)},
                     {.rows_per_strip = rows, .height = rows, .width = bins});
  write_lines(folder / "cup.xtekct", lines_of(n));
  const auto reader = io::open_scan(folder.path());
  const io::ScanInfo& info = reader->info();
  const pipeline::Plan plan = pipeline::make_plan(info, pipeline::Recipe());
  double worst = 0;
  for (int view = 0; view < 4; ++view)
    for (const Vector& p : {Vector{0, 0, 0}, Vector{1, 0.4, 0.8}, Vector{-0.7, 0.9, -1.1}}) {
      const Place a = seen_by_cil(n, p, view), b = seen_by_plan(plan, info, p, view);
      worst = std::max({worst, std::abs(a.row - b.row), std::abs(a.bin - b.bin)});
    }
  return worst;
}

/// A folder of the sample images with these lines.
std::unique_ptr<io::ScanReader> opened(const Scanned& scan, const std::vector<std::string>& lines) {
  scan.text("cup.xtekct", lines);
  return scan.open();
}

}  // namespace

TEST(Nikon, SeesPointsWhereCilSeesThem) {
  constexpr double rounding = 1e-9, beside = 0.02;  // for lines with six digits; for an axis beside the beam
  EXPECT_LT(miss({}), rounding);
  EXPECT_LT(miss({.detector_x = 1, .detector_y = 1.2}), rounding);
  EXPECT_LT(miss({.roll_deg = 1.5}), rounding);
  EXPECT_LT(miss({.tilt_deg = 4}), rounding);
  EXPECT_LT(miss({.detector_x = -2, .detector_y = 0.8, .roll_deg = -1, .tilt_deg = -3}), rounding);
  EXPECT_LT(miss({.object_x = 0.05, .detector_x = 1, .roll_deg = 1}), beside);
}

TEST(Nikon, TakesOffsetsOfTheDetector) {
  const Scanned scan("cup_", 1);
  const auto reader = opened(scan, and_line(and_line(nikon, "DetectorOffsetX=-1"), "DetectorOffsetY=1.2"));
  const ConeBeam& cone = point_source_of(reader->info().scan);
  EXPECT_DOUBLE_EQ(cone.detector.axis_bin, 2 + 0.01 * 5 / 0.2 + 5);  // five bins
  EXPECT_DOUBLE_EQ(cone.midplane_row, 1 + 3);                        // and three rows
  EXPECT_TRUE(says(reader->info().axis_note, {"moved by DetectorOffsetX, with the sign of CIL 21"}));
  EXPECT_TRUE(says(scan.notes(), {"moved by DetectorOffsetY, with the sign of CIL 21"}));
}

TEST(Nikon, AnAxisThatLeansIsARoll) {
  const Scanned scan("cup_", 1);
  const auto reader = opened(scan, and_line(with(nikon, "ObjectOffsetX", "CentreOfRotationTop=0.31"),
                                            "CentreOfRotationBottom=0.29"));
  EXPECT_DOUBLE_EQ(detector_of(reader->info().scan).axis_bin, 2 + 0.3 / 0.2);
  // lower rows are the higher ones: from the top to the bottom the axis goes 0.02 mm in 1.2 mm
  EXPECT_NEAR(reader->info().roll_deg.value(), in_degrees(std::atan(-0.02 / 1.2)), 1e-9);
  EXPECT_TRUE(says(scan.notes(), {"the scan records a detector that is rolled by -0.95", "--detector-roll"}));
  EXPECT_NEAR(opened(scan, and_line(nikon, "ObjectRoll=0.4"))->info().roll_deg.value(), 0.4, 1e-12);
  EXPECT_NEAR(opened(scan, and_line(nikon, "ObjectTilt=0.25"))->info().tilt_deg.value(), -0.25, 1e-12);
}

TEST(Nikon, ThatLeansTooFarIsRefusedUnlessAnAngleIsGiven) {
  const Scanned scan("cup_", 1);
  const auto reader = opened(scan, and_line(nikon, "ObjectTilt=30"));
  EXPECT_TRUE(says(refusal<GeometryError>([&] { pipeline::make_plan(reader->info(), pipeline::Recipe()); }),
                   {"--axis-tilt: the scan records -30 degrees; at most 10"}));
  pipeline::Recipe recipe;
  recipe.steps["axis-tilt"] = 0.0;
  EXPECT_FALSE(pipeline::make_plan(reader->info(), recipe).job.preprocessing.pose);
}

TEST(Nikon, ReadsAFileOfAnglesIfToldTo) {
  const Scanned scan("cup_", 1);
  scan.text("cup.ang", {"Proj\tAngle(deg)", "1:\t10", "2:\t99", "3:\t191", "4:\t-80"});
  const auto lines = and_line(nikon, "AngleFile_Use=True");
  expect_degrees(opened(scan, nikon)->info(), {-30, -120, -210, -300});
  expect_degrees(opened(scan, lines)->info(), {-30, -119, -211, -300});
  EXPECT_TRUE(says(scan.notes(), {"the angles are those of", "cup.ang"}));
  scan.text("cup.ang", {"Proj\tAngle(deg)", "4:\t10", "3:\t99", "2:\t191", "1:\t280"});  // the other sense
  expect_degrees(opened(scan, lines)->info(), {-30, -119, -211, -300});
  scan.text("cup.ang", {"Proj\tAngle(deg)", "1:\t10"});
  expect_degrees(opened(scan, lines)->info(), {-30, -120, -210, -300});
  EXPECT_TRUE(
      says(scan.notes(), {"AngleFile_Use = True, but", "cup.ang has no angle for each of its views"}));
  fs::remove(scan / "cup.ang");
  EXPECT_TRUE(says((opened(scan, lines), scan.notes()), {"there is no cup.ang and no _ctdata.txt"}));
  scan.text("_ctdata.txt", {"Frames Exposure", "4 500", "Projection Angle(deg) Time(s)", "1 0 1", "2 89 2",
                            "3 181 3", "4 270 4"});
  expect_degrees(opened(scan, lines)->info(), {-30, -119, -211, -300});
}

TEST(Nikon, SaysWhatItDoesNotObey) {
  const Scanned scan("cup_", 1);
  for (const std::string line :
       {"ObjectOffsetY=1", "ObjectOffsetXStart=0.1", "ObjectOffsetXEnd=0.1", "Scattering=3", "CoefX4=1",
        "CoefX3=1", "CoefX2=1", "CoefX1=2", "CoefX0=1", "BeamHardeningLUTFile=a.lut"}) {
    opened(scan, and_line(nikon, line));
    const std::string key = line.substr(0, line.find('='));
    EXPECT_TRUE(says(scan.notes(), {"cup.xtekct: " + key + " = ", " is left out: "}));
  }
  opened(scan, with(nikon, "ObjectOffsetX", "ObjectOffsetX=100"));
  scan.text("cup.xtekct", and_line(nikon, "Pitch=4"));
  EXPECT_TRUE(says(scan.refused(), {"cup.xtekct: Pitch = 4: a helix"}));
  scan.text("cup.xtekct", and_line(nikon, "Units=inch"));
  EXPECT_TRUE(says(scan.refused(), {"cup.xtekct: Units = inch: of lengths; mm are needed"}));
  const auto harmless = and_line(and_line(and_line(nikon, "Units=mm"), "CoefX1=1.0"), "Scattering=0.0");
  opened(scan, harmless);
  EXPECT_EQ(scan.notes().find("left out"), std::string::npos);
}

}  // namespace tandem::test
