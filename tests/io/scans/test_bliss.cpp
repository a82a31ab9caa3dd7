// Fields of BLISS files: what the configuration names, which motor turns, and what moves while views are
// taken.

#include <cmath>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using Maker = Hdf5Maker;

namespace {

const std::string config = "/1.1/technique/tomoconfig/";

/// Darks, flats and two entries of views of a camera "frelon", and what is said beside them. Pitch 2 microns.
class SaidScan {
 public:
  explicit SaidScan(const std::function<void(Maker&)>& say) : path_(folder_ / "raw.h5") {
    Maker file(path_);
    file.text("/1.1/title", "tomo:halfturn");
    add(file, "2.1", "dark images", 20, 1);
    add(file, "3.1", "reference images 1", 30, 1);
    add(file, "4.1", "projections 1", 0, 3);
    add(file, "5.1", "projections 2", 3, 2);
    file.numbers("/1.1/technique/optic/sample_pixel_size", "f64", {}, {2});
    say(file);
  }
  io::ScanInfo info(const io::OpenOptions& options = {}) const {
    return io::open_scan(path_, options)->info();
  }
  std::string notes() const { return notes_of(info()); }
  std::string refusal(const io::OpenOptions& options = {}) const { return refusal_of(path_, options); }
  std::unique_ptr<io::ScanReader> open() const { return io::open_scan(path_); }

 private:
  static void add(Maker& file, const std::string& name, const std::string& title, std::size_t first,
                  unsigned long long count) {
    file.text("/" + name + "/title", title);
    file.numbers("/" + name + "/measurement/frelon", "u16", {count, rows, bins}, frames(first, count));
  }
  TemporaryFolder folder_;
  fs::path path_;
};

/// Positions in both entries of views.
void motor(Maker& file, const std::string& name, const std::vector<double>& first,
           const std::vector<double>& second, const std::string& units = "") {
  file.numbers("/4.1/measurement/" + name, "f64", {first.size()}, first);
  file.numbers("/5.1/measurement/" + name, "f64", {second.size()}, second);
  if (units.empty()) return;
  file.attribute("/4.1/measurement/" + name, "units", units);
  file.attribute("/5.1/measurement/" + name, "units", units);
}

void turns(Maker& file) { motor(file, "srot", {0, 30, 60}, {90, 120}); }

std::vector<double> degrees_of(const io::ScanInfo& info) {
  std::vector<double> degrees;
  for (const double angle : angles_of(info.scan))
    degrees.push_back(std::round(angle * 180 / std::numbers::pi));
  return degrees;
}

std::vector<double> shifts_of(const io::ScanInfo& info) {
  return std::get<ParallelBeam>(info.scan).view_shift_bins;
}

const std::vector<double> forward{0, 30, 60, 90, 120}, backward{-0.0, -30, -60, -90, -120};

}  // namespace

TEST(BlissFields, TheConfigurationNamesTheMotorThatTurns) {
  for (const bool as_list : {false, true}) {
    const SaidScan scan([&](Maker& f) {
      motor(f, "hrsrot", {7, 7, 7}, {7, 7});
      motor(f, "turntable", {0, 30, 60}, {90, 120}), motor(f, "arot", {0, 3, 6}, {9, 400});
      if (as_list)
        f.texts(config + "rotation", {"turntable", "alias"});
      else
        f.text(config + "rotation", "[\"turntable\", \"alias\"]");
    });
    EXPECT_EQ(degrees_of(scan.info()), forward);
  }
  const SaidScan technique([](Maker& f) {
    motor(f, "turntable", {0, 30, 60}, {90, 120}), motor(f, "arot", {0, 30, 6}, {9, 400});
    f.texts("/1.1/technique/scan/motor", {"rotation", "turntable", "x"});
  });
  EXPECT_EQ(degrees_of(technique.info()), forward);
}

TEST(BlissFields, AClockwiseRotationCountsBackwards) {
  const auto said = [](const std::function<void(Maker&)>& say) {
    return degrees_of(SaidScan([&](Maker& f) { turns(f), say(f); }).info());
  };
  const std::string path = config + "rotation_is_clockwise";
  EXPECT_EQ(said([&](Maker& f) { f.flag(path, true); }), backward);
  EXPECT_EQ(said([&](Maker& f) { f.text(path, "True"); }), backward);
  EXPECT_EQ(said([&](Maker& f) { f.numbers(path, "u8", {}, {1}); }), backward);
  EXPECT_EQ(said([&](Maker& f) { f.flag(path, false); }), forward);
  EXPECT_EQ(said([&](Maker& f) { f.text(path, "False"); }), forward);
}

