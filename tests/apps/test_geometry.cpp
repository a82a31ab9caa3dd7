// Views of any geometry as a user types them: files of vectors, trajectories, pictures.

#include <gtest/gtest.h>

#include <fstream>
#include <numbers>
#include <numeric>
#include <span>

#include "../../geometry/free_views.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../support/flexible_scans.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

const std::string cone = "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 ";
const std::string body = "--phantom ellipsoids --size 24 --rows 28 --bins 28 ";

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The frames of a scan in a file that says nothing of where they were taken from.
void forget_geometry(const std::filesystem::path& from, const std::filesystem::path& to) {
  const auto reader = io::open_scan(from);
  const Scan& scan = reader->info().scan;
  const Detector& d = detector_of(scan);
  const ParallelBeam unknown{{.bins = d.bins, .rows = d.rows},
                             std::vector<double>(static_cast<std::size_t>(views_of(scan)))};
  io::ScanWriter writer({to, io::Content::scan}, unknown, std::nullopt, reader->info().type,
                        reader->info().flats, reader->info().darks);
  for (const auto& [kind, count] : {std::pair{io::FrameKind::projection, views_of(scan)},
                                    {io::FrameKind::flat, reader->info().flats},
                                    {io::FrameKind::dark, reader->info().darks}})
    writer.write(kind, {0, d.rows}, reader->read(kind, {0, count}, {0, d.rows}, {0, d.bins}));
  writer.finish("{}");
}

/// A circle whose detector is rolled by half a degree, with its middle aside, while source and detector
/// wobble.
FlexibleBeam wobbling() {
  FlexibleBeam scan = as_free_views(ConeBeam{.detector = {28, 28, 0.5, 0.5, 14.7},
                                             .angles =
                                                 [] {
                                                   std::vector<double> angles;
                                                   for (int k = 0; k < 60; ++k)
                                                     angles.push_back(k * std::numbers::pi / 30);
                                                   return angles;
                                                 }(),
                                             .sod = 60,
                                             .sdd = 90,
                                             .midplane_row = 13.5});
  Random random(5);
  for (FlexibleView& view : scan.views) {
    const Vector3 ray = view.detector - view.source, about = 1 / length(ray) * ray;
    for (Vector3* step : {&view.bin_step, &view.row_step})
      *step = turned(*step, about, 0.5 * std::numbers::pi / 180);
    for (Vector3* place : {&view.source, &view.detector})
      for (double& each : *place) each += 0.4 * (2 * random.uniform() - 1);
  }
  return scan;
}

/// The source goes along a line before the detector.
FlexibleBeam on_a_line() {
  FlexibleBeam scan = wobbling();
  for (std::size_t k = 0; k < scan.views.size(); ++k)
    scan.views[k] = {{0.2 * static_cast<double>(k) - 6, -60, 0}, {0, 30, 0}, {0.5, 0, 0}, {0, 0, 0.5}};
  return scan;
}

double rmse_of(const Program& run, const std::string& recon,
               const std::string& method = "--reconstruction-algorithm cgls --iterations 20 ") {
  const Ended ended = run("recon " + recon + " -o v.h5 --overwrite --device cpu " + method +
                          "--size 24 --slices 20 --voxel-size 0.3333333333333333 --json r.json --quiet");
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.code == 0 ? run.json("r.json")["quality"]["rmse"].get<double>() : INFINITY;
}

/// views.txt, the vectors of a wobbling scan, and truth.h5, on the grid of the reconstruction.
void make_views_and_truth(Program& run) {
  write_text(run / "views.txt", io::geometry_text("views.txt", wobbling()));
  ASSERT_EQ(run("simulate -o exact.h5 --truth truth.h5 " + cone +
                "--phantom ellipsoids --size 24 --rows 20 "
                "--bins 24 --views 4")
                .code,
            0);
}

