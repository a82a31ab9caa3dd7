// Warnings name what is wrong, and what cannot be done is refused before the work.

#include <gtest/gtest.h>

#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {

namespace {

void expect_said(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' is not in: " << text;
}
void expect_unsaid(const std::string& text, const std::string& words) {
  EXPECT_EQ(text.find(words), std::string::npos) << "'" << words << "' is in: " << text;
}

constexpr unsigned wide = 32, high = 2;

/// A folder of 24 views of a square rod of that attenuation in the middle, beside air of 1000 counts, and a
/// flat.
void write_rod(const Program& run, double inside, const std::vector<double>& flat) {
  std::filesystem::create_directory(run / "rod");
  for (int k = 0; k < 24; ++k) {
    std::vector<double> view(wide * high, 1000);
    for (unsigned i = 0; i < wide * high; ++i)
      if (i % wide >= 12 && i % wide < 20) view[i] = inside;
    write_tiff_pages(run / ("rod/v_" + std::to_string(k) + ".tif"), {view}, {.height = high, .width = wide});
  }
  write_tiff_pages(run / "rod/flat.tif", {flat}, {.height = high, .width = wide});
}

}  // namespace

TEST(Truth, OfASimulationIsOnTheGridOfItsReconstruction) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 32 --bins 40 --rows 3 --views 40 --truth truth.h5").code, 0);
  const auto psnr = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --truth truth.h5 --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double all = psnr("");
  EXPECT_GT(all, 15);
  EXPECT_GT(psnr("--size 32"), 15);         // its voxels are in the middle of the truth
  EXPECT_NEAR(psnr("--slices 1"), all, 1);  // all slices are alike
}

TEST(Truth, OfAnotherGridIsRefusedBeforeTheWork) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 32 --views 40 --truth truth.h5").code, 0);
  ASSERT_EQ(run("simulate -o other.h5 --size 31 --views 4 --truth small.h5").code, 0);
  for (const char* method : {"tv", "cgls"}) {
    const Ended ended = run(std::string("recon scan.h5 -o v.h5 --reconstruction-algorithm ") + method +
                            " --iterations 5 --truth small.h5 --log log.txt");
    EXPECT_EQ(ended.code, 3);
    expect_said(ended.err, "small.h5: --truth has 1 x 31 x 31 voxels");
    expect_unsaid(text_of(run / "log.txt"), "iterate");
    std::filesystem::remove(run / "log.txt");
  }
  EXPECT_EQ(run("recon scan.h5 --dry-run --truth small.h5").code, 3);
  EXPECT_EQ(run("recon scan.h5 --dry-run --reconstruction-algorithm cgls --initial small.h5").code, 3);
}

TEST(TrueCauses, AnglesThatLookLikeRadians) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 40").code, 0);
  const Ended ended = run("recon scan.h5 -o v.h5 --arc 3.14159");
  expect_said(ended.err, "warning: the angles look like radians");
  expect_unsaid(ended.err, "limited-angle");
  expect_said(run("info scan.h5 --arc 3.14159").out, "look like radians");
  ASSERT_EQ(
      run("simulate -o cone.h5 --geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --size 24 --views 40")
          .code,
      0);
  const Ended cone = run("recon cone.h5 -o w.h5 --arc 6.2832");
  expect_said(cone.err, "warning: the angles look like radians");
  expect_unsaid(cone.err, "limited-angle");
}

TEST(TrueCauses, FlatsDarkerThanTheAir) {
  Program run;
  write_rod(run, 500, std::vector<double>(wide * high, 600));
  const Ended dark = run("recon rod -o v.h5 --arc 180");
  EXPECT_EQ(dark.code, 0) << dark.err;
  expect_said(dark.err, "2 of 2 rows read below zero at the ends of the detector");
  expect_said(dark.err, "the flats are darker than the air");
  write_rod(run, 500, std::vector<double>(wide * high, 1000));
  expect_unsaid(run("recon rod -o v.h5 --overwrite --arc 180").err, "darker");
}