TEST(BlissFields, TranslationsAreNoRotations) {
  const SaidScan scan([](Maker& f) {
    turns(f);
    motor(f, "hrz", {0, 0, 0}, {0, 0}), motor(f, "aayrot", {5, 5, 5}, {5, 5}, "mm");
  });
  EXPECT_EQ(degrees_of(scan.info()), forward);
}

TEST(BlissFields, WithoutAConfigurationTheMotorThatTurnsMostIsTaken) {
  const SaidScan scan([](Maker& f) { turns(f), motor(f, "abrot", {0, 1, 2}, {3, 4}); });
  EXPECT_EQ(degrees_of(scan.info()), forward);
  const SaidScan alias([](Maker& f) { turns(f), motor(f, "abrot", {0, 30, 60}, {90, 120}); });
  EXPECT_EQ(degrees_of(alias.info()), forward);
  const SaidScan two([](Maker& f) { turns(f), motor(f, "abrot", {10, 50, 90}, {130, 170}); });
  EXPECT_TRUE(says(two.refusal(), {"raw.h5: /4.1/measurement: abrot and srot", "--angles FILE"}));
  EXPECT_EQ(angles_of(two.info({.arc_deg = 180}).scan).size(), 5u);
}

TEST(BlissFields, ScansOfTheMotorThatTurnsAreViews) {
  for (const auto& [title, count] : {std::pair{"ascan rot 0 150 5 0.1", 7},
                                     {"ascan diffrz 0 180 1600 0.1", 7},
                                     {"ascan diffrz 180 0 4 0.1", 5},
                                     {"ascan sy 0 1 5 0.1", 5}}) {
    const SaidScan scan([&](Maker& file) {
      turns(file);
      file.text("/6.1/title", title);
      file.numbers("/6.1/measurement/frelon", "u16", {2, rows, bins}, frames(5, 2));
      file.numbers("/6.1/measurement/srot", "f64", {2}, {150, 180});
    });
    EXPECT_EQ(static_cast<int>(angles_of(scan.info().scan).size()), count) << title;
  }
}

/// A further entry of views.
void add_views(Maker& file, const std::string& name, std::size_t first, const std::vector<double>& degrees) {
  file.text("/" + name + "/title", "projections");
  file.numbers("/" + name + "/measurement/frelon", "u16", {degrees.size(), rows, bins},
               frames(first, degrees.size()));
  file.numbers("/" + name + "/measurement/srot", "f64", {degrees.size()}, degrees);
}

TEST(BlissFields, ViewsThatComeAgainAreTakenOnce) {
  const SaidScan again([](Maker& f) { turns(f), add_views(f, "6.1", 5, {0.1, 30.1, 59.9, 90, 120}); });
  EXPECT_EQ(all_of(*again.open(), FrameKind::projection), frames(5, 5));
  EXPECT_EQ(degrees_of(again.info()), forward);
  EXPECT_TRUE(
      says(again.notes(), {"/4.1 (0 to 60 degrees) and /6.1 (0.1 to 120 degrees) have views of the same",
                           "/4.1 is left out", "/5.1 is left out"}));
  const SaidScan some([](Maker& f) { turns(f), add_views(f, "6.1", 5, {30, 60, 90}); });
  EXPECT_TRUE(
      says(some.refusal(), {"raw.h5: /4.1 (0 to 60 degrees) and /6.1 (30 to 90 degrees) have views of "
                            "the same angles; make an NXtomo"}));
}

TEST(BlissFields, EntriesThatGoOnOrLieBetweenAreOneScan) {
  const auto seen_with = [](const std::function<void(Maker&)>& say) {
    return angles_of(SaidScan([&](Maker& f) { turns(f), say(f); }).info().scan).size();
  };
  EXPECT_EQ(seen_with([](Maker& f) { add_views(f, "6.1", 5, {120, 150, 180}); }), 8u);
  EXPECT_EQ(seen_with([](Maker& f) { add_views(f, "6.1", 5, {15, 45, 75, 105}); }), 9u);
  EXPECT_EQ(seen_with([](Maker& f) {  // at another height
              add_views(f, "6.1", 5, {0, 30, 60, 90, 120});
              for (const char* entry : {"/4.1", "/5.1", "/6.1"})
                f.numbers(entry + std::string("/instrument/positioners/sz"), "f64", {},
                          {entry == std::string("/6.1") ? 1.0 : 0.0});
            }),
            10u);
}

