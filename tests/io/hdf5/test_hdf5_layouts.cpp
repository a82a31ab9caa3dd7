// Layouts of HDF5 beside DXchange and the plain NXtomo: geometry and energy in NXtomo, CIL, times.

#include <cmath>
#include <fstream>
#include <numbers>

#include "../../../io/volumes/volume_file.hpp"
#include "../../support/flexible_scans.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

constexpr double degree = std::numbers::pi / 180;

void expect_degrees(const io::ScanInfo& info, const std::vector<double>& expected) {
  const std::vector<double>& angles = angles_of(info.scan);
  ASSERT_EQ(angles.size(), expected.size());
  for (std::size_t k = 0; k < angles.size(); ++k)
    EXPECT_NEAR(std::remainder(angles[k] / degree - expected[k], 360), 0, 1e-5) << k;
}

const std::string entry = "/entry1/tomo_entry";

}  // namespace

TEST(NXtomoGeometry, HasEnergyAndDistance) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "a.nxs");
  Hdf5Maker(folder / "a.nxs", true)
      .numbers(entry + "/instrument/beam/incident_energy", "f64", {}, {19500})
      .attribute(entry + "/instrument/beam/incident_energy", "units", "eV")
      .numbers(entry + "/instrument/detector/distance", "f64", {}, {0.25});
  const auto reader = io::open_scan(folder / "a.nxs");
  EXPECT_DOUBLE_EQ(reader->info().energy_kev.value(), 19.5);
  EXPECT_DOUBLE_EQ(reader->info().propagation_mm.value(), 250);
  EXPECT_EQ(kind_of(reader->info().scan), ParallelBeam::kind);
}

TEST(NXtomoGeometry, TakesANearSourceForACone) {
  const TemporaryFolder folder;
  const auto with_source = [&](const std::string& name, double metres) {
    write_nxtomo(folder / name);
    Hdf5Maker(folder / name, true)
        .numbers(entry + "/instrument/detector/distance", "f64", {}, {0.01})
        .numbers(entry + "/instrument/source/distance", "f64", {}, {metres});
    return io::open_scan(folder / name);
  };
  // 5 bins of 2 microns: rays to the edge are 2.5 bins * 5 microns / sdd off, one bin at an sdd of 12.5
  // microns
  const auto far = with_source("far.nxs", -55);
  EXPECT_EQ(kind_of(far->info().scan), ParallelBeam::kind);
  EXPECT_TRUE(says(notes_of(far->info()),
                   {"the source is 55000 mm before the sample; the beam is taken as parallel"}));
  write_nxtomo(folder / "near.nxs");
  Hdf5Maker(folder / "near.nxs", true)
      .numbers(entry + "/instrument/detector/distance", "f64", {}, {6e-6})
      .numbers(entry + "/instrument/source/distance", "f64", {}, {-6e-6});
  const auto near = io::open_scan(folder / "near.nxs");
  EXPECT_EQ(kind_of(near->info().scan), ConeBeam::kind);
  EXPECT_DOUBLE_EQ(point_source_of(near->info().scan).sod, 6e-3);
  EXPECT_DOUBLE_EQ(point_source_of(near->info().scan).sdd, 12e-3);
}

TEST(NXtomoGeometry, LeavesOutAnEnergyWithoutAKnownUnit) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "a.nxs");
  Hdf5Maker(folder / "a.nxs", true)
      .numbers(entry + "/instrument/beam/incident_energy", "f64", {}, {19500})
      .attribute(entry + "/instrument/beam/incident_energy", "units", "furlong");
  const auto reader = io::open_scan(folder / "a.nxs");
  EXPECT_FALSE(reader->info().energy_kev);
  EXPECT_TRUE(
      says(notes_of(reader->info()), {"incident_energy is left out: units = \"furlong\" is no energy"}));
}

