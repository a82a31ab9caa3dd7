// Beam hardening fitted to files, from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <vector>

#include "../../geometry/phantom.hpp"
#include "../support/scans.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

TEST(BeamHardening, IsFittedToFilesAndReplayedByRecipes) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 30 --rows 2").code, 0);
  std::ofstream(run / "wedge.txt") << "10 0.9\n20 1.7\n30 2.4\n40 3.0\n";
  std::ofstream(run / "spectrum.txt") << "# keV and share\n40, 1\n60, 2\n80, 1\n";
  const auto recon = [&](const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --overwrite --device cpu --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return voxels(run / "v.h5");
  };
  const std::vector<float> plain = recon("");
  EXPECT_TRUE(run.json("r.json")["beam_hardening"].is_null());
  for (const auto& [option, terms] : {std::pair{"--beam-hardening wedge:file=wedge.txt", 2u},
                                      {"--beam-hardening spectrum:file=spectrum.txt", 5u},
                                      {"--beam-hardening tube:kv=100,cu=0.5,material=aluminium", 6u}}) {
    const std::vector<float> fitted = recon(std::string(option) + " --save-config c.toml");
    EXPECT_NE(fitted, plain);
    const auto coefficients = run.json("r.json")["beam_hardening"];
    ASSERT_EQ(coefficients.size(), terms) << option;
    EXPECT_EQ(recon("--config c.toml"), fitted);
    std::string list;
    for (const auto& c : coefficients) list += std::string(list.empty() ? "" : ",").append(c.dump());
    EXPECT_EQ(recon("--beam-hardening " + list), fitted) << list;
  }
  EXPECT_EQ(run("recon scan.h5 -o wedge.txt --beam-hardening wedge:file=wedge.txt").code, 2);
}

/// Writes line integrals of an ellipse with a hole, as a beam of these energies shows them, with the noise of
/// 40,000 photons: (view, 1, bin) of a whole turn of parallel rays. Energies are pairs of a share and an
/// attenuation over the mean one.
void write_scan(const std::filesystem::path& file, const std::vector<std::pair<double, double>>& beam,
                double size = 1) {
  constexpr Index views = 180, bins = 96;
  ParallelBeam scan{.detector = {.bins = bins, .axis_bin = 0.5 * (bins - 1)},
                    .angles = regular_angles(views, 2 * std::numbers::pi)};
  const Phantom body = scaled(
      {{{1, {0.75, 0.5, INFINITY}, {0.05, 0.02, 0}, 0.3}, {-1, {0.15, 0.12, INFINITY}, {0.3, 0.1, 0}, 0}}},
      36 * size, 0.06 / size);
  std::vector<float> lines(views * bins);
  project(body, scan, {0, 1}, lines);
  std::mt19937 random(3);
  for (float& y : lines) {
    double counts = 0;
    for (const auto& [share, attenuation] : beam) counts += 40000 * share * std::exp(-attenuation * y);
    const int seen = std::poisson_distribution<int>(counts)(random);
    y = static_cast<float>(-std::log(std::max(0.5, 1.0 * seen) / 40000));
  }
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (180, 1, 96), }";
  head.resize(117, ' ');
  head += '\n';
  std::ofstream to(file, std::ios::binary);
  to << "\x93NUMPY" << '\x01' << '\0' << '\x76' << '\0' << head;
  to.write(reinterpret_cast<const char*>(lines.data()), 4 * std::ssize(lines));
}

TEST(BeamHardening, IsSimulatedByTheTubeThatCorrectsIt) {
  const Program run;
  const std::string made = " --phantom disc --size 64 --views 90 --rows 1 --overwrite -o ";
  const std::string recon = "recon hard.h5 -o v.h5 --overwrite --device cpu ";
  ASSERT_EQ(run("simulate" + made + "one.h5").code, 0);
  ASSERT_EQ(run("simulate --spectrum tube:kv=90,al=2 --json s.json" + made + "hard.h5").code, 0);
  EXPECT_EQ(run.json("s.json")["beam"]["tube:kv"], 90);
  ASSERT_EQ(run("recon one.h5 -o v.h5 --overwrite --device cpu").code, 0);
  const std::vector<float> right = voxels(run / "v.h5");
  const auto error = [&](const std::string& options) {
    EXPECT_EQ(run(recon + options).code, 0);
    const std::vector<float> made_now = voxels(run / "v.h5");
    double most = 0;
    for (std::size_t k = 0; k < right.size(); ++k)
      most = std::max<double>(most, std::abs(made_now[k] - right[k]));
    return most / *std::ranges::max_element(right);
  };
  EXPECT_GT(error(""), 0.1);
  EXPECT_LT(error("--beam-hardening tube:kv=90,al=2"), 0.002);
  for (const char* wrong :
       {"tube", "tube:kv=90", "tube:kv=9000,al=2", "plate", "tube:kv=90,al=2,material=cheese",
        "tube:kv=90,al=2,dense=cheese", "tube:kv=90,al=2,above=0.5", "tube:kv=90,al=2,dense=bone,above=0"}) {
    const Ended ended = run(std::string("simulate --spectrum ") + wrong + made + "wrong.h5");
    EXPECT_EQ(ended.code, 2) << wrong;
    EXPECT_NE(ended.err.find("--spectrum"), std::string::npos) << ended.err;
  }
}

