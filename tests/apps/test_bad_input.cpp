// Bad input: one line on standard error with place, value and remedy, the right exit code, nothing under the
// final name.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "program.hpp"

namespace tandem::test {
namespace {

class BadInput : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o good.h5 --size 32 --views 20 --rows 2").code, 0);
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
  fails("recon good.h5 -o bad_.h5 --rotation-axis 3 --rotation-axis-auto", 2, {"together"});
  fails("recon good.h5 -o bad_.h5 --dtype uint8", 2, {"--min"});
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

TEST_F(BadInput, Files) {
  fails("recon missing.h5 -o bad_.h5", 3, {"missing.h5"});
  std::ofstream(*program / "text.h5") << "not HDF5";
  fails("recon text.h5 -o bad_.h5", 3, {"text.h5"});
  std::filesystem::copy_file(*program / "good.h5", *program / "short.h5");
  std::filesystem::resize_file(*program / "short.h5", std::filesystem::file_size(*program / "good.h5") / 2);
  fails("recon short.h5 -o bad_.h5", 3, {"short.h5"});
  fails("recon good.h5 -o no/such/folder/bad_.h5", 3, {"no/such/folder"});
  fails("recon good.h5 -o bad_.png", 3, {".png", ".h5"});
  fails("recon good.h5 -o bad_.h5 --json no/such/folder/r.json --truth missing.h5", 3, {"missing.h5"});
  fails("recon good.h5 -o bad_.h5 --angles missing.txt", 3, {"missing.txt"});
  fails("info good.h5 --flats missing.tif", 3, {"missing.tif"});
}

TEST_F(BadInput, Geometry) {
  fails("recon good.h5 -o bad_.h5 --rotation-axis 100", 4, {"100", "0..31"});
  fails("recon good.h5 -o bad_.h5 --start-row 5", 4, {"0:2"});
  fails("recon good.h5 -o bad_.h5 --slices 3", 4, {"3", "2 rows"});
  fails("recon good.h5 -o bad_.h5 --region 0:40,0:32,0:2", 4, {"0:40", "0:32"});
  fails("recon good.h5 -o bad_.h5 --air-columns 20:40", 4, {"20:40"});
  fails("simulate -o bad_.h5 --flats 0 --photons 1e30", 4, {"1e+30"});
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
      "set -m;");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_EQ(program->left_of("bad_"), 0);
}

}  // namespace
}  // namespace tandem::test