TEST(DataExchangeGeometry, TakesThePitchBehindTheObjective) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "a.h5");
  Hdf5Maker(folder / "a.h5", true)
      .numbers("/measurement/instrument/detector/pixel_size_x", "f64", {}, {3.45})
      .attribute("/measurement/instrument/detector/pixel_size_x", "units", "microns")
      .numbers("/measurement/instrument/monochromator/energy", "f64", {1}, {27});
  EXPECT_DOUBLE_EQ(io::open_scan(folder / "a.h5")->info().pixel_size_mm.value(), 0.00345);
  Hdf5Maker(folder / "a.h5", true)
      .numbers("/measurement/instrument/detection_system/objective/resolution", "f64", {1}, {0.69});
  const auto reader = io::open_scan(folder / "a.h5");
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.00069);
  EXPECT_DOUBLE_EQ(detector_of(reader->info().scan).row_pitch, 0.00069);
  EXPECT_DOUBLE_EQ(reader->info().energy_kev.value(), 27);
}

TEST(DataExchangeFields, FlatsOfAnotherExposureAreScaledWhereTheFileSaysSo) {
  const TemporaryFolder folder;
  const auto exposures = [&](const char* differ, const char* where) {
    write_data_exchange(folder / "a.h5");
    Hdf5Maker(folder / "a.h5", true)
        .numbers("/measurement/instrument/detector/exposure_time", "f64", {1}, {0.2})
        .text("/process/acquisition/flat_fields/different_flat_exposure", differ)
        .numbers(where, "f64", {1}, {0.1});
    return io::open_scan(folder / "a.h5")->info().exposures;
  };
  for (const char* where : {"/measurement/instrument/detector/exposure_time_flat",
                            "/process/acquisition/flat_fields/flat_exposure_time",
                            "/measurement/instrument/detector/brightfield_exposure_time"}) {
    EXPECT_EQ(exposures("Different", where).views, std::vector<double>(views, 0.2));
    EXPECT_FALSE(exposures("Different", where).flats.empty());
    EXPECT_EQ(exposures("Different", where).flats.front(), 0.1);
    EXPECT_TRUE(exposures("Same", where).views.empty());
  }
}

TEST(DataExchangeFields, ThoseThatAreNotObeyedAreSaid) {
  const TemporaryFolder folder;
  for (const std::string path :
       {"detection_system/objective/magnification", "detector/binning_x", "detector/binning_y"}) {
    write_data_exchange(folder / "a.h5");
    Hdf5Maker(folder / "a.h5", true).numbers("/measurement/instrument/" + path, "f64", {1}, {4});
    EXPECT_TRUE(says(notes_of(io::open_scan(folder / "a.h5")->info()), {path + " = 4 is left out"}));
  }
}

TEST(DataExchangeTimes, AreReadOneByOne) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "a.h5")
      .numbers("/exchange/data", "u16", {3, 2, rows, bins}, frames(0, 6))
      .numbers("/exchange/data_white", "u16", {1, rows, bins}, frames(9, 1))
      .numbers("/exchange/theta", "f64", {2}, {0, 90});
  EXPECT_TRUE(says(refusal_of(folder / "a.h5"), {"/exchange/data: has 3 times; give --time K, from 0 to 2"}));
  EXPECT_TRUE(says(refusal_of(folder / "a.h5", {.time = 3}), {"has 3 times"}));
  for (const std::size_t time : {0u, 1u, 2u})
    EXPECT_EQ(
        all_of(*io::open_scan(folder / "a.h5", {.time = static_cast<Index>(time)}), FrameKind::projection),
        frames(2 * time, 2));
  write_data_exchange(folder / "b.h5");
  EXPECT_TRUE(says(refusal_of(folder / "b.h5", {.time = 0}), {"b.h5: has no times; leave out --time"}));
}