TEST(BeamHardening, IsSimulatedInTwoMaterials) {
  const Program run;
  const std::string simulate =
      "simulate --size 64 --views 90 --rows 1 --overwrite --spectrum tube:kv=90,al=2";
  ASSERT_EQ(run(simulate + " -o one.h5").code, 0);
  ASSERT_EQ(run(simulate + ",dense=bone --json s.json -o two.h5").code, 0);
  EXPECT_EQ(run.json("s.json")["beam"]["tube:dense"], "bone");
  // what is dense loses more in a hardened beam, if it is of bone
  const auto skull = [&](const char* scan) {
    EXPECT_EQ(run(std::string("recon ") + scan + " -o v.h5 --overwrite --device cpu").code, 0);
    const std::vector<float> made = voxels(run / "v.h5");
    return *std::ranges::max_element(made);
  };
  EXPECT_LT(skull("two.h5"), 0.97 * skull("one.h5"));
  const Ended ended = run(simulate + ",dense=bone --phantom disc -o two.h5");
  EXPECT_NE(ended.code, 0);
  EXPECT_NE(
      ended.err.find("--spectrum tube: all that rays meet of the phantom 'disc' is denser than above=0.5"),
      std::string::npos)
      << ended.err;
}

TEST(BeamHardening, IsFoundInTheScanItself) {
  const Program run;
  write_scan(run / "hard.npy", {{0.4, 1.4}, {0.6, 0.7333}});
  write_scan(run / "mono.npy", {{1, 1}});
  write_scan(run / "cut.npy", {{0.4, 1.4}, {0.6, 0.7333}}, 2);
  const auto recon = [&](const std::string& scan, const std::string& options) {
    const Ended ended =
        run("recon " + scan + " --minus-log false --arc 360 -o v.h5 --overwrite --device cpu --json r.json " +
            options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return std::pair(voxels(run / "v.h5"), ended.err);
  };
  const auto plain = recon("hard.npy", "").first;
  const auto [found, said] = recon("hard.npy", "--beam-hardening auto --save-config c.toml");
  EXPECT_EQ(run.json("r.json")["hardening"]["verdict"], "hardened") << said;
  EXPECT_NE(said.find("beam hardening: misfit"), std::string::npos) << said;
  EXPECT_NE(found, plain);
  EXPECT_EQ(recon("hard.npy", "--config c.toml").first, found);
  EXPECT_EQ(run.json("r.json").count("hardening"), 0U);
  EXPECT_EQ(recon("mono.npy", "--beam-hardening AUTO").first, recon("mono.npy", "").first);
  const auto [same, warned] = recon("cut.npy", "--beam-hardening auto");
  EXPECT_EQ(run.json("r.json")["hardening"]["verdict"], "not known");
  EXPECT_NE(warned.find("do not come down to air"), std::string::npos) << warned;
  EXPECT_EQ(same, recon("cut.npy", "").first);
  const Ended sweep =
      run("recon hard.npy --minus-log false --arc 360 --beam-hardening auto --sweep rotation-axis=47:48:0.5");
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_NE(sweep.err.find("beam hardening: misfit"), std::string::npos) << sweep.err;
  EXPECT_NE(run("look hard.npy --minus-log false --arc 360 --beam-hardening auto", "timeout -s INT 5")
                .err.find("beam hardening: misfit"),
            std::string::npos);
  EXPECT_EQ(
      run("recon hard.npy --minus-log false --arc 360 -o w.h5 --beam-hardening 1,0.1,-0.5:straight=0.5").code,
      0);
  for (const char* others : {"center hard.npy", "info hard.npy"})
    EXPECT_EQ(run(std::string(others) + " --minus-log false --arc 360 --beam-hardening auto").code, 2)
        << others;
  for (const char* wrong : {"auto:b=0.9", "automatic", "auto,1", "auto:straight=2", "1,0.1:straight=-1",
                            "auto --reconstruction-algorithm mltr"})
    EXPECT_EQ(
        run(std::string("recon hard.npy --minus-log false --arc 360 -o w.h5 --beam-hardening ") + wrong).code,
        2)
        << wrong;
  EXPECT_EQ(run("recon hard.npy --minus-log false --arc 360 -o w.h5 --follow --beam-hardening auto").code, 2);
}

}  // namespace
}  // namespace tandem::test
