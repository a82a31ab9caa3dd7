// Fields of NXtomo whose values are not harmless: pitches at the sample, exposures, translations, links, and
// text in the place of numbers.

#include <cmath>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using Maker = Hdf5Maker;

namespace {

const std::string entry = "/entry", detector = entry + "/instrument/detector", sample = entry + "/sample";

/// The sample scan, of frames dark, flat, view 0, view 1, flat, alignment, view 2, view 3, invalid; and what
/// is said beside it.
class SaidScan {
 public:
  explicit SaidScan(const std::function<void(Maker&)>& say, double version = 0)
      : path_(folder_ / "scan.nxs") {
    write_nxtomo(path_, entry);
    Maker file(path_, true);
    if (version > 0) file.number_attribute(entry, "version", version);
    say(file);
  }
  io::ScanInfo info(const io::OpenOptions& options = {}) const {
    return io::open_scan(path_, options)->info();
  }
  std::string notes(const io::OpenOptions& options = {}) const { return notes_of(info(options)); }
  std::string refusal(const io::OpenOptions& options = {}) const { return refusal_of(path_, options); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  fs::path path_;
};

void one(Maker& file, const std::string& path, double value, const std::string& units = "") {
  file.numbers(path, "f64", {}, {value});
  if (!units.empty()) file.attribute(path, "units", units);
}

/// A translation of all nine frames, in microns; views 0 to 3 are frames 2, 3, 6 and 7.
void moves(Maker& file, char letter, const std::vector<double>& microns) {
  const std::string path = sample + '/' + letter + "_translation";
  file.numbers(path, "f64", {microns.size()}, microns).attribute(path, "units", "um");
}

const std::vector<double> of_frames{900, 900, 3, 1, 900, 0, 3, 7, 0}, of_views{3, 1, 3, 7};

std::vector<double> shifts_of(const io::ScanInfo& info) {
  return std::get<ParallelBeam>(info.scan).view_shift_bins;
}

}  // namespace

TEST(NXtomoFields, AParallelBeamHasThePitchAtTheSample) {
  const SaidScan scan([](Maker& f) { one(f, sample + "/x_pixel_size", 0.2, "um"); });
  EXPECT_DOUBLE_EQ(scan.info().pixel_size_mm.value(), 0.0002);
  EXPECT_DOUBLE_EQ(detector_of(scan.info().scan).row_pitch, 0.0002);
  const SaidScan both([](Maker& f) {
    one(f, sample + "/x_pixel_size", 0.2, "um"), one(f, sample + "/y_pixel_size", 0.3, "um");
  });
  EXPECT_DOUBLE_EQ(both.info().pixel_size_mm.value(), 0.0002);
  EXPECT_DOUBLE_EQ(detector_of(both.info().scan).row_pitch, 0.0003);
}

TEST(NXtomoFields, AConeHasThePitchOfTheDetector) {
  const auto near = [](Maker& f) {
    one(f, detector + "/distance", 6e-6, "m"), one(f, entry + "/instrument/source/distance", -6e-6, "m");
    one(f, sample + "/x_pixel_size", 1.5, "um"), one(f, sample + "/y_pixel_size", 2.5, "um");
  };
  const SaidScan scan(near);
  EXPECT_EQ(kind_of(scan.info().scan), ConeBeam::kind);
  EXPECT_DOUBLE_EQ(scan.info().pixel_size_mm.value(), 0.002);
  EXPECT_DOUBLE_EQ(detector_of(scan.info().scan).row_pitch, 0.004);
  // without a pitch of the detector: that at the sample, magnified by sdd / sod = 2
  const SaidScan magnified([&](Maker& f) {
    near(f);
    f.remove(detector + "/x_pixel_size").remove(detector + "/y_pixel_size");
  });
  EXPECT_EQ(kind_of(magnified.info().scan), ConeBeam::kind);
  EXPECT_DOUBLE_EQ(magnified.info().pixel_size_mm.value(), 0.003);
  EXPECT_DOUBLE_EQ(detector_of(magnified.info().scan).row_pitch, 0.005);
}

TEST(NXtomoFields, LengthsThatNoScannerHasAreLeftOutAndSaid) {
  const auto with_pitch = [](double value, const std::string& units) {
    return SaidScan([&](Maker& f) {
      f.remove(detector + "/x_pixel_size");
      one(f, detector + "/x_pixel_size", value, units);
    });
  };
  const SaidScan scan = with_pitch(6.5, "");
  EXPECT_FALSE(scan.info().pixel_size_mm);
  EXPECT_TRUE(says(scan.notes(), {"x_pixel_size is left out: 6.5 m", "without @units", "6500 mm"}));
  EXPECT_TRUE(says(with_pitch(6.5e-3, "nm").notes(), {"x_pixel_size is left out: 0.0065 nm is 6.5e-09 mm"}));
  EXPECT_DOUBLE_EQ(with_pitch(50, "mm").info().pixel_size_mm.value(), 50);
  EXPECT_TRUE(says(SaidScan([](Maker& f) { one(f, detector + "/distance", 3e7); }).notes(),
                   {"distance is left out: 3e+07 m"}));
}

TEST(NXtomoFields, ThePropagationIsThatOfTheSample) {
  const SaidScan scan([](Maker& f) {
    one(f, detector + "/distance", 0.25), one(f, sample + "/propagation_distance", 120, "mm");
  });
  EXPECT_DOUBLE_EQ(scan.info().propagation_mm.value(), 120);
}

TEST(NXtomoFields, HalfAcquisitionComesBeforeTheFieldOfView) {
  const auto said = [](std::optional<bool> half, const char* view) {
    return SaidScan([=](Maker& f) {
             if (half) f.flag(detector + "/half_acquisition", *half);
             if (view) f.text(detector + "/field_of_view", view);
           })
        .info()
        .field_of_view;
  };
  EXPECT_EQ(said(true, nullptr), io::FieldOfView::doubled);
  EXPECT_EQ(said(true, "Full"), io::FieldOfView::doubled);
  EXPECT_FALSE(said(false, "Half"));
  EXPECT_FALSE(said(false, nullptr));
}

TEST(NXtomoFields, CountsAreDividedByTimesOfExposureThatDiffer) {
  const auto exposed = [](const std::vector<double>& times) {
    return SaidScan([&](Maker& f) { f.numbers(detector + "/count_time", "f64", {times.size()}, times); });
  };
  const SaidScan scan = exposed({1, 0.5, 2, 2, 0.25, 2, 4, 2, 2});
  EXPECT_EQ(scan.info().exposures.views, (std::vector<double>{2, 2, 4, 2}));
  EXPECT_EQ(scan.info().exposures.flats, (std::vector<double>{0.5, 0.25}));
  EXPECT_TRUE(says(scan.notes(), {"count_time: views of 2 to 4, flats of 0.25 to 0.5", "divided",
                                  "count_time: darks of 1", "as they are"}));
  EXPECT_EQ(scan.info({.view_step = 2}).exposures.views, (std::vector<double>{2, 4}));
  EXPECT_TRUE(exposed({2, 2, 2, 2, 2, 2, 2, 2, 2}).info().exposures.views.empty());
  EXPECT_TRUE(exposed({2}).info().exposures.views.empty());
  EXPECT_FALSE(says(exposed({2, 2, 2, 2, 2, 2, 2, 2, 2}).notes(), {"count_time"}));
  EXPECT_TRUE(says(exposed({2, 0, 2, 2, 2, 2, 2, 2, 2}).notes(), {"count_time is left out", "above 0"}));
  EXPECT_TRUE(says(exposed({2, 1}).notes(), {"count_time is left out: it has 2 numbers for 9 frames"}));
}

TEST(NXtomoFields, TheCurrentOfARingCountsWithTheExposure) {
  const auto with_monitor = [](const char* units) {
    return SaidScan([=](Maker& f) {
             f.numbers(detector + "/count_time", "f64", {9}, {1, 0.5, 2, 2, 0.5, 2, 4, 2, 2});
             f.numbers(entry + "/control/data", "f64", {9}, {7, 10, 20, 30, 40, 7, 50, 60, 7});
             f.attribute(entry + "/control/data", "units", units);
           })
        .info()
        .monitor;
  };
  EXPECT_EQ(with_monitor("mA").views, (std::vector<double>{40, 60, 200, 120}));
  EXPECT_EQ(with_monitor("mA").flats, (std::vector<double>{5, 20}));
  EXPECT_EQ(with_monitor("counts").views, (std::vector<double>{20, 30, 50, 60}));
}

/// A pitch of 2 microns: 3, 1, 3 and 7 microns are 1.5, 0.5, 1.5 and 3.5 bins.
TEST(NXtomoFields, ViewsMoveBackWhereTheSampleMovesAcrossTheBeam) {
  const std::vector<double> from_first{0, -1, 0, 2}, from_zero{1.5, 0.5, 1.5, 3.5};
  // the recorded axis is that of the first view
  EXPECT_EQ(shifts_of(SaidScan([](Maker& f) { moves(f, 'x', of_frames); }).info()), from_first);
  EXPECT_EQ(shifts_of(SaidScan([](Maker& f) { moves(f, 'x', of_views); }).info()), from_first);
  EXPECT_EQ(shifts_of(SaidScan([](Maker& f) { moves(f, 'x', of_frames); }, 2.0).info()), from_first);
  EXPECT_EQ(shifts_of(SaidScan([](Maker& f) { moves(f, 'y', of_frames); }, 1.5).info()), from_first);
  // without one, the axis is in the middle at 0
  const auto no_axis = [](const std::vector<double>& microns) {
    return SaidScan([&](Maker& f) {
      moves(f, 'x', microns);
      f.remove(detector + "/x_rotation_axis_pixel_position");
    });
  };
  EXPECT_EQ(shifts_of(no_axis(of_frames).info()), from_zero);
  EXPECT_EQ(shifts_of(no_axis({103, 101, 103, 107}).info()), from_first);
  EXPECT_TRUE(says(no_axis(of_views).notes(), {"x_translation", "across the beam by up to 3.5 bins from 0"}));
  // images that are turned back are moved the other way
  const SaidScan flipped([](Maker& f) { moves(f, 'x', of_frames), f.flag(detector + "/x_flipped", true); });
  EXPECT_EQ(shifts_of(flipped.info()), (std::vector<double>{-0.0, 1, -0.0, -2}));
}

TEST(NXtomoFields, LessThanHalfAPixelMovesNothing) {
  const SaidScan scan([](Maker& f) {
    for (const char letter : {'x', 'y', 'z'}) moves(f, letter, {0, 0, 5, 5.5, 0, 0, 5.9, 6, 0});
  });
  EXPECT_TRUE(shifts_of(scan.info()).empty());
  EXPECT_FALSE(says(scan.notes(), {"translation"}));
}

TEST(NXtomoFields, TheUsersShiftsComeFirst) {
  const SaidScan scan([](Maker& f) { moves(f, 'x', of_frames), moves(f, 'y', of_frames); });
  write_lines(scan.folder() / "zeros.txt", {"0", "0", "0", "0"});
  const io::OpenOptions given{.view_shifts = scan.folder() / "zeros.txt",
                              .row_shifts = scan.folder() / "zeros.txt"};
  EXPECT_EQ(shifts_of(scan.info(given)), std::vector<double>(4, 0));
  EXPECT_FALSE(says(scan.notes(given), {"translation"}));
}

/// Heights count from the middle of the way, 4 microns. Rows count down from the top, so a sample that is
/// raised moves towards lower ones.
TEST(NXtomoFields, AHelixMovesTheSampleAndMotionAlongTheBeamIsSaid) {
  const auto with = [](char letter, double version, const io::OpenOptions& options = {}) {
    return SaidScan([=](Maker& f) { moves(f, letter, of_frames); }, version).info(options);
  };
  const auto climbs = [](const io::ScanInfo& info) {
    std::vector<double> up;
    for (const Vector3& move : info.off_circle.moves) up.push_back(std::round(move[2] * 1e9) / 1e6);  // um
    return up;
  };
  const std::vector<double> up{1, 3, 1, -3};
  for (const auto& [letter, version] : {std::pair{'y', 0.0}, {'y', 2.1}, {'z', 1.4}}) {
    const io::ScanInfo info = with(letter, version);
    EXPECT_TRUE(
        says(notes_of(info), {"_translation: the sample moves along the axis by 0.006 mm", "for solvers"}));
    EXPECT_TRUE(info.is_no_circle);
    EXPECT_EQ(climbs(info), up);
  }
  EXPECT_EQ(climbs(with('y', 0, {.orientation = {.flip_rows = true}})), (std::vector<double>{-1, -3, -1, 3}));
  EXPECT_EQ(climbs(with('y', 0, {.first_view = 1, .view_step = 2})), (std::vector<double>{3, -3}));
  EXPECT_TRUE(
      says(notes_of(with('z', 2)), {"z_translation: the sample moves along the beam by 0.006 mm, left out"}));
  EXPECT_TRUE(says(notes_of(with('x', 1.3)), {"x_translation", "along the beam"}));
  EXPECT_FALSE(with('z', 2).is_no_circle);
}

/// Motions may count the other way, alone or with images that are turned: both then turn back.
TEST(NXtomoFields, MotionsMayGoTheOtherWay) {
  const SaidScan scan(
      [](Maker& f) { moves(f, 'x', of_frames), moves(f, 'y', of_frames), moves(f, 'z', of_frames); }, 2);
  const io::OpenOptions as_said{.sod_mm = 10, .sdd_mm = 20};
  const std::vector<Vector3> moved = scan.info(as_said).off_circle.moves;
  ASSERT_EQ(moved.size(), 4u);
  const auto expect = [&](const io::OpenOptions& options, const Vector3& signs) {
    const std::vector<Vector3> found = scan.info(options).off_circle.moves;
    ASSERT_EQ(found.size(), 4u);
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(found[k][axis], signs[axis] * moved[k][axis], 1e-12) << k << ' ' << axis;
  };
  io::OpenOptions options = as_said;
  options.reversed_motion = {.up = true};
  expect(options, {1, 1, -1});
  options.orientation = {.flip_rows = true};
  expect(options, {1, 1, 1});
  options.reversed_motion = {.across = true, .along = true};
  options.orientation = {};
  expect(options, {-1, -1, 1});
  EXPECT_TRUE(says(scan.notes(as_said), {"higher bins, else give --reverse-motion across-beam",
                                         "lower rows, else give --reverse-motion along-axis"}));
  EXPECT_FALSE(says(scan.notes(options), {"reverse-motion across-beam"}));
}

TEST(NXtomoFields, MotionsThatAreNotThereAreNotReversed) {
  const SaidScan still([](Maker&) {}), climbs([](Maker&f) { moves(f, 'y', of_frames); });
  EXPECT_TRUE(says(refusal([&] { still.info({.reversed_motion = {.up = true}}); }),
                   {"--reverse-motion along-axis: the scan records no such motion"}));
  EXPECT_TRUE(says(refusal([&] { climbs.info({.reversed_motion = {.across = true}}); }),
                   {"--reverse-motion across-beam: the scan records no such motion"}));
}

/// Views of parallel rays are moved back the other way.
TEST(NXtomoFields, MotionsAcrossParallelRaysMayGoTheOtherWay) {
  const SaidScan across([](Maker& f) { moves(f, 'x', of_frames); });
  EXPECT_EQ(shifts_of(across.info({.reversed_motion = {.across = true}})),
            (std::vector<double>{0, 1, 0, -2}));
}

/// Parallel rays are shifted; from a source the sample is where it was: across from the first view, whose
/// axis is recorded, and along the beam.
TEST(NXtomoFields, TheSampleOfAConeMovesForSolvers) {
  const SaidScan scan([](Maker& f) { moves(f, 'x', of_frames), moves(f, 'z', of_frames); }, 2);
  const io::OpenOptions cone{.sod_mm = 10, .sdd_mm = 20};
  const io::ScanInfo info = scan.info(cone);
  EXPECT_TRUE(
      says(notes_of(info), {"x_translation: the sample moves across the beam by 0.006 mm", "for solvers"}));
  EXPECT_TRUE(says(notes_of(info), {"count for solvers; fdk leaves them out"}));
  EXPECT_FALSE(info.is_no_circle);
  ASSERT_EQ(info.off_circle.moves.size(), 4u);
  const std::vector<double> from_first{0, -0.002, 0, 0.004};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(info.off_circle.moves[k][0], from_first[k], 1e-12);
    EXPECT_NEAR(info.off_circle.moves[k][1], from_first[k], 1e-12);
    EXPECT_EQ(info.off_circle.moves[k][2], 0);
  }
}