TEST(TiffTimes, AreReadOneByOne) {
  const TemporaryFolder folder;
  std::vector<std::vector<double>> pages;
  for (std::size_t k = 0; k < 6; ++k) pages.push_back(frames(k, 1));
  for (const char* text : {"ImageJ=1.53t\nimages=6\nslices=3\nframes=2\n", "{\"shape\": [2, 3, 3, 5]}"}) {
    write_tiff_pages(folder / "a.tif", pages, {.description = text});
    EXPECT_TRUE(says(refusal_of(folder / "a.tif", {.arc_deg = 180}),
                     {"a.tif: has 2 times of 3 views; give --time K"}));
    EXPECT_EQ(all_of(*io::open_scan(folder / "a.tif", {.arc_deg = 180, .time = 1}), FrameKind::projection),
              frames(3, 3));
  }
}

namespace {

/// A scan as CIL writes it: cone beam, 4 views of 3 rows and 5 bins.
void write_cil(const fs::path& path, const std::string& origin = "bottom-left", double axis_x = 0) {
  const std::string config = entry + "/config/";
  Hdf5Maker file(path);
  file.numbers(entry + "/data/data", "f32", {views, rows, bins}, frames(0, views))
      .attribute(entry + "/data/data", "data_type", "AcquisitionData", true)
      .attribute(entry + "/data/data", "geometry", "cone", true)
      .attribute(entry + "/data/data", "dim0", "angle", true)
      .attribute(entry + "/data/data", "dim1", "vertical", true)
      .attribute(entry + "/data/data", "dim2", "horizontal", true)
      .attribute(entry + "/data/data", "panel_origin", origin, true)
      .number_attribute(entry + "/data/data", "pixel_size_h", 0.5)
      .number_attribute(entry + "/data/data", "pixel_size_v", 0.25)
      .numbers(config + "source/position", "f32", {3}, {0, -100, 0})
      .numbers(config + "detector/position", "f32", {3}, {0, 300, 0})
      .numbers(config + "detector/direction_x", "f32", {3}, {1, 0, 0})
      .numbers(config + "detector/direction_y", "f32", {3}, {0, 0, 1})
      .numbers(config + "rotation_axis/position", "f32", {3}, {axis_x, 0, 0})
      .numbers(config + "rotation_axis/direction", "f32", {3}, {0, 0, 1})
      .numbers(config + "angles", "f32", {views}, {0, 30, 60, 90})
      .attribute(config + "angles", "angle_unit", "degree", true)
      .number_attribute(config + "angles", "initial_angle", 10);
}

}  // namespace

TEST(Cil, ConeBeamHasItsConfiguration) {
  const TemporaryFolder folder;
  write_cil(folder / "a.nxs");
  const auto reader = io::open_scan(folder / "a.nxs");
  EXPECT_EQ(reader->info().format, "CIL");
  const ConeBeam& cone = point_source_of(reader->info().scan);
  EXPECT_NEAR(cone.sod, 100, 1e-9);
  EXPECT_NEAR(cone.sdd, 400, 1e-9);
  EXPECT_NEAR(cone.detector.bin_pitch, 0.5, 1e-12);
  EXPECT_NEAR(cone.detector.row_pitch, 0.25, 1e-12);
  EXPECT_NEAR(cone.detector.axis_bin, 2, 1e-9);
  EXPECT_NEAR(cone.midplane_row, 1, 1e-9);
  expect_degrees(reader->info(), {-10, -40, -70, -100});  // the sample turns, so the source goes back
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
}

TEST(Cil, ColumnsFromTheRightTurnTheOtherWay) {
  const TemporaryFolder folder;
  write_cil(folder / "a.nxs", "top-right", 0.05);
  const auto reader = io::open_scan(folder / "a.nxs");
  // the axis lies 0.05 to the right of the middle, 0.2 on the detector, and columns count from the right
  EXPECT_NEAR(detector_of(reader->info().scan).axis_bin, 2 - 0.2 / 0.5, 1e-5);
  const double shift = std::atan2(0.05, 100) / degree;  // the source as seen from the axis
  expect_degrees(reader->info(), {10 + shift, 40 + shift, 70 + shift, 100 + shift});
}

