#include "recon_report.hpp"

#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "../../core/instruction_set.hpp"
#include "../../core/units.hpp"
#include "../../core/version.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/host_memory.hpp"
#include "../../solvers/run.hpp"
#include "../options/device_options.hpp"
#include "../options/scan_options.hpp"
#include "volume_report.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

/// What steps replaced, if anything.
void print_replaced(std::ostream& to, const pipeline::Findings& findings) {
  const char* before = "replaced  ";
  for (const auto& [name, replaced, notes, only_counts] : findings.steps)
    if (replaced > 0 && !only_counts) to << std::exchange(before, ", ") << replaced << " values by " << name;
  if (*before == ',') to << '\n';
}

/// What else steps say of the rows.
void print_notes(std::ostream& to, const pipeline::Findings& findings) {
  for (const auto& [name, replaced, notes, only_counts] : findings.steps) {
    const char* before = "";
    if (!notes.empty()) to << name << std::string(name.size() < 9 ? 10 - name.size() : 1, ' ');
    for (const auto& [note, rows] : notes)
      to << std::exchange(before, "; ") << rows << (rows == 1 ? " row: " : " rows: ") << note;
    if (!notes.empty()) to << '\n';
  }
}

/// "20 flats in 2 sets, linear between them; 10 darks"
std::string words_of_references(const pipeline::FlatUse& use, const io::ScanInfo& info) {
  std::ostringstream text;
  text << info.flats << " flats";
  if (use.sets.size() > 1) text << " in " << use.sets.size() << " sets, " << use.between;
  if (use.flat_method != pipeline::Combining::mean) text << ", " << name_of(use.flat_method);
  if (!use.divided_by.empty()) text << ", divided by " << use.divided_by;
  text << "; " << info.darks << " darks";
  if (use.dark_method != pipeline::Combining::mean) text << ", " << name_of(use.dark_method);
  return text.str();
}

double computing(const pipeline::Seconds& seconds) { return seconds.backproject + seconds.iterate; }

/// 10^9 updates in a second of a worker. A helper does not count: it is of another kind.
double gups_of(const pipeline::Outcome& out) {
  const double updates = out.updates - (out.helped ? out.helped->updates : 0),
               seconds = computing(out.seconds);
  return seconds > 0 ? updates / seconds * 1e-9 : 0;
}

/// The device and the execution of a helper.
json helper_json(const pipeline::Plan& plan) {
  const pipeline::Worker* helper = plan.flow.helper();
  if (!helper) return nullptr;
  return {{"device", helper->device.name()},
          {"threads", helper->threads},
          {"variant", helper->execution.variant},
          {"precision", name_of(helper->execution.precision)}};
}

/// Each curve has its own iterations; without those that are empty.
json curves_json(const pipeline::Curves& curves) {
  json all = {{"slices", curves.slices}};
  for (const auto& [name, curve] :
       {std::pair("change", &curves.change), std::pair("objective", &curves.objective),
        std::pair("psnr_db", &curves.psnr), std::pair("ssim", &curves.ssim)})
    if (!curve->iterations.empty())
      all[name] = {{"iterations", curve->iterations}, {"values", curve->values}};
  return all;
}

}  // namespace

