// Bad input: one line on standard error with place, value and remedy, the right exit code, nothing under the
// final name.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../core/device.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

class BadInput : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o good.h5 --truth pixels.h5 --size 32 --views 20 --rows 2").code, 0);
    ASSERT_EQ((*program)("simulate -o cone.h5 --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --size 32 "
                         "--views 40 --rows 3")
                  .code,
              0);
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  /// The run fails with `code`, in one line that has all of `words`, and leaves nothing.
  static void fails(const std::string& arguments, int code, std::initializer_list<const char*> words,
                    const std::string& before = "") {
    const Ended run = (*program)(arguments + " --quiet", before);
    EXPECT_EQ(run.code, code) << arguments << '\n' << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.err.rfind("tandem: error: ", 0), 0u) << run.err;
    for (const char* word : words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in " << run.err;
    EXPECT_EQ(program->left_of("bad_"), 0) << arguments;
  }

  static Program* program;
};
Program* BadInput::program = nullptr;

TEST_F(BadInput, CommandLine) {
  fails("recon good.h5 -o bad_.h5 --no-such-option", 2, {"--no-such-option"});
  fails("recon good.h5 -o bad_.h5 --fbp-filter triangle", 2, {"triangle", "hann"});
  fails("recon good.h5 -o bad_.h5 --fbp-cutoff 1.5", 2, {"1.5"});
  fails("recon good.h5", 2, {"-o"});
  fails("recon good.h5 -o bad_.h5 --iterations 5", 2, {"--iterations", "fbp"});
  fails("recon good.h5 -o bad_.h5 --nonnegative", 2, {"sirt"});
  fails("recon good.h5 -o bad_.h5 --rotation-axis middle", 2, {"'middle'", "auto"});
  fails("recon good.h5 -o bad_.h5 --dtype uint8 --range 0:", 2, {"--range"});
  fails("recon good.h5 -o bad_.h5 --reconstruction-algorithm cgls --stop never", 2, {"never", "discrepancy"});
  fails("recon good.h5 -o bad_.h5 --region 1:2", 2, {"x0:x1"});
  fails("recon good.h5 -o bad_.h5 --region 5:2,0:1,0:1", 2, {"5:2"});
  fails("recon good.h5 -o bad_.h5 --arc north", 2, {"north"});
  fails("recon good.h5 -o bad_.h5 --save-format tiff", 2, {"tiff", "bad_.h5"});
  fails("simulate -o bad_.h5 --phantom cat", 2, {"cat", "foam"});
  fails("simulate -o bad_.h5 --angles a.txt --views 3", 2, {"--angles", "--views"});
  fails("nonsense", 2, {"nonsense"});
  fails("check --pair nonsense", 2, {"nonsense"});
}