/// Flats of another file may lie in one whose views are helical.
TEST(NXtomoFields, AHelixMayHoldFlats) {
  const SaidScan helix([](Maker& f) { moves(f, 'y', of_frames); });
  const SaidScan scan([](Maker&) {});
  const auto reader = io::open_scan(scan.folder() / "scan.nxs", {.flats = {helix.folder() / "scan.nxs"}});
  EXPECT_EQ(reader->info().flats, 4);
}

TEST(NXtomoFields, TextInThePlaceOfANumberIsLeftOutAndSaid) {
  for (const std::string& path :
       {detector + "/x_pixel_size", detector + "/distance", entry + "/instrument/beam/incident_energy",
        detector + "/x_rotation_axis_pixel_position", sample + "/x_pixel_size", detector + "/count_time",
        sample + "/x_translation", entry + "/instrument/source/distance", entry + "/control/data",
        detector + "/transformations/ry", sample + "/propagation_distance", detector + "/tomo_n"}) {
    const SaidScan scan([&](Maker& f) {
      if (path.ends_with("x_pixel_size") && path.starts_with(detector)) f.remove(path);
      if (path.ends_with("position")) f.remove(path);
      f.text(path, "about 3");
    });
    EXPECT_TRUE(says(scan.notes(), {path + " is left out: it holds no numbers"})) << path;
  }
}

