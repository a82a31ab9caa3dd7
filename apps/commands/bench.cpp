// tandem bench: the speed of one case.

#include <cstdio>
#include <iostream>

#include "../../bench/harness.hpp"
#include "../command.hpp"
#include "../files.hpp"
#include "../progress.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem_version.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

struct BenchOptions {
  Common common;
  std::string name;
  bench::Axes axes;
  std::string variant = "automatic", precision = "float32", device = "cpu";
};

const std::map<std::string, bench::Rows (*)(const bench::Axes&, const bench::OnLine&)> cases{
    {"parallel", bench::parallel}, {"filter", bench::filter},     {"fbp", bench::fbp},
    {"solvers", bench::solvers},   {"pipeline", bench::pipeline}, {"cone", bench::cone}};

void print(const json& rows) {
  std::printf("%-18s %-9s %-9s %6s %6s %7s %10s %9s %8s  %s\n", "direction", "variant", "precision", "size",
              "views", "slices", "ms", "GU/s", "of limit", "beside");
  for (const json& r : rows) {
    std::string beside;
    for (const char* key :
         {"devices", "streams", "strips", "blocks", "over", "voxels_a_thread", "rows_a_block",
          "relative_error", "analytic_error", "mu", "kappa", "filter_share", "kernels_ms",
          "gigabytes_a_second", "read_ms", "preprocess_ms", "transfer_ms", "compute_ms", "write_ms"})
      if (r.contains(key)) {
        char text[64];
        std::snprintf(text, sizeof text, "%s%s %.3g", beside.empty() ? "" : ", ", key, r[key].get<double>());
        beside += text;
      }
    char gups[32] = "-", share[32] = "-";
    if (r.contains("gups")) std::snprintf(gups, sizeof gups, "%.3f", r["gups"].get<double>());
    if (r.contains("limit"))
      std::snprintf(share, sizeof share, "%.1f %%", 100 * r["share_of_limit"].get<double>());
    std::printf("%-18s %-9s %-9s %6ld %6ld %7ld %10.2f %9s %8s  %s\n",
                r["direction"].get<std::string>().c_str(), r["variant"].get<std::string>().c_str(),
                r["precision"].get<std::string>().c_str(), r["size"].get<long>(), r["views"].get<long>(),
                r["slices"].get<long>(), r["ms"].get<double>(), gups, share, beside.c_str());
  }
}

/// The cross of --variant and --precision, as far as the device has it.
std::vector<Execution> chosen_executions(const BenchOptions& o) {
  if (o.variant == "automatic" && o.precision != "all")
    return {{Variant::automatic, precision_named(o.precision)}};
  std::vector<Execution> chosen;
  for (const Execution e : executions(o.axes.device))
    if ((o.variant == "all" || o.variant == name_of(e.variant)) &&
        (o.precision == "all" || o.precision == name_of(e.precision)))
      chosen.push_back(e);
  if (chosen.empty())
    throw UsageError("--variant " + o.variant + " --precision " + o.precision + ": not on " + o.device);
  return chosen;
}

void run_bench(BenchOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet);
  o.axes.device = Device::named(o.device);
  o.axes.executions = chosen_executions(o);
  double done = 0;
  const json rows = cases.at(o.name)(o.axes, [&](const std::string& what) {
    progress(what, done++, 2 * static_cast<double>(o.axes.slices.size() * o.axes.executions.size()), "lines");
  });
  if (o.common.json != "-") print(rows);
  write_report(o.common, {{"command", "bench"},
                          {"version", TANDEM_VERSION},
                          {"case", o.name},
                          {"device", description(o.axes.device)},
                          {"threads", thread_count()},
                          {"repeat", o.axes.repeat},
                          {"rows", rows}});
}

}  // namespace

void add_bench(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App& c = *program.add_subcommand("bench", "The speed of one case");
  add_common(c, o->common);
  std::vector<std::string> names;
  for (const auto& [name, body] : cases) names.push_back(name);
  c.add_option("case", o->name, "what to time")->required()->check(CLI::IsMember(names));
  c.add_option("--size", o->axes.size, "voxels along x and y, and bins (default 512)")
      ->check(CLI::PositiveNumber);
  c.add_option("--slices", o->axes.slices, "slices, or a list N,N,... (default 64)")
      ->check(CLI::PositiveNumber)
      ->delimiter(',')
      ->allow_extra_args(false);
  c.add_option("--views", o->axes.views, "views (default 512)")->check(CLI::PositiveNumber);
  c.add_option("--repeat", o->axes.repeat, "runs of which the median counts (default 5)")
      ->check(CLI::PositiveNumber);
  c.add_option("--variant", o->variant, "automatic (default), all, standard, texture, alu, hybrid, tensor")
      ->check(CLI::IsMember({"automatic", "all", "standard", "texture", "alu", "hybrid", "tensor"}));
  c.add_option("--precision", o->precision, "all, float32 (default), float16, uint8")
      ->check(CLI::IsMember({"all", "float32", "float16", "uint8"}));
  c.add_option("--device", o->device, "cpu (default), cuda, cuda:N");
  c.add_flag("--sweep", o->axes.sweep, "every tuning number of the cone-beam kernels, not only the best");
  CLI::Option* streamed =
      c.add_flag("--streamed", o->axes.streamed, "cone: from host memory and back, in tiles");
  c.add_option("--devices", o->axes.devices, "GPUs, or a list N,N,... (default 1)")
      ->check(CLI::PositiveNumber)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(streamed);
  c.add_option("--streams", o->axes.streams, "streams of each, or a list of 1 to 3 (default 3)")
      ->check(CLI::Range(1, 3))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(streamed);
  c.add_option("--device-memory", o->axes.device_memory, "bytes of each (default: 90 % of what is free)")
      ->check(CLI::PositiveNumber)
      ->needs(streamed);
  c.callback([o, &chosen] {
    if (o->axes.streamed && o->name != "cone") throw UsageError("--streamed goes with cone");
    chosen = [o] {
      check_files({}, {{"--json", o->common.json}});
      run_bench(*o);
    };
  });
}

}  // namespace tandem::apps