TEST_F(BadInput, OptionsThatDoNotGoTogether) {
  const std::string recon = "recon good.h5 -o bad_.h5 ";
  fails(recon + "--angles a.txt --arc 180", 2, {"--angles", "--arc"});
  fails(recon + "--reconstruction-algorithm cgls --bounds 0:", 2, {"--bounds", "sirt"});
  fails(recon + "--reconstruction-algorithm sirt --bounds 2:1", 2, {"--bounds '2:1'", "LOW:HIGH"});
  fails(recon + "--support disc", 2, {"--support", "sirt", "not with fbp"});
  fails(recon + "--reconstruction-algorithm sirt --shell 1 --bounds 0:1", 2, {"--shell", "--support disc"});
  fails(recon + "--reconstruction-algorithm sirt --shell 1 --support disc --bounds 0:", 2,
        {"--shell", "--bounds LOW:HIGH"});
  const std::string levels = recon + "--reconstruction-algorithm tv --levels ";
  fails(levels + "1:0", 2, {"--levels", "LOW:HIGH"});
  fails(recon + "--reconstruction-algorithm sirt --bounds 0:absent.h5", 3, {"absent.h5", "no such file"});
  fails(levels + "0:auto --support disc", 4, {"--levels", "--shell MM"});
  fails(levels + "auto", 2, {"--levels", "LOW:auto"});
  fails(recon + "--limited-angle auto --shell 2 --bounds 0:1e30", 4, {"--shell", "1e+30", "no bound"});
  fails(recon + "--limited-angle auto --shell 2 --nonnegative", 2, {"--shell", "without --nonnegative"});
  fails(recon + "--limited-angle auto --sweep rotation-axis=1:2:1", 2, {"--limited-angle", "--sweep"});
  fails(recon + "--reconstruction-algorithm sirt --support disc:at=0,0,9 --shell 0.001 --bounds 0:1", 4,
        {"--shell", "a voxel is as wide"});
  for (const char* bounds : {"0:0,05", "0:nan", "-inf:1", "0:1e300"})
    fails(recon + "--reconstruction-algorithm sirt --bounds " + bounds, 2, {"--bounds", bounds});
  fails(levels + "x:auto --shell 1 --support disc", 2, {"--levels", "LOW:auto"});
  fails(recon + "--reconstruction-algorithm fbp --limited-angle auto", 2, {"--limited-angle", "tv", "fbp"});
  fails(recon + "--limited-angle 90", 2, {"--limited-angle", "auto"});
  fails(levels + "0:1 --nonnegative", 2, {"--levels", "--nonnegative"});
  fails(levels + "0:1 --bounds 0:2", 2, {"--levels", "--bounds"});
  fails(recon + "--reconstruction-algorithm sirt --levels 0:1", 2, {"--levels", "tv", "sirt"});
  fails(levels + "0:1 --tv-weight 1 --iterations 9", 4, {"--iterations", "9", "10 or more"});
  fails(levels + "0:1 --tv-weight 1 --stop time=1", 4, {"--stop", "--levels", "--iterations N"});
  fails(recon + "--reconstruction-algorithm tv --tv-weight 1 --tv-direction auto", 4,
        {"--tv-direction", "from all around", "degrees"});
  fails(recon + "--reconstruction-algorithm tv --tv-direction 30:ratio=0.5", 2, {"--tv-direction", "ratio"});
  for (const char* disc :
       {"disc:margin=x", "disc:margin=-1", "disc:at=1,2", "disc:at=1,2,-3", "disc:at=1,,3"})
    fails(recon + "--reconstruction-algorithm sirt --support " + disc, 2, {"--support", disc, "give disc"});
  fails(recon + "--reconstruction-algorithm sirt --support absent.h5", 3, {"absent.h5"});
  fails(recon + "--reconstruction-algorithm sirt --bounds 0: --nonnegative", 2,
        {"--bounds", "--nonnegative"});
  fails(recon + "--reconstruction-algorithm sirt --tv-weight auto:huber=1", 2,
        {"--tv-weight", "tv, not with sirt"});
  fails(recon + "--reconstruction-algorithm mlem --model fourier", 4, {"fourier", "negative", "joseph"});
  fails(recon + "--reconstruction-algorithm cgls --stop relative=1e-3:gain=2", 2, {"relative=1e-3:gain=2"});
  fails(recon + "--reconstruction-algorithm cgls --stop discrepancy:gain=0", 2, {"discrepancy:gain=0"});
  for (const char* gain : {"0", "1e-45", "1e300", "nan"})  // beyond what weights of data hold
    fails(recon + "--reconstruction-algorithm tv --stop discrepancy:gain=" + gain, 2,
          {"--stop discrepancy:gain=", "counts per photon", gain});
  for (const char* weight :
       {"0", "-1", "nan", "1e-46", "1:huber=0", "1:huber=-1", "1:huber=nan", "auto:huber=1e-46"})
    fails(recon + "--reconstruction-algorithm tv --tv-weight " + weight, 2,
          {"--tv-weight", "no number from"});
  const std::string tv = recon + "--reconstruction-algorithm tv --photons ";
  for (const char* photons : {"0", "-1", "0.5", "1e13"})
    fails(tv + photons + " --minus-log false", 2, {"--photons", photons, "from 1 to 1e+12 photons"});
  for (const char* photons : {"nan", "inf", "many"})
    fails(tv + photons + " --minus-log false", 2, {"--photons", photons, "no number"});
  fails(tv + "1e4", 4, {"--photons 10000", "the data are counts", "--minus-log false"});
  fails(tv + "1e4 --minus-log false --stop discrepancy:gain=2", 2, {"--photons", "without a gain"});
  fails(recon + "--photons 1e4 --minus-log false", 2, {"--photons", "tv", "not with fbp"});
  fails(recon + "--reconstruction-algorithm mltr --stop discrepancy --photons 1e4 --minus-log false", 4,
        {"--stop discrepancy", "mltr"});
  fails(recon + "--reconstruction-algorithm cgls --stop discrepancy --minus-log false", 3, {"--photons N"});
  fails(recon + "--reconstruction-algorithm mltr --bounds 0.1:", 4, {"--bounds 0.1", "mltr"});
  for (const char* bounds : {":", "1", "0:x:1", "1:1", "0:1e31"})
    fails(recon + "--reconstruction-algorithm sirt --bounds " + bounds, 2, {"--bounds '", bounds});
  fails("project pixels.h5 -o bad_.h5 --like good.h5 --pixel-size 1", 2, {"--like", "--pixel-size"});
}