json plan_json(const pipeline::Plan& plan, const io::ScanInfo& info) {
  const auto& d = detector_of(plan.job.scan);
  json pixel = plan.job.pitch_known ? json(d.bin_pitch) : json(nullptr);
  json volume = place_json(plan.job.place());
  volume["shape"] = plan.job.grid.shape();
  volume["solved_shape"] = plan.job.solved.shape();
  json geometry = geometry_json(plan.job.scan);
  geometry["axis_bin"] = d.axis_bin;
  geometry["axis_bin_taken"] =
      plan.job.axis_in_file;  // in bins of the file, before columns are chosen and binned
  geometry["axis_bin_in_file"] = info.axis_bin ? json(*info.axis_bin) : json(nullptr);
  geometry["pixel_size_mm"] = pixel;
  const pipeline::FlatUse& flats = plan.job.flats;
  const json references = {{"flats", info.flats},
                           {"darks", info.darks},
                           {"flat_method", pipeline::name_of(flats.flat_method)},
                           {"dark_method", pipeline::name_of(flats.dark_method)},
                           {"flat_sets", flats.sets.size()},
                           {"between_sets", flats.between},
                           {"monitor", flats.by_monitor()},
                           {"exposures", flats.divided_by == "times of exposure"}};
  geometry["row_shifts"] = !plan.job.preprocessing.row_shifts.empty();
  const auto hardening =
      pipeline::value_of<std::vector<double>>(plan.job.preprocessing.values, "--beam-hardening");
  json names = json::array();
  for (const Device device : plan.flow.devices) names.push_back(device.name());
  const Filter& filter = plan.job.options.filter;
  const bool continues = plan.job.filters() && filter.padding != Padding::none;
  const json data_weights = plan.job.method->iterates()
                                ? json(plan.job.preprocessing.weights ? "counts" : "uniform")
                                : json(nullptr);
  const json padding_bins =
      continues ? json(filter.padding_bins.value_or(filtered_detector(plan.job.scan).bins / 2))
                : json(nullptr);
  const json vectors = plan.flow.route->shares_vectors ? json(pipeline::vectors(plan.flow)) : json(nullptr);
  // rounding depends on these
  const json slab = sums_views(plan)
                        ? json{{"slices", plan.flow.rows_at_once}, {"views", plan.flow.views_at_once}}
                        : json(nullptr);
  return {{"command", "recon"},
          {"version", TANDEM_VERSION},
          {"format", info.format},
          {"geometry", geometry},
          {"references", references},
          {"beam_hardening", hardening ? json(*hardening) : json(nullptr)},
          {"algorithm", plan.job.method_name()},
          {"volume", volume},
          {"device", names},
          {"instructions", instruction_set()},
          {"helper", helper_json(plan)},
          {"tiled", in_tiles(plan.flow)},
          {"vectors", vectors},
          {"slab", slab},
          {"model", name_of(plan.flow.model)},
          {"variant", plan.flow.execution().variant},
          {"precision", name_of(plan.flow.execution().precision)},
          {"matched", plan.flow.matched},
          {"data_weights", data_weights},
          {"padding", name_of(continues ? filter.padding : Padding::none)},
          {"padding_bins", padding_bins},
          {"rows_at_once", plan.flow.rows_at_once},
          {"memory_bytes", plan.flow.bytes},
          {"device_memory_bytes", plan.flow.device_bytes}};
}