TEST(NXtomoFields, ThoseThatAreNotObeyedAreSaid) {
  const auto said = [](const std::string& path, double value) {
    return SaidScan([&](Maker& f) { one(f, entry + "/" + path, value); }).notes();
  };
  for (const std::string path :
       {"instrument/detector/y_rotation_axis_pixel_position", "instrument/detector/polar_angle",
        "instrument/detector/azimuthal_angle", "instrument/detector/rotation_z", "sample/transformations/rx",
        "sample/transformations/ry", "sample/transformations/rz", "instrument/detector/transformations/tx",
        "instrument/detector/transformations/ty", "instrument/detector/transformations/tz",
        "instrument/detector/flatfield_applied"}) {
    EXPECT_TRUE(says(said(path, 3), {"scan.nxs: " + path + " = 3 is left out: "})) << path;
    EXPECT_FALSE(says(said(path, 0), {path})) << path;
  }
  EXPECT_TRUE(says(said("group_size", 5), {"group_size = 5 is left out"}));
  EXPECT_FALSE(says(said("group_size", 1), {"group_size"}));
  EXPECT_TRUE(says(said("instrument/detector/tomo_n", 6), {"4 of the 6 planned views are there"}));
  EXPECT_FALSE(says(said("instrument/detector/tomo_n", 4), {"planned"}));
  EXPECT_TRUE(says(said("instrument/detector/transformations/rx", 30),
                   {"rx = 30 deg is left out", "the sign of a lean is open: give --detector-roll"}));
}

