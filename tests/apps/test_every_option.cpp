// Every option of recon that decides the volume changes it or is refused, for every beam; and every option
// says whether it decides the volume.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "../../core/random.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "changed_scan.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

using Words = std::vector<std::string>;

/// What an option is tried with: values, beside other options, which the run without it has too. `idle`: the
/// beams for which these values say what is so without them.
struct Trial {
  Words values;
  std::string with = "";
  Words idle = {};
};

constexpr const char* by_cgls = "--reconstruction-algorithm cgls --iterations 3";
constexpr const char* by_sirt = "--reconstruction-algorithm sirt --iterations 60";

const Words all_beams{"parallel", "fan", "cone", "free", "free_parallel"};

/// Values of the options whose kind of value names no words.
const std::multimap<std::string, Trial>& trials() {
  static const std::multimap<std::string, Trial> all{
      {"flats", {{"other_BEAM.h5"}}},
      {"darks", {{"other_BEAM.h5"}}},
      {"flat-loc", {{"0,20"}}},
      {"geometry", {{"parallel"}, "", {"parallel"}}},
      {"geometry", {{"fan"}, "", {"fan"}}},
      {"geometry", {{"cone"}, "", {"fan", "cone"}}},
      {"geometry", {{"other.npy"}}},
      {"angles", {{"angles.txt"}}},
      {"angles-unit", {{"rad"}, "--angles angles.txt"}},
      {"raw", {{"uint16,24x6"}}},
      {"stitch", {{"z", "x=0.5"}}},
      {"padding", {{"edge", "none", "circle:attenuation=2"}, "--columns 5:18"}},
      {"padding", {{"cosine"}, "--columns 5:18", {"free", "free_parallel"}}},
      {"padding", {{"circle"}, "--columns 5:18", {"parallel", "fan", "cone"}}},
      {"padding", {{"cosine"}, "", all_beams}},
      {"arc", {{"170", "160,inclusive"}}},
      {"view-shifts", {{"shifts.txt"}}},
      {"view-shifts", {{"shifts.txt"}, by_cgls}},
      {"view-row-shifts", {{"shifts.txt"}}},
      {"view-row-shifts", {{"shifts.txt"}, by_cgls}},
      {"orient", {{"flip-columns", "transpose"}}},
      {"orient", {{"flip-rows"}, "", {"fan"}}},  // which has one row
      {"reverse-motion", {{"across-beam", "along-axis"}}},
      {"time", {{"0", "all"}}},
      {"rotation-direction", {{"-1"}}},
      {"pixel-size", {{"0.2"}}},
      {"sod", {{"60"}}},
      {"sod", {{"60"}, "--geometry parallel"}},
      {"sdd", {{"90"}}},
      {"sdd", {{"90"}, "--geometry parallel"}},
      {"midplane-row", {{"2"}}},
      {"curved-detector", {{""}}},
      {"curved-detector", {{""}, by_cgls}},
      {"dezinger", {{"3:threshold=40", "3:threshold=40,window=projection", "3:threshold=40,window=cube"}}},
      {"saturation", {{"1000"}}},
      {"flat-sets", {{"linear", "nearest", "each"}}},
      {"flat-sets", {{"nearest", "together", "each"}, "--flat-loc 0,20"}},
      {"air-columns", {{"0:2", "0:2,21:24"}}},
      {"scatter", {{"shadow:columns=11:13"}}},  // in the shadow of the sample, if not of a stop
      {"detector-roll", {{"1"}}},
      {"detector-roll", {{"1"}, by_cgls}},
      {"axis-tilt", {{"1"}}},
      {"axis-tilt", {{"1"}, by_cgls}},
      {"remove-stripe-method",
       {{"auto", "fw", "ti", "sf", "raven", "vo-sorting", "vo-filtering", "vo-fitting", "vo-large", "vo-dead",
         "vo-all"}}},
      {"retrieve-phase-method",
       {{"paganin:energy=20,delta-beta=100", "gpaganin:energy=20,delta-beta=100",
         "paganin:energy=20,delta-beta=100,distance=30"}}},
      {"beam-hardening",
       {{"1,0.1", "wedge:file=wedge.txt", "SPECTRUM:File=spectrum.txt",
         "tube:kv=90,al=2,cu=0.1,material=pmma"}}},
      {"metal", {{"0.5", "0.6"}}},
      {"detector-rows", {{"1:4"}}},
      {"columns", {{"2:23"}}},
      {"views", {{"0:30", "::2"}}},
      {"fbp-cutoff", {{"0.5"}}},
      {"fbp-cutoff", {{"0.5"}, by_cgls}},
      {"initial", {{"fbp", "start_BEAM.h5"}, by_sirt}},
      {"initial", {{"fbp"}}},
      {"iterations", {{"3"}, "--reconstruction-algorithm sirt"}},
      {"iterations", {{"3"}}},
      {"tv-weight", {{"0.01", "0.01:huber=0.01"}, "--reconstruction-algorithm tv --iterations 5"}},
      {"photons",
       {{"1e4"}, "--reconstruction-algorithm tv --iterations 5 --tv-weight 0.01 --minus-log false"}},
      {"photons", {{"1e4"}, "--reconstruction-algorithm tv --iterations 5 --tv-weight 0.01"}},
      {"photons", {{"3"}, "--reconstruction-algorithm cgls --minus-log false --iterations 60"}},
      {"tikhonov-weight", {{"0.5"}, by_cgls}},
      {"relaxation", {{"0.5"}, by_sirt}},
      {"subsets", {{"2"}, "--reconstruction-algorithm os-sirt --iterations 2"}},
      {"nonnegative", {{""}, by_sirt}},
      {"nonnegative", {{""}, by_cgls}},
      {"bounds", {{"0.01:0.05"}, by_sirt}},
      {"support",
       {{"disc", "disc:margin=0.1", "disc:at=0.1,0,0.4", "DISC:at=0.1,0,0.4:margin=0.1"}, by_sirt}},
      {"support", {{"start_BEAM.h5"}, by_sirt, all_beams}},  // which may be nowhere zero
      {"shell", {{"0.2"}, std::string(by_sirt) + " --bounds 0:5 --support disc:at=0.1,0,0.4"}},
      {"levels", {{"0:0.05"}, "--reconstruction-algorithm tv --tv-weight 0.01 --iterations 20"}},
      {"levels",
       {{"0:auto"},
        "--reconstruction-algorithm tv --tv-weight 0.01 --iterations 20 --support disc --shell 0.2"}},
      {"tv-direction",
       {{"30", "30:ratio=3"}, "--reconstruction-algorithm tv --tv-weight 0.01 --iterations 5"}},
      {"stop", {{"relative=0.1", "time=1e-9", "gap=0.5"}, by_sirt}},
      {"stop", {{"settled=0.9"}, "--reconstruction-algorithm tv --tv-weight 0.01 --iterations 60"}},
      {"stop", {{"discrepancy:gain=0.01", "gcv", "ncp"}, "--reconstruction-algorithm cgls --iterations 60"}},
      {"rotation-axis", {{"10", "auto"}}},
      {"row-axes", {{"rows.txt"}}},
      {"resample-frames", {{""}, by_cgls}},
      {"resample-frames", {{""}, std::string(by_cgls) + " --detector-roll 1"}},
      {"resample-frames", {{""}, std::string(by_cgls) + " --view-shifts shifts.txt"}},
      {"reconstruction-algorithm", {{"sirt", "cgls", "tv"}}},
      {"reconstruction-algorithm",
       {{"fdk"}, "", {"fan", "cone", "free", "free_parallel"}}},  // its name for these
      {"binning", {{"2"}}},
      {"size", {{"12"}}},
      {"slices", {{"2"}}},
      {"slices", {{"0:1"}, "", {"fan"}}},  // which has one slice
      {"voxel-size", {{"0.05"}}},
      {"region", {{"2:14,3:14,0:1"}}},
      {"range", {{"0:0.5"}, "--dtype uint16"}},
      {"range", {{"0:0.5"}}},
      {"hu", {{"0.02"}}},                                // with .dcm only, see test_numbers.cpp
      {"allow-unmatched", {{""}, by_cgls, all_beams}}};  // a permission, and all pairs of a CPU match
  return all;
}