TEST(Cil, ParallelBeamOfOneRow) {
  const TemporaryFolder folder;
  const std::string config = entry + "/config/";
  Hdf5Maker(folder / "a.nxs")
      .numbers(entry + "/data/data", "f32", {3, 5}, frames(0, 1))
      .attribute(entry + "/data/data", "data_type", "AcquisitionData", true)
      .attribute(entry + "/data/data", "dim0", "angle", true)
      .attribute(entry + "/data/data", "dim1", "horizontal", true)
      .number_attribute(entry + "/data/data", "pixel_size_h", 0.5)
      .numbers(config + "ray/direction", "f32", {2}, {0, 1})
      .numbers(config + "detector/position", "f32", {2}, {0.25, 0})
      .numbers(config + "detector/direction_x", "f32", {2}, {1, 0})
      .numbers(config + "rotation_axis/position", "f32", {2}, {0, 0})
      .numbers(config + "angles", "f32", {3}, {0, 1, 2})
      .attribute(config + "angles", "angle_unit", "radian", true);
  const auto reader = io::open_scan(folder / "a.nxs");
  EXPECT_EQ(kind_of(reader->info().scan), ParallelBeam::kind);
  EXPECT_EQ(detector_of(reader->info().scan).rows, 1);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1));
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.5);
  EXPECT_NEAR(reader->info().axis_bin.value(), 2 - 0.25 / 0.5, 1e-9);
  expect_degrees(reader->info(), {0, -1 / degree, -2 / degree});
}

/// CIL's spectral data have channels, each a scan of one row or of several.
TEST(Cil, ChannelsAreReadOneByOne) {
  const TemporaryFolder folder;
  const std::string config = entry + "/config/";
  const auto write = [&](bool one_row) {
    const std::vector<unsigned long long> extents =
        one_row ? std::vector<unsigned long long>{2, 3, 5} : std::vector<unsigned long long>{2, 3, 3, 5};
    const std::vector<std::string> labels =
        one_row ? std::vector<std::string>{"channel", "angle", "horizontal"}
                : std::vector<std::string>{"channel", "angle", "vertical", "horizontal"};
    Hdf5Maker file(folder / "a.nxs");
    file.numbers(entry + "/data/data", "f32", extents, frames(0, one_row ? 2 : 6))
        .attribute(entry + "/data/data", "data_type", "AcquisitionData");
    for (std::size_t k = 0; k < labels.size(); ++k)
      file.attribute(entry + "/data/data", "dim" + std::to_string(k), labels[k]);
    file.numbers(config + "detector/position", "f32", {2}, {0, 0})
        .numbers(config + "detector/direction_x", "f32", {2}, {1, 0})
        .numbers(config + "rotation_axis/position", "f32", {2}, {0, 0})
        .numbers(config + "angles", "f32", {3}, {0, 60, 120});
  };
  for (const bool one_row : {true, false}) {
    write(one_row);
    EXPECT_TRUE(says(refusal_of(folder / "a.nxs"), {"has 2 channels; give --time K, from 0 to 1"}));
    for (const std::size_t channel : {0u, 1u}) {
      const auto reader = io::open_scan(folder / "a.nxs", {.time = static_cast<Index>(channel)});
      EXPECT_EQ(reader->info().scans_stored, 2);
      EXPECT_EQ(all_of(*reader, FrameKind::projection),
                one_row ? frames(channel, 1) : frames(3 * channel, 3));
    }
  }
}