TEST(NXtomoFields, FlipsOfNewFilesFollowNeXus) {
  const auto turned = [](const std::string& units, double angle) {
    const SaidScan scan([&](Maker& f) {
      f.remove(entry + "/instrument/detector/y_pixel_size");
      f.attribute(entry, "NeXus_Coordinate_System", "McStas");
      one(f, detector + "/transformations/ry", angle, units);
    });
    return values(
        io::open_scan(scan.folder() / "scan.nxs")->read(FrameKind::projection, {0, 1}, {0, 1}, {0, 5}));
  };
  const std::vector<double> columns{pixel(0, 0, 4), pixel(0, 0, 3), pixel(0, 0, 2), pixel(0, 0, 1),
                                    pixel(0, 0, 0)};
  EXPECT_EQ(turned("deg", 180), columns);
  EXPECT_EQ(turned("rad", std::numbers::pi), columns);
}

TEST(NXtomoFields, SequenceNumbersAreTheTimesOfFrames) {
  const SaidScan scan([](Maker& f) {
    f.numbers(detector + "/sequence_number", "u32", {9}, {8, 7, 6, 5, 4, 3, 2, 1, 0});
  });
  EXPECT_EQ(scan.info().times.views, (std::vector<double>{6, 5, 2, 1}));
  EXPECT_EQ(scan.info().times.flats, (std::vector<double>{7, 4}));
}