TEST(BlissFields, OnePositionMoreThanFramesIsThatAfterTheLast) {
  const SaidScan scan([](Maker& f) { motor(f, "srot", {0, 30, 60, 90}, {90, 120, 150}); });
  EXPECT_EQ(degrees_of(scan.info()), forward);
}

TEST(BlissFields, TheConfigurationNamesTheCamera) {
  const auto two = [](Maker& f) {
    turns(f);
    for (const char* name : {"2.1", "3.1", "4.1", "5.1"}) {
      const auto count = static_cast<unsigned long long>(name[0] < '4' ? 1 : name[0] == '4' ? 3 : 2);
      f.numbers(std::string("/") + name + "/measurement/basler", "u16", {count, rows, bins},
                frames(50, count));
    }
  };
  const SaidScan unsaid(two);
  EXPECT_TRUE(says(unsaid.notes(), {"/measurement/basler and /2.1/measurement/frelon", "the first one"}));
  const SaidScan scan([&](Maker& f) { two(f), f.text(config + "detector", "['frelon']"); });
  EXPECT_EQ(all_of(*scan.open(), FrameKind::projection), frames(0, 5));
  EXPECT_FALSE(says(scan.notes(), {"basler"}));
}

TEST(BlissFields, ViewsMoveBackWhereTheStageMovesAcrossTheBeam) {
  // 3, 1, 3, 7 and 5 microns, 1.5, 0.5, ... bins
  const SaidScan scan([](Maker& f) {
    turns(f);
    f.text(config + "translation_y", "ty"), motor(f, "ty", {0.003, 0.001, 0.003}, {0.007, 0.005}, "mm");
  });
  const std::vector<double> expected{1.5, 0.5, 1.5, 3.5, 2.5};
  ASSERT_EQ(shifts_of(scan.info()).size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(shifts_of(scan.info())[k], expected[k], 1e-12);
  // without a configuration by its usual name; positioners stand still within an entry
  const SaidScan still([](Maker& f) {
    turns(f);
    f.numbers("/4.1/instrument/positioners/yrot", "f64", {}, {0.0})
        .numbers("/5.1/instrument/positioners/yrot", "f64", {}, {0.008});
  });
  EXPECT_EQ(shifts_of(still.info()), (std::vector<double>{0, 0, 0, 4, 4}));
}

TEST(BlissFields, AStageThatStandsAsideIsSaid) {
  const SaidScan scan([](Maker& f) {
    turns(f);
    for (const char* entry : {"/4.1", "/5.1"})
      f.numbers(entry + std::string("/instrument/positioners/yrot"), "f64", {}, {0.02});
  });
  EXPECT_TRUE(says(scan.notes(), {"yrot stands 10 bins aside", "--rotation-axis"}));
  EXPECT_TRUE(shifts_of(scan.info()).empty());
}

TEST(BlissFields, AHelixMovesTheSampleAndMotionAlongTheBeamIsSaid) {
  const auto moving = [](const char* key) {
    return SaidScan([=](Maker& f) {
      turns(f);
      f.text(config + key, "t"), motor(f, "t", {0, 0.01, 0.02}, {0.03, 0.04}, "mm");
    });
  };
  const io::ScanInfo helix = moving("translation_z").info();
  EXPECT_TRUE(says(notes_of(helix), {"t: the sample moves along the axis by 0.04 mm", "for solvers"}));
  EXPECT_TRUE(helix.is_no_circle);
  ASSERT_EQ(helix.off_circle.moves.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(helix.off_circle.moves[k][2], 0.02 - 0.01 * static_cast<double>(k), 1e-12);
  EXPECT_TRUE(says(moving("translation_x").notes(), {"t: the sample moves along the beam by 0.04 mm"}));
  EXPECT_TRUE(says(moving("sample_x").notes(), {"t: the sample moves along the beam by 0.04 mm"}));
  EXPECT_NEAR(shifts_of(moving("sample_y").info())[4], 20, 1e-9);
}

TEST(BlissFields, CountsAreDividedByTimesOfExposureThatDiffer) {
  const SaidScan scan([](Maker& f) {
    turns(f);
    const std::string of_camera = "/instrument/frelon/acq_parameters/acq_expo_time";
    for (const char* entry : {"/4.1", "/5.1"}) f.numbers(entry + of_camera, "f64", {}, {0.2});
    f.numbers("/2.1" + of_camera, "f64", {}, {0.1}).numbers("/3.1" + of_camera, "f64", {1}, {0.1});
  });
  EXPECT_EQ(scan.info().exposures.views, std::vector<double>(5, 0.2));
  EXPECT_EQ(scan.info().exposures.flats, std::vector<double>(1, 0.1));
  EXPECT_TRUE(says(scan.notes(), {"acq_expo_time: views of 0.2, flats of 0.1: counts are divided"}));
}

TEST(BlissFields, HasDistancesPitchesAndTheHalfOfAnAcquisition) {
  const std::string technique = "/1.1/technique/";
  const SaidScan scan([&](Maker& f) {
    turns(f);
    f.remove(technique + "optic/sample_pixel_size");
    f.numbers(technique + "optic/sample_pixel_size", "f64", {2}, {2, 3});
    f.numbers(technique + "scan/sample_detector_distance", "f64", {}, {100});
    f.numbers(technique + "scan/source_sample_distance", "f64", {}, {145000});
    f.numbers(technique + "scan/effective_propagation_distance", "f64", {}, {99});
    f.flag(technique + "scan/half_acquisition", true);
    f.numbers(technique + "scan/nb_scans", "i32", {}, {3});
    f.numbers(technique + "proj/nb_turns", "i32", {}, {2})
        .numbers(technique + "proj/nb_loop", "i32", {}, {4});
  });
  EXPECT_DOUBLE_EQ(scan.info().pixel_size_mm.value(), 0.002);
  EXPECT_DOUBLE_EQ(detector_of(scan.info().scan).row_pitch, 0.003);
  EXPECT_DOUBLE_EQ(scan.info().propagation_mm.value(), 99);
  EXPECT_EQ(scan.info().field_of_view, io::FieldOfView::doubled);
  EXPECT_TRUE(says(scan.notes(), {"half_acquisition", "the source is 145000 mm before the sample"}));
  EXPECT_TRUE(says(scan.notes(), {"technique/scan/nb_scans = 3"}));
  EXPECT_TRUE(says(scan.notes(), {"technique/proj/nb_turns = 2"}));
  EXPECT_TRUE(says(scan.notes(), {"technique/proj/nb_loop = 4"}));
}

/// A source that is near enough to be seen: 5 bins of 4 microns, and an sdd of 12 microns.
TEST(BlissFields, ANearSourceMakesAConeWithThePitchOfTheDetector) {
  const std::string technique = "/1.1/technique/";
  const SaidScan scan([&](Maker& f) {
    turns(f);
    f.numbers(technique + "optic/optics_pixel_size", "f64", {}, {4});
    f.numbers(technique + "scan/sample_detector_distance", "f64", {}, {6e-3});
    f.numbers(technique + "scan/source_sample_distance", "f64", {}, {6e-3});
    f.text(technique + "scan/field_of_view", "Half");
  });
  EXPECT_EQ(kind_of(scan.info().scan), ConeBeam::kind);
  EXPECT_DOUBLE_EQ(scan.info().pixel_size_mm.value(), 0.004);
  EXPECT_EQ(scan.info().field_of_view, io::FieldOfView::doubled);
  const SaidScan far(
      [&](Maker& f) { turns(f), f.numbers(technique + "scan/propagation_distance", "f64", {}, {98}); });
  EXPECT_DOUBLE_EQ(far.info().propagation_mm.value(), 98);
}

TEST(BlissFields, MirroredImagesAreTurnedBack) {
  const SaidScan scan([](Maker& f) {
    turns(f);
    f.numbers("/1.1/technique/detector/frelon/flipping", "u8", {2}, {1, 0});
  });
  EXPECT_EQ(
      values(scan.open()->read(FrameKind::projection, {0, 1}, {0, 1}, {0, 5})),
      (std::vector<double>{pixel(0, 0, 4), pixel(0, 0, 3), pixel(0, 0, 2), pixel(0, 0, 1), pixel(0, 0, 0)}));
  EXPECT_TRUE(says(scan.notes(), {"flipping", "turned back"}));
  const SaidScan rows_only([](Maker& f) {
    turns(f);
    f.numbers("/1.1/technique/detector/flipping", "u8", {2}, {0, 1});
  });
  EXPECT_EQ(values(rows_only.open()->read(FrameKind::projection, {0, 1}, {0, 1}, {0, 1})),
            std::vector<double>(1, pixel(0, 2, 0)));
}

TEST(BlissFields, ACameraBehindALostLinkIsNamed) {
  const SaidScan scan([](Maker& f) {
    turns(f);
    f.remove("/4.1/measurement/frelon").external_link("/4.1/measurement/frelon", "lost.h5", "/frames");
  });
  EXPECT_TRUE(says(scan.refusal(), {"has no frames", "/4.1/measurement/frelon", "links to lost.h5"}));
}

}  // namespace tandem::test
