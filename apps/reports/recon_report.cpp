#include "recon_report.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <utility>

#include "../../core/instruction_set.hpp"
#include "../../core/process_memory.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../core/version.hpp"
#include "../../io/files/text.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../../pipeline/complete/tell_hardening.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../solvers/run.hpp"
#include "../options/device_options.hpp"
#include "../options/scan_options.hpp"
#include "../runs/lines.hpp"
#include "hardening_report.hpp"
#include "scan_report.hpp"
#include "volume_report.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

/// The bytes in words: "123 MiB".
std::string mib(double bytes) {
  std::ostringstream text;
  text.precision(bytes < 1000 * bytes_per_mib ? 3 : 6);
  text << bytes / bytes_per_mib << " MiB";
  return text.str();
}

/// Prints what steps replaced, if anything.
void print_replaced(std::ostream& to, const pipeline::Findings& findings) {
  const char* before = "replaced  ";
  for (const auto& [name, replaced, notes, only_counts] : findings.steps)
    if (replaced > 0 && !only_counts) to << std::exchange(before, ", ") << replaced << " values by " << name;
  if (*before == ',') to << '\n';
}

/// Prints what else steps say about the rows.
void print_notes(std::ostream& to, const pipeline::Findings& findings) {
  for (const auto& [name, replaced, notes, only_counts] : findings.steps) {
    const char* before = "";
    if (!notes.empty()) to << name << std::string(name.size() < 9 ? 10 - name.size() : 1, ' ');
    for (const auto& [note, rows] : notes)
      to << std::exchange(before, "; ") << rows << (rows == 1 ? " row: " : " rows: ") << note;
    if (!notes.empty()) to << '\n';
  }
}

/// Flats and darks in words: "20 flats in 2 sets, linear between them; 10 darks".
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

/// The speed of a worker, in 10^9 updates per second.
double gups_of(const pipeline::Outcome& out) {
  const double seconds = computing(out.seconds);
  return seconds > 0 ? out.updates / seconds * 1e-9 : 0;
}

/// The curves that are not empty, each with its own iterations.
json curves_json(const pipeline::Curves& curves) {
  json all = {{"slices", curves.slices}};
  for (const auto& [name, curve] :
       {std::pair("change", &curves.change), std::pair("objective", &curves.objective),
        std::pair("psnr_db", &curves.psnr), std::pair("ssim", &curves.ssim)})
    if (!curve->iterations.empty())
      all[name] = {{"iterations", curve->iterations}, {"values", curve->values}};
  return all;
}

/// How roll, tilt and shifts are corrected: "views" are taken as they were measured, or "frames" are
/// resampled. Null if there is nothing to correct.
json stands_by(const pipeline::Job& job) {
  if (job.circle) return "views";
  const bool rolled = pipeline::option::detector_roll.of(job.preprocessing.values).value_or(0) != 0;
  const bool resampled = rolled || job.preprocessing.pose || !job.preprocessing.row_shifts.empty();
  return resampled ? json("frames") : json(nullptr);
}

/// The detector, with the recorded and the taken position of the axis, in bins.
json axis_json(const pipeline::Job& job, const io::ScanInfo& info) {
  const Detector& d = detector_of(job.scan);
  json geometry = geometry_json(job.scan);
  geometry["axis_bin"] = detector_of(job.upright()).axis_bin;
  geometry["axis_bin_taken"] = job.axis_in_file;  // in bins of the file, before columns are chosen and binned
  geometry["axis_bin_in_file"] = info.axis_bin ? json(*info.axis_bin) : json(nullptr);
  geometry["pixel_size_mm"] = job.pitch_known ? json(d.bin_pitch) : json(nullptr);
  geometry["words"] = words_of(job.scan);
  geometry["stands_by"] = stands_by(job);
  geometry["row_shifts"] = !job.preprocessing.row_shifts.empty();
  return geometry;
}

json references_json(const pipeline::FlatUse& flats, const io::ScanInfo& info) {
  return {{"flats", info.flats},
          {"darks", info.darks},
          {"flat_method", pipeline::name_of(flats.flat_method)},
          {"dark_method", pipeline::name_of(flats.dark_method)},
          {"flat_sets", flats.sets.size()},
          {"between_sets", flats.between},
          {"monitor", flats.by_monitor()},
          {"exposures", flats.divided_by == "times of exposure"}};
}

/// What the weights of data follow from.
const char* weights_of(const pipeline::Preprocessing& how) {
  return !how.weights ? "uniform" : how.minus_log ? "counts" : "photons";
}