TEST(GeometryProgram, AFileOfVectorsIsAllThatAWobblingScanNeeds) {
  Program run;
  const std::string truth = " --truth truth.h5 ";
  make_views_and_truth(run);
  ASSERT_EQ(run("simulate -o circle28.h5 " + cone + body + "--views 60").code, 0);
  ASSERT_EQ(run("simulate -o made.h5 --geometry views.txt " + body).code, 0);
  forget_geometry(run / "made.h5", run / "scan.h5");
  const double circle = rmse_of(run, "circle28.h5" + truth),
               wobble = rmse_of(run, "scan.h5 --geometry views.txt" + truth),
               own = rmse_of(run, "made.h5" + truth),
               wrong = rmse_of(run, "circle28.h5 --geometry views.txt" + truth);
  EXPECT_LE(wobble, 1.25 * circle);  // its outer rows see less of the ends
  EXPECT_EQ(wobble, own);
  EXPECT_GE(wrong, 1.5 * circle);
}

/// The default method is a filter.
TEST(GeometryProgram, AFilterTakesAWobblingScanByItsVectors) {
  Program run;
  const std::string truth = " --truth truth.h5 ";
  make_views_and_truth(run);
  ASSERT_EQ(run("simulate -o circle.h5 " + cone + body + "--views 60").code, 0);
  ASSERT_EQ(run("simulate -o scan.h5 --geometry views.txt " + body).code, 0);
  const double circle = rmse_of(run, "circle.h5" + truth, ""), wobble = rmse_of(run, "scan.h5" + truth, ""),
               wrong = rmse_of(run, "circle.h5 --geometry views.txt" + truth, "");
  EXPECT_LE(wobble, 1.25 * circle);
  EXPECT_GE(wrong, 1.5 * circle);
}

/// The warnings have one line each, beside what the filter makes.
TEST(GeometryProgram, AFilterSaysWhatIsNotExact) {
  Program run;
  const auto says = [&](const std::string& options, const std::string& text) {
    ASSERT_EQ(run("simulate -o scan.h5 --overwrite --size 16 --pixel-size 0.5 " + options).code, 0);
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --device cpu");
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find(text), std::string::npos) << options << ": " << ended.err;
  };
  const std::string source = " --geometry cone --sod 60 --sdd 90";
  says("--trajectory helix --pitch 4 --rows 8 --views 90 --arc 1080" + source,
       "fdk of a helix: weighted over half turns (WFBP), not exact at cone angles of ");
  says("--trajectory helix --pitch 4 --rows 8 --views 90 --arc 1080" + source,
       "slices at its ends from less than half a turn");
  says("--trajectory helix --pitch 8 --rows 8 --views 90 --arc 1080" + source,
       "a turn rises by 8 mm, the detector is 2.7 mm high at the axis");
  says("--trajectory helix --pitch 4 --rows 8 --views 90 --arc 1080 --axis-bin 4" + source,
       "fdk of a helix: one turn a slice, not exact at cone angles of ");
  says("--trajectory laminography --elevation 35 --views 40 --phantom plate" + source,
       "with rays that rise by 35 degrees");
  says("--trajectory laminography --elevation 30 --views 40 --phantom plate",
       "with rays that rise by 30 degrees");
  says("--trajectory tomosynthesis --views 21 --arc 40 --phantom plate",
       "leave 140 degrees of the half turn open, which count as zero");
  says("--views 40 --jitter 0.3" + source, "the filter takes sources as nearly on a circle");
}

/// The same bits, by filter and by solver.
TEST(GeometryProgram, ACircleByVectorsIsTheCircle) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 " + cone + body + "--views 31 --axis-bin 12.3").code, 0);
  for (const char* name : {"views.npy", "views.geom"}) {
    ASSERT_EQ(run(std::string("info scan.h5 --overwrite --write-geometry ") + name).code, 0);
    for (const char* method : {"fdk", "cgls"}) {
      const std::string options = method == std::string("fdk") ? "" : " --iterations 5";
      const std::string plain = std::string(
                                    "recon scan.h5 --device cpu --overwrite --size 24 "
                                    "--reconstruction-algorithm ") +
                                method + options;
      ASSERT_EQ(run(plain + " -o a.h5").code, 0);
      const Ended ended = run(plain + " -o b.h5 --geometry " + name);
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(voxels(run / "a.h5"), voxels(run / "b.h5")) << name << ' ' << method;
    }
  }
}