/// An option as the help of recon lists it.
struct Listed {
  std::string name, kind;
};

std::vector<Listed> listed_options(const Program& run) {
  const std::string help = run("recon --help-all").out;
  const std::regex line("\n  (?:-\\w,)?--([a-z-]+)(?:(?: |\\[=)(\\S+))?");
  std::vector<Listed> all;
  for (auto at = std::sregex_iterator(help.begin(), help.end(), line); at != std::sregex_iterator(); ++at)
    all.push_back({(*at)[1], (*at)[2]});
  return all;
}

/// The options that decide nothing of the volume, but where files are, who computes, and what is shown; and
/// what stands for others, which recipes have in its place.
const std::set<std::string>& of_the_run() {
  static const std::set<std::string> all{"allow-external-files",
                                         "compare",
                                         "output",
                                         "physics",
                                         "limited-angle",
                                         "part-of",
                                         "save-format",
                                         "preview",
                                         "resume",
                                         "checkpoint",
                                         "dry-run",
                                         "truth",
                                         "sweep",
                                         "score",
                                         "follow",
                                         "device",
                                         "device-memory",
                                         "memory",
                                         "serve",
                                         "help",
                                         "help-all",
                                         "quiet",
                                         "threads",
                                         "config",
                                         "overwrite",
                                         "json",
                                         "log",
                                         "like",
                                         "save-config"};
  return all;
}