TEST(TrueCauses, LineIntegralsWithAnOffset) {
  Program run;
  const auto write = [&](const std::string& name, std::int16_t air, std::int16_t inside, int count) {
    std::ofstream file(run / name, std::ios::binary);
    for (unsigned i = 0; i < count * wide * high; ++i) {
      const std::int16_t number = i % wide >= 12 && i % wide < 20 ? inside : air;
      file.write(reinterpret_cast<const char*>(&number), sizeof number);
    }
  };
  write("scan.raw", -31000, -20000, 24), write("dark.raw", -31000, -31000, 1);
  const std::string recon = "recon scan.raw --raw i2,32x2 --arc 180 --minus-log false -o v.h5 --overwrite";
  expect_said(run(recon).err,
              "2 of 2 rows read below zero at the ends of the detector (line integral -3.1e+04 there): line "
              "integrals of air are 0, and these have an offset; give an image of it by --darks");
  expect_unsaid(run(recon + " --darks dark.raw").err, "below zero");
}

TEST(TrueCauses, AWedgeOfRadians) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 40").code, 0);
  std::ofstream list(run / "tilts.txt");
  for (int k = 0; k < 40; ++k) list << -1.2 + 0.06 * k << '\n';
  list.close();
  expect_said(run("recon scan.h5 -o v.h5 --angles tilts.txt").err,
              "if the angles are radians, give --angles with --angles-unit rad");
  expect_unsaid(run("recon scan.h5 -o w.h5 --arc 20").err, "radians");
}

TEST(TrueCauses, ManyScansOnOneLine) {
  Program run;
  std::string scans;
  for (int k = 0; k < 120; ++k) scans += " v_" + std::to_string(k) + ".tif";
  const Ended one = run("recon" + scans + " --arc 180 -o v.h5");
  EXPECT_EQ(one.code, 2);
  expect_said(one.err, "give their folder, or a pattern in quotes");
  expect_said(run("info" + scans).err, "is one argument too many; a pattern of images is given in quotes");
}

TEST(TrueCauses, WrongFlatsOfAMethodThatTakesTransmissions) {
  Program run;
  const std::string recon = "recon rod -o v.h5 --overwrite --arc 180 --reconstruction-algorithm mltr";
  write_rod(run, 500, std::vector<double>(wide * high, 16));
  const Ended dark = run(recon);
  EXPECT_EQ(dark.code, 0) << dark.err;
  expect_said(dark.err, "2 of 2 rows read below zero at the ends of the detector");
  expect_said(dark.err, "the flats are darker than the air");
  write_rod(run, 500, std::vector<double>(wide * high, 60000));
  expect_said(run(recon).err, "or the flats are brighter than the air");
  write_rod(run, 500, std::vector<double>(wide * high, 1000));
  const Ended right = run(recon);
  expect_unsaid(right.err, "darker");
  expect_unsaid(right.err, "brighter");
}

TEST(TrueCauses, ManyDeadCells) {
  Program run;
  std::vector<double> flat(wide * high, 1000);
  for (unsigned i = 0; i < wide * high; i += 4) flat[i] = 0;
  write_rod(run, 500, flat);
  const Ended ended = run("recon rod -o v.h5 --arc 180");
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_said(ended.err, "flats: 16 of 64 cells (25 %) are not above their dark");
}

TEST(TrueCauses, TrialsOfAnAxisThatAreAlike) {
  Program run;
  write_rod(run, 1000, std::vector<double>(wide * high, 1000));  // nothing is there
  const Ended ended = run("recon rod --arc 180 --sweep rotation-axis=14:17:0.5 --json r.json");
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_said(ended.err, "none of these values is the best");
  expect_unsaid(ended.out, "  best");
  EXPECT_TRUE(run.json("r.json")["best"].is_null());
  EXPECT_TRUE(run.json("r.json")["value"].is_null());
}

TEST(TrueCauses, AnAxisThatFewAnglesDoNotTell) {
  Program run;
  ASSERT_EQ(run("simulate -o fan.h5 --geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --size 48 --rows 1 "
                "--views 60 --arc 90")
                .code,
            0);
  const Ended ended = run("center fan.h5");
  expect_said(ended.err, "the views fill 88.5 degrees");
  expect_unsaid(ended.err, "choose other rows");
}