double correlation(std::span<const float> a, std::span<const float> b) {
  const auto mean = [](std::span<const float> all) {
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  const double a_mean = mean(a), b_mean = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = static_cast<double>(a[k]) - a_mean, y = static_cast<double>(b[k]) - b_mean;
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

/// The middle slice is like the truth. Where rays miss a cone of directions, the plate is smeared along z.
TEST(GeometryProgram, SolversTakeEachTrajectory) {
  struct Row {
    const char *options, *phantom;
    double least;  ///< correlation of the middle slice
  };
  for (const Row& row :
       {Row{"--trajectory helix --pitch 8 --rows 12 --views 90 --geometry cone", "ellipsoids", 0.97},
        Row{"--trajectory laminography --elevation 35 --views 60 --geometry cone", "plate", 0.8},
        Row{"--trajectory laminography --views 60", "plate", 0.8},
        Row{"--trajectory tomosynthesis --views 31 --geometry cone", "plate", 0.8}}) {
    Program run;
    const bool from_source = std::string(row.options).find("cone") != std::string::npos;
    const Ended made =
        run(std::string("simulate -o scan.h5 --truth truth.h5 --size 24 --bins 28 --pixel-size 0.5 ") +
            (from_source ? "--sod 60 --sdd 90 " : "") + row.options + " --phantom " + row.phantom);
    ASSERT_EQ(made.code, 0) << made.err;
    const Ended ended =
        run("recon scan.h5 -o v.h5 --truth truth.h5 --device cpu --size 28 --iterations 15 "
            "--reconstruction-algorithm cgls --json r.json");
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(run.json("r.json")["geometry"]["kind"], "flexible");
    const std::vector<float> found = voxels(run / "v.h5"), truth = voxels(run / "truth.h5");
    ASSERT_EQ(found.size(), truth.size());
    const std::size_t area = 28 * 28, middle = truth.size() / area / 2 * area;
    EXPECT_GE(correlation(std::span(found).subspan(middle, area), std::span(truth).subspan(middle, area)),
              row.least)
        << row.options;
  }
}

TEST(GeometryProgram, JitterIsThatOfItsSeed) {
  Program run;
  const auto made = [&](const std::string& name, const std::string& options) {
    EXPECT_EQ(run("simulate -o " + name + ' ' + cone + body + "--views 7 " + options).code, 0);
    return io::numbers_of(std::get<FlexibleBeam>(io::open_scan(run / name)->info().scan));
  };
  const auto one = made("a.h5", "--jitter 0.3 --seed 1");
  EXPECT_EQ(one, made("b.h5", "--jitter 0.3 --seed 1"));
  EXPECT_NE(one, made("c.h5", "--jitter 0.3 --seed 2"));
  const FlexibleBeam still = as_free_views([&] {
    EXPECT_EQ(run("simulate -o d.h5 " + cone + body + "--views 7").code, 0);
    return io::open_scan(run / "d.h5")->info().scan;
  }());
  const std::vector<FlexibleView> moved = io::views_of_numbers(one);
  for (std::size_t k = 0; k < 7; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_LE(std::abs(moved[k].source[axis] - still.views[k].source[axis]), 0.3);
      EXPECT_LE(std::abs(moved[k].detector[axis] - still.views[k].detector[axis]), 0.3);
    }
}

TEST(GeometryProgram, ProjectsAVolumeAlongVectors) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth volume.h5 " + cone + body + "--views 9 --jitter 0.5").code, 0);
  ASSERT_EQ(run("info scan.h5 --write-geometry views.npy").code, 0);
  for (const char* rays : {"--geometry views.npy --bins 28 --rows 28", "--like scan.h5"}) {
    const Ended ended = run(std::string("project volume.h5 --overwrite -o again.h5 ") + rays);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Scan made = io::open_scan(run / "again.h5")->info().scan,
               scan = io::open_scan(run / "scan.h5")->info().scan;
    EXPECT_EQ(projection_space(made), projection_space(scan)) << rays;
  }
}

TEST(GeometryProgram, SaysInOneLineWhatDoesNotGo) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 " + cone + body + "--views 9 --jitter 0.5").code, 0);
  ASSERT_EQ(run("simulate -o other.h5 " + cone + body + "--views 8").code, 0);
  ASSERT_EQ(run("info scan.h5 --write-geometry views.npy").code, 0);
  write_text(run / "line.txt", io::geometry_text("line.txt", on_a_line()));
  ASSERT_EQ(run("simulate -o line.h5 --geometry line.txt " + body).code, 0);
  const auto says = [&](const std::string& arguments, const std::string& text) {
    const Ended ended = run(arguments + " --quiet");
    EXPECT_NE(ended.code, 0) << arguments;
    EXPECT_NE(ended.err.find(text), std::string::npos) << arguments << ": " << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  };
  const std::string recon = "recon scan.h5 -o v.h5 --device cpu ",
                    solver = recon + "--reconstruction-algorithm cgls ";
  const std::string line = "recon line.h5 -o v.h5 --device cpu --size 12 ";
  says(line, "sources lie on a line; a solver takes such views, such as cgls");
  says(line + "--reconstruction-algorithm tv", "give --tv-weight X, which needs no filter");
  says(line + "--reconstruction-algorithm tv --initial fbp", "give --tv-weight X and --initial zero");
  says(line + "--reconstruction-algorithm tv --tv-weight 1 --initial fbp", "give --initial zero");
  says(solver + "--rotation-axis 3", "leave --rotation-axis out");
  says(solver + "--rotation-axis auto", "have no rotation axis that could be found");
  says(solver + "--detector-roll 1", "leave the option out");
  says(solver + "--file-type double_fov", "leave --file-type out");
  says(solver + "--size 400", "view 0: the grid reaches to");
  says("center scan.h5", "have no rotation axis that could be found");
  says("recon other.h5 -o v.h5 --geometry views.npy", "views.npy: 9 views for 8 images");
  says("info scan.h5 --geometry views.npy --arc 180", "leave --arc out");
  says("info scan.h5 --write-geometry views.tif", "the ending names no format");
  says("simulate -o x.h5 --trajectory helix " + cone, "needs --pitch MM");
  says("simulate -o x.h5 --pitch 3 " + cone, "--pitch goes with --trajectory helix alone");
  says("simulate -o x.h5 --geometry views.npy --views 3", "--views does not go with a file");
}