/// What is computed.
json job_json(const pipeline::Job& job, const io::ScanInfo& info) {
  json volume = place_json(job.place());
  volume["shape"] = job.grid.shape();
  volume["solved_shape"] = job.solved.shape();
  const auto hardening = pipeline::option::beam_hardening.of(job.preprocessing.values);
  const Filter& filter = job.options.fbp_filter;
  const bool continues = job.filters() && filter.padding != Padding::none;
  const bool round = continues && filter.padding == Padding::circle;
  const Index padding = filter.padding_bins.value_or(job.filtered.detector.bins / 2);
  return {{"format", info.format},
          {"geometry", axis_json(job, info)},
          {"references", references_json(job.flats, info)},
          {"beam_hardening", hardening ? json(*hardening) : json(nullptr)},
          {"algorithm", job.method_name()},
          {"volume", volume},
          {"data_weights", job.method->iterates() ? json(weights_of(job.preprocessing)) : json(nullptr)},
          {"padding", name_of(continues ? filter.padding : Padding::none)},
          {"padding_bins", continues && !round ? json(padding) : json(nullptr)},
          {"padding_attenuation", round ? json(filter.attenuation) : json(nullptr)}};
}

/// What noise made of the steps: how many that were asked for fitted it, or that it came after very few.
std::string words_of_noise(const pipeline::Plan& plan, const pipeline::Outcome& out) {
  constexpr int few = 5;
  const std::vector<int>& steps = out.fitted_noise;
  const auto slices = std::ranges::count_if(steps, [](int some) { return some > 0; });
  std::ostringstream text;
  if (slices > 0) {
    text << "noise     the last " << std::ranges::max(steps) << " iterations fitted noise";
    if (std::ssize(steps) > 1)
      text << " (the most of a slice; in " << slices << " of " << steps.size() << ')';
    text << "; " << spelled("stop") << (plan.job.options.stop_by_ncp ? " ncp" : " stagnation")
         << " ends before them\n";
  } else if (out.iterations <= few && std::ranges::count(out.stopped_by, "stagnation") > 0) {
    text << "noise     so much that " << out.iterations
         << " iterations fit all else, and one too many is seen; tv smooths it\n";
  }
  return text.str();
}

/// How it is computed. It lists the slabs of a sum over views, since rounding depends on them.
json flow_json(const pipeline::Plan& plan) {
  const pipeline::Flow& flow = plan.flow;
  json names = json::array();
  for (const Device device : flow.active_devices) names.push_back(device.name());
  const json slab{{"slices", flow.chunk_slices}, {"views", block_views(flow)}};
  return {{"device", names},
          {"instructions", instruction_set()},
          {"tiled", in_tiles(flow)},
          {"route", route_of(flow).name},
          {"vectors", route_of(flow).one_problem ? json(vectors(flow)) : json(nullptr)},
          {"slab", sums_views(plan) ? slab : json(nullptr)},
          {"model", name_of(flow.pair.model)},
          {"why_model", flow.pair.reason},
          {"variant", flow.execution().variant},
          {"precision", name_of(flow.execution().precision)},
          {"matched", flow.pair.matched},
          {"chunk_slices", flow.chunk_slices},
          {"memory_bytes", flow.memory.host},
          {"device_memory_bytes", flow.memory.device}};
}

/// How a solver went on.
json solver_json(const pipeline::Recipe& options, const pipeline::Outcome& out) {
  const std::vector<std::string>& rules = out.stopped_by;
  const bool alike =
      std::ranges::all_of(rules, [&](const std::string& rule) { return rule == rules.front(); });
  json report = {{"iterations", out.iterations},
                 {"slice_iterations", out.slice_iterations},
                 {"stopped_by", rules.empty() ? ""
                                : alike       ? rules.front()
                                              : "several"},
                 {"slice_stopped_by", rules},
                 {"slice_fitted_noise", out.fitted_noise},
                 {"between_levels", out.between_levels ? json(*out.between_levels) : json(nullptr)},
                 {"residuals", out.residuals}};
  if (options.subsets) report["subsets"] = *options.subsets;
  if (options.tikhonov_weight) report["tikhonov_weight"] = *options.tikhonov_weight;
  if (!out.curves.slices.empty()) report["curves"] = curves_json(out.curves);
  return report;
}

json seconds_json(const pipeline::Seconds& s) {
  return {{"total", s.total},
          {"search", s.search},
          {"read", s.read},
          {"preprocess", s.preprocess},
          {"transfer", s.transfer},
          {"filter", s.filter},
          {"backproject", s.backproject},
          {"iterate", s.iterate},
          {"write", s.write}};
}

/// The double whose text is the shortest one of this float: 1e-06, not 9.999999974752427e-07.
double short_number(float value) { return std::stod(io::shortest(value)); }