json report_of(const json& planned, const pipeline::Plan& plan, const pipeline::Outcome& out) {
  json report = planned;
  if (plan.job.method->iterates()) {
    report["iterations"] = out.iterations;
    report["slice_iterations"] = out.slice_iterations;
    if (plan.job.options.subsets) report["subsets"] = *plan.job.options.subsets;
    if (plan.job.options.tikhonov_weight) report["tikhonov_weight"] = *plan.job.options.tikhonov_weight;
    report["stopped_by"] = out.stopped_by.empty() ? "" : out.stopped_by.front();
    for (const std::string& rule : out.stopped_by)
      if (rule != out.stopped_by.front()) report["stopped_by"] = "several";
    report["slice_stopped_by"] = out.stopped_by;
    report["residuals"] = out.residuals;
    if (!out.curves.slices.empty()) report["curves"] = curves_json(out.curves);
  }
  const pipeline::Seconds& s = out.seconds;
  report["seconds"] = {{"total", s.total},
                       {"search", s.search},
                       {"read", s.read},
                       {"preprocess", s.preprocess},
                       {"transfer", s.transfer},
                       {"filter", s.filter},
                       {"backproject", s.backproject},
                       {"iterate", s.iterate},
                       {"write", s.write}};
  if (out.searched.trials > 0)
    report["weight_search"] = {{"seconds", out.searched.seconds},
                               {"trials", out.searched.trials},
                               {"slices", out.searched.slices},
                               {"updates", out.searched.updates}};
  report["updates"] = out.updates;
  report["gups"] = gups_of(out);
  if (out.helped) {
    report["helper"]["slices"] = out.helped->slices;
    report["helper"]["updates"] = out.helped->updates;
    report["helper"]["seconds"] = computing(out.helped->seconds);
  }
  report["left_to_cpu"] = out.left_to_cpu;
  report["not_finite"] = out.findings.replaced_by("not-finite");
  report["dead_cells"] = out.findings.dead;
  report["steps"] = json::array();
  for (const auto& [name, replaced, notes, only_counts] : out.findings.steps) {
    if (only_counts) continue;
    report["steps"].push_back({{"name", name}, {"replaced", replaced}});
    if (!notes.empty()) report["steps"].back()["rows"] = notes;
  }
  report["saturated"] = out.findings.replaced_by("saturation");
  report["references_replaced"] = out.findings.reference_replaced;
  report["references_not_finite"] = out.findings.reference_not_finite;
  report["floored"] = out.findings.replaced_by("minus-log");
  report["floor"] = nullptr;  // of transmissions, before a logarithm
  if (out.findings.floor.highest > 0)
    report["floor"] = {out.findings.floor.lowest, out.findings.floor.highest};
  report["peak_memory_bytes"] = pipeline::peak_memory();
  if (out.quality)
    report["quality"] = {{"psnr_db", out.quality->psnr},
                         {"ssim", out.quality->ssim},
                         {"rmse", out.quality->rmse},
                         {"rmse_disc", out.quality->rmse_disc}};
  return report;
}

void print_plan(std::ostream& to, const pipeline::Plan& plan, const io::ScanInfo& info) {
  const auto& d = detector_of(plan.job.scan);
  const Shape n = plan.job.grid.shape();
  to << "scan      " << info.format << ", " << views_of(plan.job.scan) << " views x " << d.rows << " rows x "
     << d.bins << " bins, axis at bin " << plan.job.axis_in_file << '\n'
     << "geometry  " << words_of(plan.job.scan) << '\n'
     << "reference " << words_of_references(plan.job.flats, info) << '\n'
     << "volume    " << n[0] << " x " << n[1] << " x " << n[2] << " (z, y, x), " << plan.job.unit();
  if (plan.job.pitch_known) to << ", pitch " << plan.job.grid.pitch[0] << " mm";
  to << ", " << static_cast<double>(n[0] * n[1] * n[2]) * 4 / bytes_per_mib << " MiB\n";
  if (const Shape all = plan.job.solved.shape(); all != n)
    to << "solved    " << all[0] << " x " << all[1] << " x " << all[2]
       << " (z, y, x), all that the rays see, of which the volume is a part\n";
  to << "memory    " << static_cast<double>(plan.flow.bytes) / bytes_per_mib << " MiB at most, "
     << plan.flow.rows_at_once << " slices at once"
     << (sums_views(plan) ? ", " + std::to_string(plan.flow.views_at_once) + " views" : "") << "\n"
     << "device    ";
  std::size_t gpus = 0;
  for (const Device device : plan.flow.devices) to << words_of(device) << ", ", gpus += device.is_cuda();
  to << name_of(plan.flow.execution()) << (plan.flow.matched ? "" : ", an unmatched pair");
  if (in_tiles(plan.flow) || plan.flow.home().members() > 1) to << ", vectors " << vectors(plan.flow);
  if (const Device first = plan.flow.devices.front(); first.is_cuda())
    to << ", " << static_cast<double>(plan.flow.device_bytes) / bytes_per_mib << " MiB of "
       << (gpus > 1 ? "each " : "the ") << description(first) << " at most";
  if (const pipeline::Worker* helper = plan.flow.helper())
    to << "; the CPU helps, " << name_of(helper->execution) << ", with " << helper->threads << " threads";
  to << '\n';
}

