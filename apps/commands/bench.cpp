// tandem bench: the speed of one case.

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "../../bench/harness.hpp"
#include "../../core/instruction_set.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../kernels/cone.hpp"
#include "../../kernels/fourier.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../kernels/parallel.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../command.hpp"
#include "../options/device_options.hpp"
#include "../runs/files.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

struct BenchOptions {
  Common common;
  std::string name;
  bench::Axes axes;
  std::string variant = "automatic", precision = "float32", device = "cpu", accuracy = "1e-4";
  std::string from = "file", to = ".h5", dtype = "float32", geometry = "parallel";
};

const std::map<std::string, bench::Rows (*)(const bench::Axes&, const bench::OnLine&)> cases{
    {"parallel", bench::parallel}, {"filter", bench::filter},         {"fbp", bench::fbp},
    {"solvers", bench::solvers},   {"pipeline", bench::pipeline},     {"cone", bench::cone},
    {"fourier", bench::fourier},   {"preprocess", bench::preprocess}, {"fan", bench::fan},
    {"pictures", bench::pictures}, {"flexible", bench::flexible},     {"low-dose", bench::low_dose}};

/// The numbers that are printed after a line, in this order, if a case has them.
constexpr const char* numbers_beside =
    "cpu_ms iterations off hounsfield gap devices streams chunk strips blocks over voxels_a_thread "
    "rows_a_block accuracy relative_error "
    "analytic_error largest_error rmse_disc psnr noise mu mu_bound kappa filter_share kernels_ms "
    "gigabytes_a_second read_ms preprocess_ms transfer_ms compute_ms write_ms read_alone_ms "
    "preprocess_alone_ms transfer_alone_ms compute_alone_ms write_alone_ms of_slowest";

void print_rows(Device device, const json& rows) {
  std::printf("%s: %s\n", device.name().c_str(), description(device).c_str());
  std::printf("%-18s %-19s %-9s %6s %6s %7s %10s %9s %8s  %s\n", "direction", "variant", "precision", "size",
              "views", "slices", "ms", "GU/s", "of limit", "beside");
  for (const json& r : rows) {
    std::string beside;
    std::istringstream keys(numbers_beside);
    for (std::string key; keys >> key;)
      if (r.contains(key)) {
        char text[64];
        std::snprintf(text, sizeof text, "%s%s %.3g", beside.empty() ? "" : ", ", key.c_str(),
                      r[key].get<double>());
        beside += text;
      }
    char gups[32] = "-", share[32] = "-";
    if (r.contains("gups")) std::snprintf(gups, sizeof gups, "%.3f", r["gups"].get<double>());
    if (r.contains("limit"))
      std::snprintf(share, sizeof share, "%.1f %%", 100 * r["share_of_limit"].get<double>());
    std::printf("%-18s %-19s %-9s %6ld %6ld %7ld %10.2f %9s %8s  %s\n",
                r["direction"].get<std::string>().c_str(), r["variant"].get<std::string>().c_str(),
                r["precision"].get<std::string>().c_str(), r["size"].get<long>(), r["views"].get<long>(),
                r["slices"].get<long>(), r["ms"].get<double>(), gups, share, beside.c_str());
  }
}

/// All combinations of --variant and --precision that the device has.
template <class Views>
std::vector<Execution> chosen_executions(const BenchOptions& o, kernels::Table<Views> table) {
  std::vector<Execution> chosen;
  for (const Execution& e : executions(table)) {
    const bool any = o.variant == "all" || o.variant == "automatic";
    if ((any || o.variant == e.variant) && (o.precision == "all" || o.precision == name_of(e.precision)))
      chosen.push_back(e);
  }
  if (chosen.empty())
    throw UsageError("--variant " + o.variant + " --precision " + o.precision + ": bench " + o.name +
                     " has no such variant on " + o.device);
  if (o.variant == "automatic" && o.precision != "all") return {{"automatic", chosen.front().precision}};
  return chosen;
}

std::vector<std::string> methods_that_iterate() {
  std::vector<std::string> names;
  for (const auto& method : pipeline::methods())
    if (method.iterates()) names.emplace_back(method.name);
  return names;
}

/// "all", and the variants in the tables of this build.
std::vector<std::string> variants_to_time() {
  std::vector<std::string> names = variant_names();
  names.insert(names.begin() + 1, "all");
  for (const auto& row : kernels::cone(Device::cpu())) names.emplace_back(row.name);
  for (const auto& row : kernels::fourier(Device::cpu())) names.emplace_back(row.name);
  for (const auto& row : kernels::hierarchical(Device::cpu())) names.emplace_back(row.name);
  return names;
}

void run_bench(BenchOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  o.axes.device = Device::named(o.device);
  o.axes.from_file = o.from == "file";
  o.axes.to = o.to == "host" ? "" : o.to;
  o.axes.halves = o.dtype == "float16";
  o.axes.cone = o.geometry != "parallel";
  const bool of_cone = o.name == "cone" || o.name == "fan" || o.name == "low-dose",
             takes_groups = of_cone || (o.name == "pipeline" && o.axes.cone);
  o.axes.executions = takes_groups && o.variant == name_of(Model::hierarchical)
                          ? chosen_executions(o, kernels::hierarchical(o.axes.device))
                      : of_cone ? chosen_executions(o, kernels::cone(o.axes.device))
                      : o.name == "solvers" && o.variant == "fourier"
                          ? chosen_executions(o, kernels::fourier(o.axes.device))
                          : chosen_executions(o, kernels::parallel(o.axes.device));
  double done = 0, all = 2.0 * (o.axes.slices.size() * o.axes.executions.size());
  const json rows = cases.at(o.name)(o.axes, [&](const std::string& what) {
    all = std::max(all, done + 1);  // some cases have more lines than most
    progress(what, done++, all, "lines");
  });
  progress.clear();
  if (o.common.json != "-") print_rows(o.axes.device, rows);
  write_report(o.common, {{"command", "bench"},
                          {"case", o.name},
                          {"device", description(o.axes.device)},
                          {"instructions", instruction_set()},
                          {"threads", thread_count()},
                          {"repeat", o.axes.repeat},
                          {"rows", rows}});
}

