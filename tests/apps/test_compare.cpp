// recon --compare: several methods, one picture, one table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../io/sheet.hpp"
#include "../support/png_canvas.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

TEST(Compare, ShowsWhatEachMethodWouldMake) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --views 37 --rows 3 --photons 1e4 --truth truth.h5").code, 0);
  const std::string some = " --slices 1 --iterations 7 --tv-weight 0.5 --fbp-filter hann";
  ASSERT_EQ(run("simulate -o one.h5 --size 48 --views 37 --rows 1 --photons 1e4 --truth one_truth.h5").code,
            0);
  const Ended all =
      run("recon one.h5 --compare fbp,CGLS,tv --preview sheet.png --truth one_truth.h5 --json c.json" + some);
  ASSERT_EQ(all.code, 0) << all.err;
  const auto report = run.json("c.json");
  ASSERT_EQ(report["compared"].size(), 3u);
  for (const auto& [method, options] :
       {std::pair("fbp", " --fbp-filter hann"), std::pair("cgls", " --iterations 7"),
        std::pair("tv", " --iterations 7 --tv-weight 0.5 --fbp-filter hann")}) {
    ASSERT_EQ(run(std::string(
                      "recon one.h5 -o v.h5 --truth one_truth.h5 --json r.json --reconstruction-algorithm ") +
                  method + options)
                  .code,
              0);
    const auto one = run.json("r.json");
    const auto found = std::find_if(report["compared"].begin(), report["compared"].end(),
                                    [&](const auto& row) { return row["algorithm"] == method; });
    ASSERT_NE(found, report["compared"].end()) << method;
    EXPECT_EQ((*found)["psnr_db"], one["quality"]["psnr_db"]) << method;
    EXPECT_EQ((*found)["iterations"], one.value("iterations", nlohmann::json())) << method;
    EXPECT_NE(all.out.find(std::string("\n") + method + " "), std::string::npos) << all.out;
  }
  EXPECT_EQ(text_of(run / "sheet.png").substr(1, 3), "PNG");
  EXPECT_EQ(run.left_of("tandem"), 0);
  EXPECT_EQ(run("recon one.h5 --compare cgls,sirt --preview sheet.png --slices 1 --iterations 2").code, 0);
}

/// Whether a picture of a sheet shows a slice in the window of another one.
void expect_shown(const io::Canvas& sheet, Index picture, const std::vector<float>& slice, Index width,
                  std::vector<float> of_window) {
  std::ranges::sort(of_window);
  const auto at = [&](double share) {
    return of_window[static_cast<std::size_t>(share * static_cast<double>(of_window.size() - 1))];
  };
  const float black = at(0.005), white = at(0.995);
  const Index side = (256 + width - 1) / width, left = picture * (side * width + 10);
  ASSERT_GE(sheet.width, left + side * width);
  for (Index y = 0; y < 3 * width / 4; ++y)  // above the scale bar
    for (Index x = 0; x < width; ++x)
      ASSERT_EQ(grey_at(sheet, left + side * x, side * y),
                io::level(slice[static_cast<std::size_t>(y * width + x)], black, white))
          << picture << ": " << x << ' ' << y;
}

TEST(Compare, ShowsAllInTheWindowOfTheTruthOrOfTheLastMethod) {
  Program run;
  ASSERT_EQ(run("simulate -o s.h5 --size 48 --views 37 --rows 1 --photons 1e3 --truth t.h5").code, 0);
  ASSERT_EQ(run("recon s.h5 -o fbp.h5").code, 0);
  ASSERT_EQ(run("recon s.h5 -o sirt.h5 --reconstruction-algorithm sirt --iterations 5").code, 0);
  const auto fbp = voxels(run / "fbp.h5"), sirt = voxels(run / "sirt.h5"), truth = voxels(run / "t.h5");
  const std::string compare = "recon s.h5 --compare fbp,sirt --iterations 5 --preview ";
  ASSERT_EQ(run(compare + "with.png --truth t.h5").code, 0);
  const io::Canvas with = canvas_of(run / "with.png");
  expect_shown(with, 0, truth, 48, truth);
  expect_shown(with, 1, fbp, 48, truth);
  expect_shown(with, 2, sirt, 48, truth);
  ASSERT_EQ(run(compare + "without.png").code, 0);
  const io::Canvas without = canvas_of(run / "without.png");
  expect_shown(without, 0, fbp, 48, sirt);
  expect_shown(without, 1, sirt, 48, sirt);
}

/// Greys far below the window of the truth are shown brighter.
TEST(Compare, ShowsWhatIsFarBelowTheTruth) {
  Program run;
  const std::string scan = " --size 48 --views 37 --rows 1 ";
  ASSERT_EQ(run("simulate -o s.h5" + scan).code, 0);
  ASSERT_EQ(run("simulate -o bright.h5 --max-attenuation 15 --truth t.h5" + scan).code, 0);  // not 3
  ASSERT_EQ(run("recon s.h5 -o fbp.h5").code, 0);
  ASSERT_EQ(run("recon s.h5 --compare fbp,sirt --iterations 5 --preview p.png --truth t.h5").code, 0);
  const auto white_of = [](std::vector<float> values) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(0.995 * static_cast<double>(values.size() - 1))];
  };
  auto fbp = voxels(run / "fbp.h5");
  const auto truth = voxels(run / "t.h5");
  const float factor = std::round(10 * white_of(truth) / white_of(fbp)) / 10;
  EXPECT_GE(factor, 4);
  for (float& each : fbp) each *= factor;
  expect_shown(canvas_of(run / "p.png"), 1, fbp, 48, truth);
}

TEST(Compare, RefusesWhatKeepsNoVolume) {
  Program run;
  for (const auto& [options, word] : std::initializer_list<std::pair<std::string, std::string>>{
           {"--compare fbp,cgls", "--compare needs --preview"},
           {"--compare fbp,cgsl --preview s.png", "did you mean cgls"},
           {"--compare fbp,fbp --preview s.png", "twice"},
           {"--compare fbp,cgls --preview s.png -o v.h5", "--output and --compare do not go together"},
           {"--compare fbp,cgls --preview s.png --tv-weight 1", "--tv-weight goes with tv"},
           {"--compare fbp,cgls --preview s.png --checkpoint c", "do not go together"}}) {
    const Ended ended = run("recon scan.h5 " + options);
    EXPECT_EQ(ended.code, 2) << options << ended.err;
    EXPECT_NE(ended.err.find(word), std::string::npos) << word << " is not in " << ended.err;
  }
}

}  // namespace
}  // namespace tandem::test