/// Level rays to 12 rows see half of 24 slices; those of a tilted axis are views of their own.
TEST(GeometryProgram, SaysWhichShareOfTheVolumeNoViewSees) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --rows 12 --views 9").code, 0);
  const auto said = [&](const std::string& options) {
    return run("recon scan.h5 -o v.h5 --overwrite --device cpu --reconstruction-algorithm cgls --iterations "
               "2 "
               "--axis-tilt 0.01 " +
               options)
        .err;
  };
  const std::string half = said("--slices 24");
  EXPECT_NE(half.find("no view sees 50 % of the volume"), std::string::npos) << half;
  EXPECT_EQ(said("").find("no view sees"), std::string::npos);
  const std::string none = said("--slices 100 --region 0:24,0:24,0:10");
  EXPECT_NE(none.find("no ray meets the volume"), std::string::npos) << none;
}

TEST(GeometryProgram, ASolverTakesViewsAlongNoOrbit) {
  Program run;
  write_text(run / "line.txt", io::geometry_text("line.txt", on_a_line()));
  ASSERT_EQ(run("simulate -o line.h5 --geometry line.txt " + body).code, 0);
  const Ended ended =
      run("recon line.h5 -o v.h5 --device cpu --size 12 --reconstruction-algorithm cgls --iterations 2");
  EXPECT_EQ(ended.code, 0) << ended.err;
}