void add_streamed(Table& c, bench::Axes& axes) {
  c.add("--streamed", On::result, axes.streamed, "cone, flexible: from host memory and back, in tiles");
  add_counts(c, "--devices", On::result, axes.devices,
             "pipeline, --streamed, flexible, solvers of a cone beam: GPUs, or a list (default 1)", 1024);
  add_counts(c, "--streams", On::result, axes.streams,
             "pipeline, --streamed: streams of each, 1 to 3, or a list (default 3)", 3);
  c.add("--device-memory", On::result, axes.device_memory, "bytes of each (default: 90 % of what is free)")
      .check(positive(1e18))
      .only_with("--streamed");
}

/// @throws UsageError for what does not go together
void complete(BenchOptions& o, bool gives_slices) {
  if (o.accuracy == "all")
    o.axes.accuracies = {1e-3, 1e-4, 1e-5};
  else
    o.axes.accuracies = {number_in(o.accuracy).value()};
  if (o.axes.streamed && o.name != "cone" && o.name != "flexible")
    throw UsageError("--streamed goes with cone and flexible");
  const bool cube = o.name == "cone" || (o.name == "solvers" && o.geometry == "cone");
  if (cube && gives_slices)
    throw UsageError("--slices does not go with a cone beam, whose volume is a cube; give --size");
  if (o.axes.streamed && o.variant != "automatic" && o.variant != "separable_footprint")
    throw UsageError("--variant " + o.variant +
                     " does not go with --streamed, which has separable_footprint");
}

void add_case(Table& c, BenchOptions& o) {
  c.heading("Case");
  std::vector<std::string> names;
  for (const auto& [name, body] : cases) names.push_back(name);
  add_choice(c, "case", On::result, o.name, names, "what to time").required();
  c.add("--size", On::result, o.axes.size,
        "voxels along x and y, and bins, of fan half as many (default 512)")
      .check(count());
  add_counts(c, "--slices", On::result, o.axes.slices,
             "slices, or a list (default 64; of a cone beam: --size)");
  c.add("--views", On::result, o.axes.views, "views (default 512)").check(count());
  c.add("--repeat", On::result, o.axes.repeat, "runs of which the median counts (default 5)")
      .check(count(1, 1'000'000));
  add_choice(c, "--accuracy", On::result, o.accuracy, {"1e-3", "1e-4", "1e-5", "all"},
             "of fourier (default 1e-4)");
  add_choice(c, "--geometry", On::result, o.geometry, {"parallel", "cone", "fan"},
             "pipeline, solvers: of the scan (default parallel); a cone beam has --size slices; pictures: "
             "parallel or fan");
  add_words(c, "--methods", On::result, o.axes.methods, methods_that_iterate(),
            "solvers: the methods that are timed, NAME,... (default: all)");
  add_words(c, "--orbits", On::result, o.axes.orbits, bench::orbits_of_flexible(),
            "flexible: the orbits that are timed, NAME,... (default: all)");
  add_choice(c, "--from", On::result, o.from, {"host", "file"}, "pipeline: where the scan is (default file)");
  c.add("--chunk", On::result, o.axes.chunk, "pipeline: slices of a chunk (default: as recon chooses)")
      .check(count());
  std::vector<std::string> places{"host"};
  for (const io::VolumeKind& kind : io::volume_kinds())
    if (kind.stores(io::VoxelType::float32)) places.emplace_back(kind.ending());
  add_choice(c, "--to", On::result, o.to, places,
             "pipeline: the ending of the volume's file (default .h5), or host");
  add_choice(c, "--dtype", On::result, o.dtype, {"float32", "float16"},
             "pipeline: type of the volume (default float32)");
  c.add("--steps", On::result, o.axes.all_steps,
        "pipeline: with zingers, stripes (vo-all) and phase (Paganin)");
}

void add_bench(Table& c) {
  auto o = std::make_shared<BenchOptions>();
  add_case(c, *o);
  c.heading("Device");
  add_choice(c, "--variant", On::result, o->variant, variants_to_time(),
             "default automatic; of a cone beam: a model");
  add_choice(c, "--precision", On::result, o->precision, {"all", "float32", "float16", "uint8"},
             "default float32");
  c.add("--device", On::result, o->device, "cpu (default), cuda, cuda:N")
      .check(lower_case())
      .check(no_one_device);
  c.add("--all-tunings", On::result, o->axes.all_tunings,
        "every tuning number of the cone-beam kernels, not only the best");
  add_streamed(c, o->axes);
  add_common(c, o->common);
  c.common({"size", "slices", "views", "repeat", "variant", "precision", "device", "json"});
  c.footer =
      "Examples:\n"
      "  tandem bench fbp --size 1024 --views 1024 --slices 16,64\n"
      "  tandem bench parallel --device cuda --variant all --precision all";
  c.at_end([o, &c] { complete(*o, c.given("--slices")); });
  c.work = [o] {
    check_files(o->common, {}, {});
    run_bench(*o);
  };
}

}  // namespace

extern const Command bench_command{"bench", "The speed of one case", add_bench, false};

}  // namespace tandem::apps