TEST(BadCil, AVolumeIsNamedWhatItIs) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "a.nxs")
      .numbers(entry + "/data/data", "f32", {3, 3, 5}, frames(0, 3))
      .attribute(entry + "/data/data", "data_type", "ImageData");
  EXPECT_TRUE(says(refusal_of(folder / "a.nxs"), {"a.nxs: holds a volume of CIL (ImageData), not a scan"}));
  EXPECT_TRUE(says(refusal([&] { io::VolumeReader(folder / "a.nxs"); }),
                   {"a.nxs: is a volume of CIL (NEXUSDataWriter), which is not read", "TIFFWriter"}));
}

TEST(Cil, RaysThatAreNotSquareToTheAxisAreTakenAsTheyAre) {
  const TemporaryFolder folder;
  const std::string config = entry + "/config/";
  const double c = std::cos(0.4), s = std::sin(0.4);
  const auto with = [&](const std::vector<double>& ray, const std::vector<double>& up,
                        const std::vector<double>& axis) {
    write_cil(folder / "a.nxs");
    Hdf5Maker file(folder / "a.nxs", true);
    for (const char* old :
         {"source/position", "detector/position", "detector/direction_y", "rotation_axis/direction"})
      file.remove(config + old);
    file.numbers(config + "detector/position", "f64", {3}, {0, 0, 0})
        .numbers(config + "ray/direction", "f64", {3}, ray)
        .numbers(config + "detector/direction_y", "f64", {3}, up)
        .numbers(config + "rotation_axis/direction", "f64", {3}, axis);
  };
  with({0, c, s}, {0, -s, c}, {0, 0, 1});
  const io::ScanInfo rising = io::open_scan(folder / "a.nxs")->info();
  with({0, 1, 0}, {0, 0, 1}, {0, s, c});
  const io::ScanInfo leaning = io::open_scan(folder / "a.nxs")->info();
  EXPECT_TRUE(says(notes_of(rising), {"each view keeps its own place"}));
  for (const io::ScanInfo& info : {rising, leaning})
    for (Index view = 0; view < static_cast<Index>(views); ++view) {
      const auto& scan = std::get<FlexibleBeam>(info.scan);
      const double turn = -(10 + 30 * static_cast<double>(view)) * degree;
      const Vector3 p{3, -2, 1.5}, along{std::cos(turn), std::sin(turn), 0}, away{-along[1], along[0], 0};
      const auto [row, bin] = shadow_of(scan, view, p);
      EXPECT_NEAR(bin, 2 + dot(p, along) / 0.5, 1e-5);
      EXPECT_NEAR(row, 1 + (c * p[2] - s * dot(p, away)) / 0.25, 1e-5);
    }
}

/// A detector that leans keeps its place; one on the other side of the source sees nothing of the sample.
TEST(Cil, ViewsOffACircleAreTakenAsTheyAre) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& path, const std::vector<double>& numbers) {
    write_cil(folder / "a.nxs");
    const std::string place = entry + "/config/detector/" + path;
    Hdf5Maker(folder / "a.nxs", true).remove(place).numbers(place, "f32", {numbers.size()}, numbers);
  };
  write("direction_y", {0, 1, 1});
  const io::ScanInfo info = io::open_scan(folder / "a.nxs")->info();
  EXPECT_EQ(kind_of(info.scan), FlexibleBeam::kind);
  EXPECT_TRUE(says(notes_of(info), {"view 0 is ", "pixels off a circle"}));
  write("position", {0, -200, 0});
  EXPECT_TRUE(says(refusal<GeometryError>([&] { io::open_scan(folder / "a.nxs"); }),
                   {"view 0: the origin, where the volume is, lies behind the source"}));
}