/// Curved detectors, by their own files, by options for a circle, and along a helix.
TEST(GeometryProgram, TakesCurvedDetectors) {
  Program run;
  const std::string curved = cone + "--curved-detector ";
  ASSERT_EQ(run("simulate -o scan.h5 --truth truth.h5 " + curved + body + "--views 60").code, 0);
  ASSERT_EQ(run("simulate -o helix.h5 --trajectory helix --pitch 4 " + curved + body + "--views 90").code, 0);
  const Ended info = run("info scan.h5 --write-geometry views.xml --picture g.png --json -");
  EXPECT_NE(info.out.find("\"curved_detector\": true"), std::string::npos) << info.out;
  const std::string truth = " --truth truth.h5 ";
  const double own = rmse_of(run, "scan.h5" + truth, "");
  EXPECT_NEAR(rmse_of(run, "scan.h5 --geometry views.xml --pixel-size 0.5" + truth, ""), own, 1e-6);
  EXPECT_NEAR(rmse_of(run, "scan.h5 --arc 360 " + curved + truth, ""), own, 1e-6);
  EXPECT_GE(rmse_of(run, "scan.h5 --arc 360 " + cone + truth, ""), 1.05 * own);
  const auto says = [&](const std::string& arguments, const std::string& text) {
    const Ended ended = run(arguments + " --quiet");
    EXPECT_NE(ended.code, 0) << arguments;
    EXPECT_NE(ended.err.find(text), std::string::npos) << arguments << ": " << ended.err;
  };
  says("center scan.h5 --arc 360 " + curved, "not searched on a curved detector; give --rotation-axis X");
  says("info scan.h5 --write-geometry views.npy", "has no curved detectors");
  says("info scan.h5 --curved-detector", "leave --curved-detector out");
  says("simulate -o x.h5 --curved-detector --pixel-size 1", "goes with --geometry cone alone");
  says("simulate -o x.h5 --jitter 0.1 " + curved, "nor jitter");
}

TEST(GeometryProgram, ASolverStartsFromZeroWhereItWouldFromAFilter) {
  Program run;
  ASSERT_EQ(
      run("simulate -o scan.h5 " + cone + "--phantom ellipsoids --size 12 --rows 12 --views 9 --jitter 0.5")
          .code,
      0);
  const Ended ended = run("recon scan.h5 -o v.h5 --device cpu --reconstruction-algorithm tv --iterations 3");
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(GeometryProgram, DrawsAPageAndAPicture) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 " + cone + body + "--views 9").code, 0);
  ASSERT_EQ(run("simulate -o flat.h5 --trajectory laminography --size 12 --views 9 --pixel-size 0.5").code,
            0);
  for (const char* scan : {"scan.h5", "flat.h5"}) {
    const Ended page = run(std::string("info --overwrite --picture g.html ") + scan);
    ASSERT_EQ(page.code, 0) << page.err;
    const std::string text = text_of(run / "g.html");
    EXPECT_NE(text.find("default-src 'none'"), std::string::npos);
    EXPECT_EQ(text.find("{{"), std::string::npos);
    EXPECT_NE(text.find(std::string("\"file\":\"") + scan), std::string::npos);
    EXPECT_EQ(run(std::string("info --picture g.html ") + scan).code, 0);  // replaces its own
    ASSERT_EQ(run(std::string("info --overwrite --picture g.png ") + scan).code, 0);
    EXPECT_TRUE(text_of(run / "g.png").starts_with("\x89PNG"));
  }
  EXPECT_NE(run("info scan.h5 --picture g.tif").code, 0);
}

}  // namespace
}  // namespace tandem::test