TEST_F(BadInput, NumbersOutOfRange) {
  const std::string recon = "recon good.h5 -o bad_.h5 ";
  for (const char* value : {"nan", "inf", "-1", "0", "1e300"})
    fails(recon + "--memory " + value, 2, {"--memory", value});
  fails(recon + "--pixel-size nan", 2, {"--pixel-size", "nan"});
  fails(recon + "--fbp-cutoff nan", 2, {"--fbp-cutoff", "nan"});
  fails(recon + "--dtype uint8 --range 0:inf", 2, {"--range", "inf"});
  fails(recon + "--reconstruction-algorithm cgls --stop relative=0.1x", 2, {"relative=0.1x"});
  for (const std::string value : {"0", "-1", "nan", "inf", "1e300", "x", ""}) {
    const std::string said = "'" + value + "' is no number from 1e-";
    fails(recon + "--reconstruction-algorithm cgls --stop time=" + value, 2, {said.c_str(), "seconds"});
  }
  for (const std::string rule : {"relative", "gap", "settled"})
    for (const std::string value : {"0", "-1", "1", "5", "nan", "inf", "1e300", "x", ""}) {
      const std::string said =
          "--stop " + rule + "=" + value + ": '" + value + "' is no number from 1e-30 to 0.999";
      fails(recon + "--reconstruction-algorithm tv --stop " + rule + "=" + value, 2, {said.c_str()});
    }
  fails(recon + "--rotation-direction 2", 2, {"--rotation-direction"});
  fails(recon + "--arc 180,exclusive", 2, {"180,exclusive"});
  fails(recon + "--arc nan", 2, {"--arc", "nan"});
  fails(recon + "--angles a.txt[3:1]", 2, {"3:1"});
}

TEST_F(BadInput, SimulationOutOfRange) {  // as the library has it: the ends are admitted, what is beyond not
  const std::string small = "--size 8 --views 4 --quiet ";
  fails("simulate -o bad_.h5 --rings 70", 2, {"--rings", "70", "50"});
  fails("simulate -o bad_.h5 --rings nan", 2, {"--rings", "nan"});
  fails("simulate -o bad_.h5 --flats 0 --photons 100", 2, {"--flats"});
  fails("simulate -o bad_.h5 --darks 0", 2, {"--darks"});
  fails("simulate -o bad_.h5 --photons 4.1e9", 2, {"--photons", "4.1e9"});
  fails("simulate -o bad_.h5 --photons 1e-40", 2, {"--photons", "1e-40"});  // flats of nothing
  fails("simulate -o bad_.h5 --max-attenuation inf", 2, {"--max-attenuation"});
  for (const char* ends : {"--rings 50 --photons 2e9", "--rings 0 --photons 4e9"})
    EXPECT_EQ((*program)("simulate -o ends.h5 --flats 1 --darks 1 " + small + ends).code, 0) << ends;
  fails("simulate -o bad_.h5 --rings 50 --photons 4e9", 4, {"photons = 4e+09", "rings of 50 %"});
}