Words parts_of(const std::string& text, char between) {
  Words parts;
  std::istringstream all(text);
  for (std::string part; std::getline(all, part, between);) parts.push_back(part);
  return parts;
}

/// What an option is tried with: `trials`, or else the words of a choice, one of which may be what is so
/// without it.
std::vector<Trial> trials_of(const Listed& option, std::size_t& may_be_idle) {
  std::vector<Trial> some;
  may_be_idle = 0;
  const auto [first, last] = trials().equal_range(option.name);
  for (auto at = first; at != last; ++at) some.push_back(at->second);
  if (!some.empty()) return some;
  Words words = parts_of(option.kind.substr(0, option.kind.find('[')), '|');
  std::erase(words, "automatic");  // the default, beside the word for what it comes to
  if (option.kind.find('|') != std::string::npos) some.push_back({words});
  may_be_idle = 1;
  return some;
}

/// What `simulate` makes the scans of.
const std::map<std::string, std::string>& beams() {
  static const std::map<std::string, std::string> all{
      {"parallel", "--rows 6 --axis-bin 11.2"},
      {"fan", "--geometry cone --sod 50 --sdd 80 --rows 1 --axis-bin 11.2"},
      {"cone", "--geometry cone --sod 50 --sdd 80 --rows 6 --axis-bin 11.2"},
      {"free", "--geometry cone --sod 50 --sdd 80 --rows 6 --jitter 0.2"},
      {"free_parallel", "--trajectory laminography --rows 16"}};
  return all;
}

class EveryOption : public ::testing::TestWithParam<std::string> {
 protected:
  /// A scan with noise also in its darks, and with a dead cell.
  void simulate(const std::string& name, int seed) const {
    ASSERT_EQ(run_("simulate -o clean.h5 --size 16 --bins 24 --views 40 --photons 2000 --flats 4 --darks 4 "
                   "--pixel-size 0.1 --phantom ellipsoids --max-attenuation 1.5 --overwrite --seed " +
                   std::to_string(seed) + ' ' + beams().at(GetParam()))
                  .code,
              0);
    Random random(seed);
    write_changed(run_ / "clean.h5", run_ / name, [&](const Counts& counts) {
      for (Index i = 0; i < counts.rows * counts.bins; ++i)
        if (counts.kind == io::FrameKind::dark)
          counts.pixels[i] = static_cast<std::uint16_t>(counts.pixels[i] + 9 * random.uniform());
      counts.pixels[7] = 90;
    });
  }

  void SetUp() override {
    simulate("scan.h5", 1);
    simulate("other_" + GetParam() + ".h5", 2);
    ASSERT_EQ(run_("info scan.h5 --write-geometry other.npy " + moved()).code, 0);
    std::ofstream(run_ / "rows.txt") << "10\n10.1\n10.2\n10.3\n10.4\n10.5\n";
    std::ofstream(run_ / "wedge.txt") << "0.5 0.4\n1 0.75\n2 1.4\n4 2.5\n";
    std::ofstream(run_ / "spectrum.txt") << "30 0.2\n60 0.5\n90 0.3\n";
    std::ofstream angles(run_ / "angles.txt"), shifts(run_ / "shifts.txt");
    for (int k = 0; k < 40; ++k) angles << 4.4 * k << '\n', shifts << 0.3 * (k % 4) << '\n';
    ASSERT_EQ(run_(std::string("recon scan.h5 -o start_") + GetParam() + ".h5 " + by_cgls).code, 0);
  }

  /// Options that make another geometry of this scan.
  std::string moved() const {
    return GetParam() == "free" || GetParam() == "free_parallel" ? "--pixel-size 0.15" : "--arc 150";
  }

  struct Made {
    int code;
    std::string volume;  ///< the file, and the warnings
    std::string said;
  };