/// The faults that were found in counts, flats and darks, and repaired.
json findings_json(const pipeline::Findings& found) {
  json report = {{"not_finite", found.replaced_by("not-finite")},
                 {"dead_cells", found.dead},
                 {"steps", json::array()},
                 {"saturated", found.replaced_by("saturation")},
                 {"references_replaced", found.reference_replaced},
                 {"references_not_finite", found.reference_not_finite},
                 {"floored", found.replaced_by("minus-log")},
                 {"floor", nullptr}};  // the least transmission before a logarithm
  for (const auto& [name, replaced, notes, only_counts] : found.steps) {
    if (only_counts) continue;
    report["steps"].push_back({{"name", name}, {"replaced", replaced}});
    if (!notes.empty()) report["steps"].back()["rows"] = notes;
  }
  if (found.floor.highest > 0)
    report["floor"] = {short_number(found.floor.lowest), short_number(found.floor.highest)};
  return report;
}

}  // namespace

json plan_json(const pipeline::Plan& plan, const io::ScanInfo& info) {
  json report = {{"command", "recon"}, {"version", TANDEM_VERSION}};
  report.update(job_json(plan.job, info));
  report.update(flow_json(plan));
  return report;
}

json report_of(const json& planned, const pipeline::Plan& plan, const pipeline::Outcome& out) {
  json report = planned;
  if (plan.job.method->iterates()) report.update(solver_json(plan.job.options, out));
  report["seconds"] = seconds_json(out.seconds);
  if (out.searched.trials > 0)
    report["weight_search"] = {{"seconds", out.searched.seconds},
                               {"trials", out.searched.trials},
                               {"slices", out.searched.slices},
                               {"updates", out.searched.updates}};
  report["updates"] = out.updates;
  report["gups"] = gups_of(out);
  report["left_to_cpu"] = out.left_to_cpu;
  report.update(findings_json(out.findings));
  report["beam"] = hardening_json(out.beam);
  report["peak_memory_bytes"] = peak_memory();
  if (out.quality)
    report["quality"] = {{"psnr_db", out.quality->psnr},
                         {"ssim", out.quality->ssim},
                         {"rmse", out.quality->rmse},
                         {"rmse_disc", out.quality->rmse_disc}};
  return report;
}

/// How roll, tilt and shifts were corrected, in words.
std::string words_of_stand(const pipeline::Job& job) {
  if (job.circle)
    return "; views stand beside the circle of a " + std::string(kind_of(*job.circle)) +
           " beam, as roll, tilt, shifts and a curved detector say";
  return stands_by(job).is_null() ? "" : "; frames are resampled, as roll, tilt and shifts say";
}

void print_plan(std::ostream& to, const pipeline::Plan& plan, const io::ScanInfo& info) {
  const auto& d = detector_of(plan.job.upright());
  const Shape n = plan.job.grid.shape();
  to << "scan      " << info.format << ", " << words_of_size(plan.job.scan) << ", axis at bin "
     << plan.job.axis_in_file << (d.axis_bin == plan.job.axis_in_file ? "" : " of the file") << '\n'
     << "geometry  " << words_of(plan.job.scan) << words_of_stand(plan.job) << '\n'
     << "reference " << words_of_references(plan.job.flats, info) << '\n'
     << "volume    " << n[0] << " x " << n[1] << " x " << n[2] << " (z, y, x), " << plan.job.unit();
  if (plan.job.pitch_known) to << ", pitch " << rounded(plan.job.grid.pitch[0]) << " mm";
  to << ", " << mib(4.0 * (n[0] * n[1] * n[2])) << "\n";
  if (const Shape all = plan.job.solved.shape(); all != n)
    to << "solved    " << all[0] << " x " << all[1] << " x " << all[2]
       << " (z, y, x), all that the rays see, of which the volume is a part\n";
  to << "memory    " << mib(plan.flow.memory.host) << " at most, " << counted(plan.flow.chunk_slices, "slice")
     << " at once" << (sums_views(plan) ? ", " + counted(block_views(plan.flow), "view") : "") << "\n";
  if (!plan.flow.pair.reason.empty())
    to << "model     " << name_of(plan.flow.pair.model) << ", " << plan.flow.pair.reason << '\n';
  to << "device    ";
  std::size_t gpus = 0;
  for (const Device device : plan.flow.active_devices)
    to << words_of(device) << ", ", gpus += device.is_cuda();
  if (plan.flow.pair.model == Model::hierarchical) to << name_of(plan.flow.pair.model) << ' ';
  to << name_of(plan.flow.execution()) << (plan.flow.pair.matched ? "" : ", an unmatched pair");
  if (in_tiles(plan.flow) || plan.flow.home().members() > 1) to << ", vectors " << vectors(plan.flow);
  if (const Device first = plan.flow.active_devices.front(); first.is_cuda())
    to << ", " << mib(plan.flow.memory.device) << " of " << (gpus > 1 ? "each " : "the ")
       << description(first) << " at most";
  to << '\n';
}