TEST_F(BadInput, Devices) {
  const std::string missing = "recon missing.h5 -o bad_.h5 --device ";  // seen before any file is opened
  fails(missing + "every", 2, {"every", "is not auto, all, cpu, cuda"});
  for (const std::string device : {"cuda:99", "cuda:99,0", "cuda:0,99"})
    fails(missing + device, 5, {"device cuda:", "CUDA devices"});
  fails(missing + "cuda:1,0,1", 2, {"cuda:1,0,1", "cuda:1 is named twice"});
  fails(missing + "gpu", 2, {"gpu", "cuda:N"});
  fails(missing + "cuda:", 2, {"cuda:"});
  fails(missing + "cpu --precision float16", 2, {"float16", "cpu has standard float32"});
  fails(missing + "cpu --device-memory 1", 2, {"--device-memory", "--memory"});
  fails(missing + "cpu --variant fast", 2, {"fast", "automatic", "standard"});
  fails(missing + "cpu --precision half", 2, {"half", "float16"});
  for (const char* value : {"nan", "0", "1e300"})
    fails(missing + "auto --device-memory " + value, 2, {"--device-memory", value});
}

TEST_F(BadInput, NoGpuHere) {
  if (devices().size() > 1) GTEST_SKIP() << "a GPU is here";
  for (const char* device : {"cuda", "cuda:0"})
    fails(std::string("recon missing.h5 -o bad_.h5 --device ") + device, 5,
          {"cuda:0", "0 CUDA devices", "cpu"});
  fails("recon missing.h5 -o bad_.h5 --precision float16", 5, {"float16", "cpu has", "no GPU"});
}

TEST_F(BadInput, NamesOfOutputs) {  // seen before the scan is found to be missing
  fails("recon missing.h5 -o bad_.png", 2, {"-o bad_.png", ".h5", ".tif"});
  fails("recon missing.h5 -o bad_", 2, {"-o bad_", ".h5"});
  fails("simulate -o bad_.tif", 2, {"-o bad_.tif", ".h5"});
  fails("simulate -o bad_.h5 --truth bad_", 2, {"--truth bad_", ".h5"});
  fails("project missing.h5 -o bad_.dat", 2, {"-o bad_.dat", ".h5"});
  fails("recon missing.h5 -o bad_.h5 --json no/folder/r.json", 3, {"--json", "no/folder"});
  fails("recon missing.h5 -o bad_.h5 --preview no/folder/p.png", 3, {"--preview", "no/folder"});
  fails("recon missing.h5 -o bad_.h5 --json .", 3, {"--json", "is a folder"});
  fails("info missing.h5 --json no/folder/r.json", 3, {"--json", "no/folder"});
}

TEST_F(BadInput, OutputsThatAreInputs) {
  namespace fs = std::filesystem;
  fs::create_symlink(*program / "good.h5", *program / "link.h5");
  fs::create_directory(*program / "images");
  std::ofstream(*program / "images/w_00000.tif") << "anything";
  const std::string before = text_of(*program / "good.h5");
  fails("recon good.h5 -o good.h5", 2, {"-o good.h5", "would overwrite the scan good.h5"});
  fails("recon good.h5 -o images/../good.h5", 2, {"would overwrite the scan"});
  fails("recon link.h5 -o good.h5", 2, {"would overwrite the scan link.h5"});
  fails("recon good.h5 -o pixels.h5 --truth pixels.h5", 2, {"--truth pixels.h5"});
  fails("recon good.h5 -o pixels.h5 --reconstruction-algorithm cgls --initial pixels.h5", 2,
        {"--initial pixels.h5"});
  fails("recon good.h5 -o pixels.h5 --flats pixels.h5", 2, {"--flats pixels.h5"});
  fails("recon good.h5 -o pixels.h5 --darks pixels.h5", 2, {"--darks pixels.h5"});
  fails("recon good.h5 -o images/v.tif --flats images", 2, {"--flats images"});
  fails("recon images/w_00000.tif -o images/w.tif --arc 180", 2, {"the scan images/w_00000.tif"});
  fails("recon good.h5 -o new.h5 --json new.h5", 2, {"would overwrite --json new.h5"});
  fails("recon good.h5 -o new.h5 --preview p --json p", 2, {"would overwrite"});
  fails("project pixels.h5 -o pixels.h5", 2, {"would overwrite the volume pixels.h5"});
  fails("project pixels.h5 -o good.h5 --like good.h5", 2, {"would overwrite --like good.h5"});
  fails("simulate -o new.h5 --truth new.h5", 2, {"would overwrite --truth new.h5"});
  fails("simulate -o new.h5 --truth ./new.h5", 2, {"would overwrite --truth"});
  fails("center good.h5 --json good.h5", 2, {"--json good.h5", "would overwrite the scan"});
  fails("info good.h5 --json good.h5", 2, {"--json good.h5", "would overwrite the scan"});
  EXPECT_EQ(text_of(*program / "good.h5"), before);
}