TEST(BadCil, SaysInOneLineWhatIsWrong) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path, const std::vector<double>& numbers) {
    write_cil(folder / "a.nxs");
    Hdf5Maker(folder / "a.nxs", true).remove(path).numbers(path, "f32", {numbers.size()}, numbers);
    return refusal_of(folder / "a.nxs");
  };
  const std::string config = entry + "/config/";
  EXPECT_TRUE(says(refused(config + "rotation_axis/direction", {0, 0, 0}), {"direction has no length"}));
  EXPECT_TRUE(says(refused(config + "source/position", {0, NAN, 0}),
                   {"source/position: has a number that is not finite"}));
  EXPECT_TRUE(says(refused(config + "source/position", {0}), {"source/position: has 1 numbers"}));
  EXPECT_TRUE(says(refused(config + "angles", {0, 1}), {"2 angles for 4 views"}));
  write_cil(folder / "a.nxs");
  Hdf5Maker(folder / "a.nxs", true).number_attribute(entry + "/data/data", "scale", 3);
  EXPECT_TRUE(says(refusal_of(folder / "a.nxs"), {"is packed with a scale and an offset"}));
}

namespace {

void write_bliss(const fs::path& path) {
  Hdf5Maker file(path);
  const auto entry_of = [&](const std::string& name, const std::string& title) {
    file.text("/" + name + "/title", title, true);
    return "/" + name + "/measurement/";
  };
  const auto add = [&](const std::string& name, const std::string& title, std::size_t first,
                       unsigned long long count) {
    const std::string group = entry_of(name, title);
    file.numbers(group + "pcolinux", "u16", {count, rows, bins}, frames(first, count));
    return group;
  };
  entry_of("1.1", "tomo:halfturn");
  file.numbers("/1.1/technique/scan/energy", "f64", {}, {35})
      .attribute("/1.1/technique/scan/energy", "units", "keV")
      .numbers("/1.1/technique/scan/sample_detector_distance", "f64", {}, {100})
      .attribute("/1.1/technique/scan/sample_detector_distance", "units", "mm")
      .numbers("/1.1/technique/optic/sample_pixel_size", "f64", {}, {6.5})
      .attribute("/1.1/technique/optic/sample_pixel_size", "units", "um");
  add("2.1", "dark images", 20, 2);
  add("3.1", "reference images 1", 30, 1);
  const std::string first = add("4.1", "projections 1 - 3", 0, 3),
                    second = add("10.1", "projections 4 - 5", 3, 2);
  file.numbers(first + "hrsrot", "f64", {3}, {0, 30, 60}).numbers(first + "timer", "f64", {3}, {0, 0, 0});
  file.numbers(second + "hrsrot", "f64", {2}, {90, 120});
  file.text("/4.2/title", "projections 1 - 3", true);
  add("11.1", "reference images 2", 31, 1);
  add("12.1", "static images", 7, 2);
}

}  // namespace

TEST(Bliss, EntriesAreTakenByTheirTitles) {
  const TemporaryFolder folder;
  write_bliss(folder / "a.h5");
  const auto reader = io::open_scan(folder / "a.h5");
  EXPECT_EQ(reader->info().format, "BLISS");
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 5));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(30, 2));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(20, 2));
  expect_degrees(reader->info(), {0, 30, 60, 90, 120});
  EXPECT_DOUBLE_EQ(reader->info().energy_kev.value(), 35);
  EXPECT_DOUBLE_EQ(reader->info().propagation_mm.value(), 100);
  EXPECT_DOUBLE_EQ(reader->info().pixel_size_mm.value(), 0.0065);
  EXPECT_TRUE(says(notes_of(reader->info()), {"1 entries with other titles"}));
}

TEST(Bliss, WithoutFramesOrAnglesIsRefused) {
  const TemporaryFolder folder;
  write_bliss(folder / "a.h5");
  Hdf5Maker(folder / "a.h5", true).remove("/10.1/measurement/hrsrot");
  EXPECT_TRUE(says(refusal_of(folder / "a.h5"), {"3 angles for 5 views"}));
  Hdf5Maker(folder / "a.h5", true).remove("/10.1/measurement/pcolinux");
  EXPECT_TRUE(says(refusal_of(folder / "a.h5"), {"/10.1/measurement: \"projections 4 - 5\" has no frames"}));
}

}  // namespace tandem::test