void print_outcome(const pipeline::Plan& plan, const io::ScanInfo& info, const pipeline::Outcome& out,
                   const RunForecast& ahead) {
  print_plan(std::cout, plan, info);
  std::cout << "algorithm " << plan.job.method_name();
  if (plan.job.method->iterates())
    std::cout << ", " << out.iterations << " iterations, residual "
              << (out.residuals.empty() ? 1.0 : out.residuals.back()) << " of the first";
  if (plan.job.options.subsets) std::cout << ", " << *plan.job.options.subsets << " subsets of views";
  if (plan.job.options.tikhonov_weight)
    std::cout << ", weight of |x|^2 " << *plan.job.options.tikhonov_weight;
  if (plan.job.options.tv_weight) std::cout << ", weight of total variation " << *plan.job.options.tv_weight;
  if (plan.job.preprocessing.weights) std::cout << ", data weighted by counts";
  std::cout << "\ntime      " << out.seconds.total << " s";
  if (const double gups = gups_of(out); gups > 0) std::cout << ", " << gups << " GU/s";
  if (out.helped) std::cout << "; the CPU made " << out.helped->slices << " of " << out.slices << " slices";
  if (out.left_to_cpu > 0)
    std::cout << "; the CPU prepared the data of " << out.left_to_cpu << " slices, which a GPU could not";
  if (out.searched.trials > 0)
    std::cout << ", of which " << out.searched.seconds << " s to find the weight in " << out.searched.trials
              << " trials";
  std::cout << '\n';
  if (!out.followed) ahead.print_outcome(std::cout, out);
  print_replaced(std::cout, out.findings);
  print_notes(std::cout, out.findings);
  if (out.quality)
    std::cout << "quality   PSNR " << out.quality->psnr << " dB, SSIM " << out.quality->ssim << ", RMSE "
              << out.quality->rmse << '\n';
  if (out.followed)
    std::cout << "followed  " << out.followed->views << " of " << out.followed->of << " views, volume whole "
              << seconds_now() - out.followed->last_view << " s after the last one\n";
}

json numbers_json(const io::VolumeFormat& format, const pipeline::Outcome& out, const io::Clipped& clipped) {
  json numbers = {{"type", io::name_of(format.type)}};
  if (format.type == io::VoxelType::float32 || format.type == io::VoxelType::float16) return numbers;
  const pipeline::ValueRange range = out.range.value_or(pipeline::ValueRange{format.min, format.max});
  numbers["min"] = range.min;
  numbers["max"] = range.max;
  numbers["found"] = out.range.has_value();
  numbers["seconds"] = out.range_seconds;
  numbers["clipped_below"] = clipped.below;
  numbers["clipped_above"] = clipped.above;
  return numbers;
}

std::string warning_of_clipped(const json& numbers, const pipeline::Plan& plan) {
  if (!numbers.contains("min")) return {};
  const Shape n = plan.job.grid.shape();
  const auto clipped =
      static_cast<double>(numbers["clipped_below"].get<Index>() + numbers["clipped_above"].get<Index>());
  const double percent = 100 * clipped / static_cast<double>(n[0] * n[1] * n[2]);
  if (percent <= 1) return {};
  std::ostringstream text;
  text.precision(3);
  text << percent << " % of all voxels are outside of --min " << numbers["min"].get<float>() << " and --max "
       << numbers["max"].get<float>() << ", and became these; give a wider range, or --dtype float16";
  return text.str();
}

void print_written(const pipeline::Plan& plan, const std::string& output, const json& numbers) {
  std::cout << "written   " << io::files_written(output, plan.job.place().slices()) << '\n';
  if (!numbers.contains("min")) return;
  std::cout << "numbers   " << numbers["type"].get<std::string>() << " from " << numbers["min"].get<float>()
            << " to " << numbers["max"].get<float>() << ' ' << plan.job.unit()
            << (numbers["found"] == true ? ", found in the volume; " : "; ") << numbers["clipped_below"]
            << " voxels were below, " << numbers["clipped_above"] << " above\n";
}

}  // namespace tandem::apps