void print_outcome(const pipeline::Plan& plan, const io::ScanInfo& info, const pipeline::Outcome& out,
                   const RunForecast& ahead, double seconds) {
  print_plan(std::cout, plan, info);
  const auto digits = std::cout.precision(4);
  std::cout << "algorithm " << plan.job.method_name();
  const double residual = out.residuals.empty() ? 1 : out.residuals.back();
  if (plan.job.method->iterates())
    std::cout << ", " << out.iterations << " iterations, " << pipeline::words_of_residual(residual);
  if (plan.job.options.subsets) std::cout << ", " << *plan.job.options.subsets << " subsets of views";
  if (plan.job.options.tikhonov_weight)
    std::cout << ", weight of |x|^2 " << *plan.job.options.tikhonov_weight;
  if (plan.job.options.tv_weight) std::cout << ", weight of total variation " << *plan.job.options.tv_weight;
  if (plan.job.options.tv_direction)
    std::cout << ", " << plan.job.options.tv_ratio << " times that across "
              << in_degrees(*plan.job.options.tv_direction) << " degrees";
  if (out.between_levels) std::cout << ", voxels " << 100 * *out.between_levels << " % between levels";
  if (plan.job.preprocessing.weights)
    std::cout << ", data weighted by " << weights_of(plan.job.preprocessing);
  const bool from_fbp = plan.job.options.tv_weight && plan.job.options.initial == pipeline::Initial::fbp;
  if (residual > 1 && !from_fbp)  // FBP fits the noise, and a regulariser does not
    std::cout << "\nresidual  larger than at the start: the solver diverges, or weights outweigh the data";
  std::cout << '\n' << words_of_noise(plan, out) << "time      " << seconds << " s";
  if (out.left_to_cpu > 0)
    std::cout << "; the CPU prepared the data of " << out.left_to_cpu << " slices, which a GPU could not";
  if (out.searched.trials > 0)
    std::cout << ", of which " << out.searched.seconds << " s to find the weight in " << out.searched.trials
              << " trials";
  std::cout << '\n';
  if (!out.followed) ahead.print_outcome(std::cout, out, seconds);
  print_replaced(std::cout, out.findings);
  print_notes(std::cout, out.findings);
  const auto corrected = pipeline::option::beam_hardening.of(plan.job.preprocessing.values);
  std::cout << "beam      "
            << pipeline::words_of(out.beam, calibration::HardeningBy::moments,
                                  corrected && !corrected->empty())
            << '\n';
  if (out.quality)
    std::cout << "quality   PSNR " << out.quality->psnr << " dB, SSIM " << out.quality->ssim << ", RMSE "
              << out.quality->rmse << '\n';
  if (out.followed)
    std::cout << "followed  " << out.followed->views << " of " << out.followed->of << " views, volume whole "
              << seconds_now() - out.followed->last_view << " s after the last one\n";
  std::cout.precision(digits);
}

json numbers_json(const io::VolumeFormat& format, const pipeline::Outcome& out, const io::Clipped& clipped) {
  json numbers = {{"type", io::name_of(format.type)}};
  if (format.type == io::VoxelType::float32 || format.type == io::VoxelType::float16) return numbers;
  const pipeline::ValueRange range = out.range.value_or(pipeline::ValueRange{format.min, format.max});
  numbers["min"] = short_number(range.min);
  numbers["max"] = short_number(range.max);
  numbers["found"] = out.range.has_value();
  numbers["seconds"] = out.range_seconds;
  numbers["clipped_below"] = clipped.below;
  numbers["clipped_above"] = clipped.above;
  return numbers;
}

std::string warning_of_clipped(const json& numbers, const pipeline::Plan& plan) {
  if (!numbers.contains("min")) return {};
  const Shape n = plan.job.grid.shape();
  const double clipped = numbers["clipped_below"].get<Index>() + numbers["clipped_above"].get<Index>();
  const double percent = 100 * clipped / (n[0] * n[1] * n[2]);
  if (percent <= 1) return {};
  std::ostringstream text;
  text.precision(3);
  text << percent << " % of all voxels are outside of --range " << numbers["min"].get<float>() << ':'
       << numbers["max"].get<float>()
       << ", and became these; give a wider range, or floats, as .h5 holds them";
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