TEST(TrueCauses, AMidplaneFarBesideTheRows) {
  Program run;
  const std::string cone =
      "--geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --size 24 --rows 8 --views 40";
  ASSERT_EQ(run("simulate -o cone.h5 " + cone).code, 0);
  const Ended far = run("recon cone.h5 -o v.h5 --midplane-row 100000");
  expect_said(far.err, "100000");
  expect_unsaid(run("recon cone.h5 -o w.h5 --midplane-row 9").err, "midplane");
}

TEST(TrueCauses, AdviceIsNotGivenToWhoFollowsIt) {
  Program run;
  Hdf5Maker(run / "a.mat").numbers("/sinogram", "f64", {wide, 24}, std::vector<double>(wide * 24, 1));
  expect_said(run("info a.mat --arc 180").out, "then give --minus-log false");
  expect_unsaid(run("info a.mat --arc 180 --minus-log false").out, "then give --minus-log false");
  expect_said(run("center a.mat:/sinogram --arc 180 --minus-log true").err, "");
  expect_said(run("info a.mat:/x --arc 180").err, "has no data set /x");
}

TEST(TrueCauses, AHalfAcquisitionThatLacksViews) {
  Program run;
  ASSERT_EQ(run("simulate -o half.h5 --phantom foam --size 96 --rows 1 --views 240 --arc 270 --bins 64 "
                "--axis-bin 12")
                .code,
            0);
  const Ended ended = run("recon half.h5 -o v.h5");
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_said(ended.err, "the axis lies aside, and the views leave 91.13 degrees of the turn open");
  expect_unsaid(ended.err, "flats");
}

TEST(TrueCauses, AShortScanThatLacksViewsReadsLow) {
  Program run;
  ASSERT_EQ(run("simulate -o fan.h5 --geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --size 48 --rows 1 "
                "--views 60 --arc 90")
                .code,
            0);
  expect_said(run("recon fan.h5 -o v.h5").err,
              "which count as zero; expect limited-angle artefacts and low values");
  expect_unsaid(run("recon fan.h5 -o w.h5 --reconstruction-algorithm cgls --iterations 2").err, "low values");
}

TEST(TrueCauses, OneViewTellsNoDepth) {
  Program run;
  for (const char* beam : {"", "--geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --rows 4",
                           "--geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --rows 4 --jitter 0.2"}) {
    ASSERT_EQ(run("simulate -o scan.h5 --size 16 --views 20 --overwrite " + std::string(beam)).code, 0);
    const std::string recon =
        "recon scan.h5 -o v.h5 --overwrite --reconstruction-algorithm tv --tv-weight 1 --iterations 3 ";
    const Ended ended = run(recon + "--views 2:3");
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_said(ended.err, "one view is read");
    expect_unsaid(run(recon).err, "one view is read");
  }
}

TEST(Parts, ThatCannotBeJoinedAreRefusedBeforeTheWork) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --rows 6 --views 20").code, 0);
  const auto refused = [&](const std::string& words) {
    const Ended ended = run("recon scan.h5 --part-of out.h5 --slices 3:6");
    EXPECT_EQ(ended.code, 3);
    expect_said(ended.err, words);
    EXPECT_FALSE(run.has("out_00003-00006.h5"));
    std::filesystem::remove_all(run / "out_00000-00003.h5");
  };
  std::filesystem::create_directory(run / "out_00000-00003.h5");
  refused("out_00000-00003.h5");
  ASSERT_EQ(run("recon scan.h5 -o out_00000-00003.h5").code, 0);
  refused("out_00000-00003.h5: holds slices 0:6, not those of its name");
}

TEST(TrueCauses, HelpSaysHowManyNamesAnOptionTakes) {
  Program run;
  const std::string help = run("recon --help-all").out;
  expect_unsaid(help, "--flats FILE ...");
  expect_said(help, "--flats FILE ");
}

}  // namespace tandem::test