TEST(NXtomoFields, LinksThatDangleOrAreAbsoluteAreNamed) {
  const auto linked = [](const std::string& path) {
    return SaidScan([&](Maker& f) { f.remove(path).external_link(path, "lost.h5", "/there"); });
  };
  EXPECT_TRUE(says(linked(detector + "/data").refusal(), {"detector/data: links to lost.h5, which cannot"}));
  const SaidScan keys([](Maker& f) {
    f.remove(detector + "/image_key_control").remove(detector + "/image_key");
    f.external_link(detector + "/image_key", "lost.h5", "/there");
  });
  EXPECT_TRUE(says(keys.refusal(), {"image_key: links to lost.h5"}));
  EXPECT_TRUE(says(linked(sample + "/rotation_angle").refusal(),
                   {"rotation_angle, which links to lost.h5", "missing; give --angles"}));
  EXPECT_TRUE(says(linked(detector + "/x_pixel_size").notes(),
                   {"x_pixel_size is left out: it links to lost.h5, which cannot be opened"}));
  EXPECT_TRUE(
      says(linked(detector).refusal(), {"lies behind /entry/instrument/detector, a link to lost.h5"}));

  const TemporaryFolder folder;
  write_nxtomo(folder / "whole.nxs", entry);
  Maker(folder / "linked.nxs").external_link("/entry", (folder / "whole.nxs").string(), "/entry");
  EXPECT_TRUE(says(notes_of(io::open_scan(folder / "linked.nxs")->info()),
                   {"/entry links to " + (folder / "whole.nxs").string(), "absolute"}));
  write_data_exchange(folder / "whole.h5");
  Maker(folder / "linked.h5").external_link("/exchange", (folder / "whole.h5").string(), "/exchange");
  EXPECT_TRUE(says(notes_of(io::open_scan(folder / "linked.h5")->info()),
                   {"/exchange links to " + (folder / "whole.h5").string(), "absolute"}));
  Maker(folder / "lost.nxs").external_link("/entry", "gone.nxs", "/entry");
  EXPECT_TRUE(
      says(refusal_of(folder / "lost.nxs"), {"is no scan", "/entry links to gone.nxs, which cannot"}));
  Maker(folder / "other.nxs").external_link("/entry", "whole.nxs", "/nowhere");
  EXPECT_TRUE(says(refusal_of(folder / "other.nxs"), {"/entry links to whole.nxs, where /nowhere cannot"}));
}

TEST(NXtomoFields, OtherUnitsThanThoseOfAnglesAreRefused) {
  const auto with_unit = [](const char* unit) {
    return SaidScan([=](Maker& f) { f.attribute(sample + "/rotation_angle", "units", unit); });
  };
  for (const char* unit : {"degC", "rad/s", "deg/s", "radish"})
    EXPECT_TRUE(says(with_unit(unit).refusal(), {std::string("units = \"") + unit + "\" is no angle"}));
  for (const char* unit : {"degree", "Degrees", "deg", "rad", "radians", "\u00b0"})
    EXPECT_EQ(angles_of(with_unit(unit).info().scan).size(), 4u);
}

}  // namespace tandem::test