TEST_F(BadInput, Files) {
  fails("recon missing.h5 -o bad_.h5", 3, {"missing.h5"});
  std::ofstream(*program / "text.h5") << "not HDF5";
  fails("recon text.h5 -o bad_.h5", 3, {"text.h5"});
  std::filesystem::copy_file(*program / "good.h5", *program / "short.h5");
  std::filesystem::resize_file(*program / "short.h5", std::filesystem::file_size(*program / "good.h5") / 2);
  fails("recon short.h5 -o bad_.h5", 3, {"short.h5"});
  fails("recon good.h5 -o no/such/folder/bad_.h5", 3, {"no/such/folder"});
  fails("recon good.h5 -o bad_.h5 --truth missing.h5", 3, {"missing.h5"});
  fails("recon good.h5 -o bad_.h5 --angles missing.txt", 3, {"missing.txt"});
  fails("info good.h5 --flats missing.tif", 3, {"missing.tif"});
}

TEST_F(BadInput, Geometry) {
  fails("recon good.h5 -o bad_.h5 --rotation-axis 100", 4, {"100", "0..31"});
  fails("recon good.h5 -o bad_.h5 --detector-rows 5:", 4, {"0:2"});
  fails("recon good.h5 -o bad_.h5 --slices 3", 4, {"3", "2 rows"});
  fails("recon good.h5 -o bad_.h5 --region 0:40,0:32,0:2", 4, {"0:40", "0:32"});
  fails("recon good.h5 -o bad_.h5 --air-columns 20:40", 4, {"20:40"});
  fails("simulate -o bad_.h5 --size 8 --axis-bin 15", 4, {"axis bin = 15"});
  fails("project pixels.h5 -o bad_.h5 --pixel-size 0.5", 4,
        {"pixels.h5", "1/pixel", "leave --pixel-size out"});
}