  Made made(const std::string& options) const {
    std::filesystem::remove(run_ / "v.mha");
    const Ended ended = run_("recon scan.h5 -o v.mha --threads 1 " + options);
    std::istringstream lines(ended.err);
    Made all{ended.code, text_of(run_ / "v.mha"), ended.err};
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("tandem: warning: ")) all.volume += line + '\n';
    return all;
  }

  const Made& without(const std::string& with) {
    if (!kept_.contains(with)) kept_[with] = made(with);
    return kept_.at(with);
  }

  /// Tries the values of a trial; returns how many leave the volume as it is without complaint.
  std::size_t idle_of(const std::string& name, const Trial& trial) {
    std::size_t idle = 0;
    const Made& bare = without(trial.with);
    if (bare.code != 0) return 0;  // refused without the option, too
    for (std::string value : trial.values) {
      if (const auto at = value.find("BEAM"); at != std::string::npos) value.replace(at, 4, GetParam());
      const std::string option = "--" + name + (value.empty() ? "" : "=" + value);
      const Made other = made(trial.with + " '" + option + "'");
      const bool is_refused = other.code >= 2 && other.code <= 5;
      EXPECT_TRUE(other.code == 0 || is_refused) << option << ' ' << trial.with << '\n' << other.said;
      if (is_refused || other.volume != bare.volume) continue;
      ++idle;
      said_ += option + ' ' + trial.with + " does nothing\n";
    }
    return idle;
  }

  Program run_;
  std::map<std::string, Made> kept_;
  std::string said_;
};

TEST_P(EveryOption, ChangesTheVolumeOrIsRefused) {
  std::size_t tried = 0;
  for (const Listed& option : listed_options(run_)) {
    if (of_the_run().contains(option.name)) continue;
    std::size_t may_be_idle = 0;
    const std::vector<Trial> some = trials_of(option, may_be_idle);
    EXPECT_FALSE(some.empty()) << "--" << option.name << ": give it values in `trials`";
    for (const Trial& trial : some) {
      said_.clear();
      const bool is_so = std::ranges::find(trial.idle, GetParam()) != trial.idle.end();
      const std::size_t idle = idle_of(option.name, trial);
      EXPECT_LE(idle, is_so ? trial.values.size() : may_be_idle) << GetParam() << ": " << said_;
      ++tried;
    }
  }
  EXPECT_GT(tried, 70U);
}

INSTANTIATE_TEST_SUITE_P(Beams, EveryOption, ::testing::ValuesIn(all_beams),
                         [](const auto& beam) { return beam.param; });

/// A recipe in a volume has options that decide a volume, and no others.
TEST(EveryOptionOfRecon, SaysWhetherItDecidesTheVolume) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 16 --views 20 --quiet").code, 0);
  for (const Listed& option : listed_options(run)) {
    if (option.name == "like") continue;
    const std::vector<float> voxels(8);
    for (const char* name : {"strange.h5", "v.h5"}) std::filesystem::remove(run / name);
    const nlohmann::json recipe{{"version", "0.2.0"}, {"config", option.name + " = true\n"}};
    const auto writer = io::create_volume(run / "strange.h5", {2, 2, 2}, {}, recipe.dump());
    writer->write({0, 2}, voxels.data());
    writer->finish("{}");
    const std::string output = option.name == "output" ? "--dry-run" : "-o v.h5";
    const std::string said = run("recon scan.h5 --like strange.h5 " + output).err;
    EXPECT_EQ(said.find("decides nothing of a volume") != std::string::npos,
              of_the_run().contains(option.name))
        << option.name << '\n'
        << said;
  }
}

/// A port of this machine that nobody listens to.
int free_port() {
  const int any = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  const bool bound = ::bind(any, reinterpret_cast<sockaddr*>(&place), size) == 0 &&
                     ::getsockname(any, reinterpret_cast<sockaddr*>(&place), &size) == 0;
  ::close(any);
  return bound ? ntohs(place.sin_port) : 0;
}

TEST(Look, ServesAScanAtThePortThatIsGiven) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 16 --views 20 --quiet").code, 0);
  const std::string port = std::to_string(free_port());
  const Ended ended = run("look scan.h5 --port " + port, "timeout -s INT 5");
  EXPECT_NE(ended.out.find("look at http://127.0.0.1:" + port + '/'), std::string::npos) << ended.err;
  std::ofstream(run / "stranger.toml") << "port = " << port << '\n';
  const Ended config = run("look scan.h5 --config stranger.toml", "timeout -s INT 5");
  EXPECT_EQ(config.code, 2);
  EXPECT_NE(config.err.find("--port is not taken from a file"), std::string::npos) << config.err;
}

}  // namespace
}  // namespace tandem::test