/// Mistakes that users of raw data make.
TEST_F(BadInput, StepsFromCountsToLineIntegrals) {
  const std::string recon = "recon good.h5 -o bad_.h5 ";
  const std::string phase =
      recon + "--pixel-size 0.001 --retrieve-phase-method paganin:delta-beta=100,distance=50,energy=";
  fails(phase + "20 --minus-log false", 4, {"--minus-log false", "transmissions"});
  fails(phase + "20000", 2, {"keV", "20 keV"});
  fails(recon + "--dezinger 33", 4, {"--dezinger 33", "32 bins"});
  fails(recon + "--dezinger 34:window=projection", 4, {"--dezinger 34", "32 bins"});
  fails(recon + "--dezinger 35:window=cube", 4, {"--dezinger 35", "32 bins"});
  fails(recon + "--remove-stripe-method vo-large:size=33", 4, {"vo-large:size=33", "32 bins"});
  fails(recon + "--remove-stripe-method ti:nblock=5000", 4, {"ti:nblock=5000", "views"});
  fails(recon + "--remove-stripe-method fw:level=20", 4, {"fw:level=20", "levels"});
  fails(recon + "--flat-sets linear", 3, {"--flat-sets linear", "--flat-loc"});
  fails(recon + "--beam-hardening wedge:file=missing.txt", 3, {"missing.txt"});
  fails(recon + "--beam-hardening wedge", 2, {"--beam-hardening", "wedge:file=FILE"});
  std::string many = "1";
  for (int k = 1; k < 20'000; ++k) many += ",0";
  fails(recon + "--beam-hardening " + many, 2, {"20000 coefficients; at most 100 are taken"});
  fails(recon + "--beam-hardening plate", 2, {"'plate'", "wedge or spectrum or tube"});
  fails(recon + "--beam-hardening tube", 2, {"--beam-hardening tube", "kv=KV"});
  fails(recon + "--beam-hardening tube:kv=120", 2, {"--beam-hardening tube", "al=MM", "al=0"});
  fails(recon + "--beam-hardening tube:kv=120000,al=3", 2,
        {"tube:kv=120000", "30 to 300 kV", "spectrum:file=FILE"});
  fails(recon + "--beam-hardening tube:kv=120,al=-3", 2, {"al: '-3'", "from 0 to 50 mm"});
  fails(recon + "--beam-hardening tube:kv=120,cu=30", 2, {"cu: '30'", "from 0 to 20 mm"});
  fails(recon + "--beam-hardening tube:kv=120,al=3,material=aluminum", 2, {"did you mean aluminium?"});
  std::ofstream(*program / "energies.txt") << "60000 1\n";
  fails(recon + "--beam-hardening spectrum:file=energies.txt", 3, {"60000 keV", "300 keV"});
  fails(recon + "--beam-hardening wedge:file=energies.txt", 3, {"at least 4"});
}

TEST_F(BadInput, ConeGeometry) {
  const std::string simulate = "simulate -o bad_.h5 --size 16 --geometry cone --pixel-size 1 ";
  fails(simulate + "--sod 60 --sdd 60", 4, {"sdd = 60 mm", "sod = 60 mm"});
  fails(simulate + "--sod 60 --sdd 90 --midplane-row 900", 4, {"no ray meets the phantom"});
  fails(simulate + "--sod 60", 2, {"--sdd MM"});
  fails(simulate + "--sod -60 --sdd 90", 2, {"--sod", "-60"});
  fails(simulate + "--sod 60 --sdd 90 --pixel-size 0", 2, {"--pixel-size", "0"});
  fails("simulate -o bad_.h5 --sod 60 --sdd 90", 2, {"--sod", "--geometry cone"});

  const std::string recon = "recon cone.h5 -o bad_.h5 ";
  fails(recon + "--sdd 50", 4, {"sdd = 50 mm", "sod = 60 mm"});
  fails(recon + "--sod 90", 4, {"sdd = 90 mm", "sod = 90 mm"});
  fails(recon + "--sod 4 --voxel-size 0.5", 4,
        {"sod = 4 mm", "the source would pass through it", "smaller grid"});
  fails(recon + "--size 400", 4, {"sod = 60 mm", "the source would pass through it"});
  for (const char* value : {"0", "-0.5", "nan"})
    for (const char* option : {"--pixel-size", "--voxel-size", "--sod", "--sdd"})
      fails(recon + option + " " + value, 2, {option, value});
  fails(recon + "--midplane-row nan", 2, {"--midplane-row", "nan"});
  fails(recon + "--reconstruction-algorithm cgls --memory 0.001", 5,
        {"the volume at once", "--memory", "fbp or fdk, which need no more than"});
  const Ended early = (*program)(recon + "--reconstruction-algorithm tv --memory 0.001 --rotation-axis auto");
  EXPECT_EQ(early.code, 5);
  EXPECT_EQ(std::count(early.err.begin(), early.err.end(), '\n'), 1) << "an axis was sought: " << early.err;
  fails("recon good.h5 -o bad_.h5 --sod 60", 4, {"--sdd MM"});
  fails("recon good.h5 -o bad_.h5 --sod 60 --sdd 90", 4, {"pitch", "--pixel-size MM"});
  fails("recon good.h5 -o bad_.h5 --midplane-row 1", 4, {"parallel beam", "--sod MM"});
  fails("recon good.h5 -o bad_.h5 --reconstruction-algorithm fdk", 4, {"fdk", "parallel beam", "fbp"});
  fails("center cone.h5 --rotation-axis-method vo", 4, {"vo", "opposite rays"});
  fails("project pixels.h5 -o bad_.h5 --geometry cone --sod 60 --sdd 90 --pixel-size 1", 4,
        {"pixels.h5", "no pitch"});
  fails("project pixels.h5 -o bad_.h5 --like cone.h5", 4, {"pixels.h5", "no pitch", "cone.h5"});
}

TEST_F(BadInput, Memory) {
  fails("recon good.h5 -o bad_.h5 --memory 0.001", 5, {"0.001 GiB", "--memory"});
  fails("recon good.h5 -o bad_.h5 --size 200000", 5, {"GiB", "--size"});
}

TEST_F(BadInput, FullDisk) {
  fails("recon good.h5 -o bad_.h5 --size 512", 3, {"bad_.h5"}, "ulimit -f 64; trap '' XFSZ;");
}

TEST_F(BadInput, InterruptLeavesNothing) {
  const Ended run = (*program)(
      "recon good.h5 -o bad_.h5 --size 256 --reconstruction-algorithm sirt --iterations 100000 --quiet & "
      "p=$!; sleep 1; "
      "kill -INT $p; wait $p",
      "true; env --default-signal=INT");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_EQ(program->left_of("bad_"), 0);
}

/// `timeout` and schedulers send it so: to the process and to its group.
TEST_F(BadInput, InterruptThatComesTwiceLeavesNothing) {
  const Ended run = (*program)(
      "recon good.h5 -o bad_.h5 --size 256 --reconstruction-algorithm sirt --iterations 100000 --quiet "
      "2> errors & p=$!; until [ -e .bad_.h5.tandem ]; do sleep 0.05; done; sleep 0.2; "
      "for k in 1 2 3 4 5 6 7 8 9; do kill -INT $p; done; wait $p",
      "true; env --default-signal=INT");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_NE(text_of(*program / "errors").find("interrupted by SIGINT"), std::string::npos);
  EXPECT_EQ(program->left_of("bad_"), 0);
}

/// The solver's step takes longer than the program waits, so another thread ends it.
TEST_F(BadInput, InterruptLeavesNoEmptyFolder) {
  const Ended run = (*program)(
      "recon good.h5 -o bad_.zarr --size 1024 --reconstruction-algorithm sirt --iterations 100000 --quiet & "
      "p=$!; sleep 1; kill -INT $p; wait $p",
      "true; env --default-signal=INT");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_EQ(program->left_of("bad_"), 0);
}

TEST_F(BadInput, VolumeThatIsFaultyNamesItsFault) {
  const auto text = [](const std::string& name) { return text_of(*program / name); };
  const auto write = [](const std::string& name, const std::string& bytes) {
    std::ofstream(*program / name, std::ios::binary) << bytes;
  };
  for (const char* name : {"f.nrrd", "f.mha", "f.zarr"})
    EXPECT_EQ((*program)(std::string("recon good.h5 --quiet -o ") + name).code, 0);
  write("cut.nrrd", text("f.nrrd").substr(0, text("f.nrrd").size() - 5));
  write("cut.mha", text("f.mha").substr(0, text("f.mha").size() - 5));
  std::string head = text("f.mha");
  write("odd.mha", head.replace(head.find("MET_FLOAT"), 9, "MET_OTHER"));
  std::string array = text("f.zarr/0/.zarray");
  write("f.zarr/0/.zarray", array.replace(array.find("<f4"), 3, "<c8"));
  std::filesystem::create_directory(*program / "none.zarr");
  std::filesystem::create_directory(*program / "three.zarr");
  write("three.zarr/zarr.json", "{}");
  const std::pair<std::string, const char*> faults[]{
      {"cut.nrrd", "it was cut short or is damaged"}, {"cut.mha", "it was cut short or is damaged"},
      {"odd.mha", "ElementType = \"MET_OTHER\""},     {"f.zarr", "dtype \"<c8\""},
      {"none.zarr", ".zattrs: cannot be read"},       {"three.zarr", "has no multiscales"}};
  for (const auto& [name, words] : faults) {
    fails("info " + name, 3, {name.c_str(), words});
    fails("recon " + name + " -o bad_.h5", 3, {name.c_str(), "is a volume, not a scan"});
  }
}

}  // namespace
}  // namespace tandem::test
