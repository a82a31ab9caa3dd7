// tandem recon: scan to volume.

#include <iostream>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../io/volume_parts.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../command.hpp"
#include "../command_line.hpp"
#include "../device_options.hpp"
#include "../files.hpp"
#include "../preview.hpp"
#include "../progress.hpp"
#include "../recon_report.hpp"
#include "../resume.hpp"
#include "../scan_options.hpp"
#include "../step_options.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;
using pipeline::Initial;
using pipeline::Method;
using pipeline::Recipe;

struct ReconOptions {
  Common common;
  ScanOptions scan;
  Recipe recipe;
  std::string output, initial = "zero", stop, preview, dtype = "float32", slices, part_of,
                      compression = "none", save_format, truth, region;
  std::string filter = "ramp", model = "automatic", accuracy = "1e-4";
  std::string algorithm;  // empty: fbp or fdk
  std::optional<float> min, max;
  DeviceOptions device;
  std::optional<double> memory_gib;
  bool axis_auto = false, dry_run = false, resume = false;
  const CLI::App* command = nullptr;

  bool is_part_of_hdf5() const {
    return !part_of.empty() && io::volume_kind(part_of) == io::VolumeKind::hdf5;
  }
  bool slices_are_range() const { return slices.find(':') != std::string::npos; }
  bool given(const char* option) const { return command->count(option) > 0; }
};

void parse_region(Recipe& recipe, const std::string& text) {
  std::stringstream parts(text);
  std::string x, y, z, more;
  std::getline(parts, x, ',');
  std::getline(parts, y, ',');
  std::getline(parts, z, ',');
  if (std::getline(parts, more, ',') || z.empty())
    throw UsageError("--region '" + text + "' is not x0:x1,y0:y1,z0:z1");
  recipe.region_x = parse_range(x);
  recipe.region_y = parse_range(y);
  recipe.region_z = parse_range(z);
}

void parse_stop(Recipe& recipe, const std::string& given) {
  const std::string text = in_lower_case(given);
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const double value = equals == std::string::npos ? 0 : number_in(text.substr(equals + 1)).value_or(0);
  if (text == "discrepancy")
    recipe.stop_by_discrepancy = true;
  else if (name == "relative" && value > 0)
    recipe.stop_relative = value;
  else if (name == "time" && value > 0)
    recipe.stop_seconds = value;
  else
    throw UsageError("--stop '" + given + "' is not known; give discrepancy, relative=EPS or time=S");
}

/// Names of the methods that read an option.
std::string readers_of(std::string_view option) {
  std::string names;
  for (const Method& method : pipeline::methods())
    if (method.reads(option)) names += (names.empty() ? "" : ", ") + std::string(method.name);
  return names;
}

/// What does not go together, seen without opening a file.
void check_together(const ReconOptions& o) {
  const Recipe& r = o.recipe;
  const Method& method = pipeline::method_named(r.method);
  for (const char* option : {"--iterations", "--stop", "--initial"})
    if (!method.iterates() && o.given(option))
      throw UsageError(std::string(option) + " goes with an iterative algorithm, not with " + r.method);
  for (const char* option : {"--relaxation", "--nonnegative"})
    if (!method.reads(option) && o.given(option))
      throw UsageError(std::string(option) + " goes with " + readers_of(option) + ", not with " + r.method);
  if (!method.filters && r.initial != Initial::fbp && (o.given("--fbp-filter") || o.given("--fbp-cutoff")))
    throw UsageError("--fbp-filter goes with fbp, or with --initial fbp");
  if (o.given("--gain") && !r.stop_by_discrepancy)
    throw UsageError("--gain goes with --stop discrepancy alone");
  if (o.given("--accuracy") && r.model != Model::fourier)
    throw UsageError("--accuracy goes with --model fourier");
  if (o.given("--variant") && r.model == Model::fourier)
    throw UsageError("--variant does not go with --model fourier, which has kernels of its own");
  if (o.axis_auto && r.axis_bin)
    throw UsageError("--rotation-axis and --rotation-axis-auto do not go together");
  const bool floats = o.dtype.starts_with("float");
  if (floats ? (o.min || o.max) : !(o.min && o.max && *o.min < *o.max))
    throw UsageError(floats ? "--min and --max go with --dtype uint16 or uint8"
                            : "--dtype " + o.dtype + " needs --min V below --max V");
  if (o.compression != "none" && io::volume_kind(o.output) == io::VolumeKind::tiff)
    throw UsageError("--compression goes with HDF5; give -o a name ending in .h5");
  if (o.preview == "-") throw UsageError("--preview -: a picture is no text; give the name of a PNG file");
  if (!o.part_of.empty() && !o.slices_are_range())
    throw UsageError("--part-of " + o.part_of + " goes with --slices A:B");
  if (o.output.empty() && !o.dry_run)
    throw UsageError("-o VOLUME is missing; give a name ending in .h5 or .tif, or --dry-run");
  if (!o.output.empty()) require_volume_name({"-o", o.output});
  if (!r.region_z && o.given("--region")) throw UsageError("--region is not x0:x1,y0:y1,z0:z1");
}

std::optional<std::size_t> bytes_of(const std::optional<double>& gib) {
  return gib ? std::optional(static_cast<std::size_t>(*gib * bytes_per_gib)) : std::nullopt;
}

/// A number of slices around the middle, or a range of the full grid. A part of a volume in HDF5 has a file
/// of its own.
void parse_slices(ReconOptions& o) {
  if (!o.slices_are_range()) {
    std::string text = o.slices;
    if (const std::string fault = count()(text); !fault.empty())
      throw UsageError("--slices: " + fault + "; a number, or a range A:B of the full grid, is needed");
    o.recipe.slices = static_cast<Index>(std::stoll(text));
    return;
  }
  if (o.recipe.region_z) throw UsageError("--slices A:B and --region do not go together");
  o.recipe.region_z = parse_range(o.slices);
  if (o.part_of.empty()) return;
  if (!o.output.empty()) throw UsageError("-o and --part-of do not go together");
  require_volume_name({"--part-of", o.part_of});
  o.output = io::volume_kind(o.part_of) == io::VolumeKind::tiff
                 ? o.part_of
                 : io::part_path(o.part_of, *o.recipe.region_z).string();
}

void finish_recipe(ReconOptions& o) {
  Recipe& r = o.recipe;
  if (!o.region.empty()) parse_region(r, o.region);
  if (!o.slices.empty()) parse_slices(o);
  if (!o.stop.empty()) parse_stop(r, o.stop);
  r.filter.window = window_named(o.filter);
  if (!o.algorithm.empty()) r.method = o.algorithm;
  const std::string initial = in_lower_case(o.initial);
  r.initial = initial == "zero" ? Initial::zero : initial == "fbp" ? Initial::fbp : Initial::file;
  if (r.initial == Initial::file) r.initial_file = o.initial;
  r.host_bytes = bytes_of(o.memory_gib);
  if (o.model != "automatic") r.model = model_named(o.model);
  r.execution = execution_of(o.device);
  r.execution.accuracy = number_in(o.accuracy).value();
  r.allow_unmatched = o.device.allow_unmatched;
  r.streams = o.device.streams;
  r.device_bytes = bytes_of(o.device.memory_gib);
  r.steps = o.scan.steps;
  if (!o.save_format.empty() && !o.output.empty()) {
    const bool tiff = o.save_format == "tiff";
    if (!std::filesystem::path(o.output).has_extension()) o.output += tiff ? ".tif" : ".h5";
    if (io::volume_kind(o.output) != (tiff ? io::VolumeKind::tiff : io::VolumeKind::hdf5))
      throw UsageError("--save-format " + o.save_format + " does not go with the name " + o.output);
  }
}

/// The inputs that decide the volume.
NamedFiles sources_of(const ReconOptions& o) {
  NamedFiles inputs = inputs_of(o.scan);
  inputs.push_back({"--initial", o.recipe.initial_file});
  return inputs;
}

/// What stands in the way before any file is opened.
void check_before(ReconOptions& o) {
  const bool matched = pipeline::method_named(o.recipe.method).needs_matched_pair;
  o.recipe.devices = chosen_devices(o.device, matched ? Pairing::matched : Pairing::any);
  o.recipe.fewest_devices = o.device.device == "auto";
  NamedFiles inputs = sources_of(o);
  inputs.push_back({"--truth", o.truth});
  NamedFiles outputs{{"-o", o.output}, {"--preview", o.preview}};
  if (o.is_part_of_hdf5()) outputs.push_back({"--part-of", o.part_of});
  check_files(o.common, inputs, outputs);
}

/// A name that a method has for cone beams is for nothing else, nor are models of parallel beams.
void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan) {
  const std::string& name = o.recipe.method;
  require<GeometryError>(name == plan.method->name || name == plan.method_name(),
                         "--reconstruction-algorithm ", name, ": the scan is a parallel beam; give ",
                         plan.method->name);
  require<GeometryError>(!o.recipe.model || plan.model == o.recipe.model,
                         "--model goes with a parallel beam only");
}

/// Looks for the axis if that is asked for, and gives it to the recipe; the axes that are left open.
std::vector<double> axes_found(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  if (!o.axis_auto) return {};
  const pipeline::AxisEstimate axis = find_axis_of(reader, o.scan, {}, 5, progress);
  o.recipe.axis_bin = axis.axis_bin;
  std::ostringstream text;
  text << "rotation axis at bin " << axis.axis_bin << " +- " << axis.uncertainty << " ("
       << name_of(axis.method) << ")";
  progress.note(text.str());
  return axes_of(axis);
}

io::VolumeFormat format_of(const ReconOptions& o, const pipeline::Plan& plan) {
  const io::VoxelType type = o.dtype == "uint16"    ? io::VoxelType::uint16
                             : o.dtype == "uint8"   ? io::VoxelType::uint8
                             : o.dtype == "float16" ? io::VoxelType::float16
                                                    : io::VoxelType::float32;
  const io::Compression compression = o.compression == "zstd"    ? io::Compression::zstd
                                      : o.compression == "blosc" ? io::Compression::blosc
                                                                 : io::Compression::none;
  return {type, compression, o.min.value_or(0), o.max.value_or(1), plan.place()};
}

/// Says what a killed run left.
void tell_of_done(const std::vector<Range>& done, ProgressLine& progress) {
  progress.note(done.empty() ? "note: --resume: no killed run left anything here; this one begins anew"
                             : "note: --resume: " + words_of(done) +
                                   " are there already; what the report says of work is of the others");
}

void run_recon(ReconOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet);
  auto reader = open(o.scan);
  const Selection selected = select(o.scan, reader->info());
  o.recipe.views = selected.views;
  o.recipe.rows = selected.rows;
  o.recipe.bins = selected.bins;
  const std::vector<double> axes = axes_found(o, *reader, progress);
  const pipeline::Plan plan = make_plan(reader->info(), o.recipe);
  require_its_beam(o, plan);
  for (const std::string& note : reader->info().notes) progress.note("note: " + note);
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  json planned = plan_json(plan, reader->info());
  planned["warnings"] = progress.warnings();
  if (o.dry_run) {
    print_plan(o.common.json == "-" ? std::cerr : std::cout, plan, reader->info());
    return write_report(o.common, planned);
  }
  warn_of_repeated_view(*reader, o.scan, axes.empty() ? std::vector{plan.axis_in_file} : axes, progress);
  planned["source"] = source_json(o.common, o.scan.path);
  planned["input"] = o.scan.path;
  json recipe = planned;
  recipe["arguments"] = o.command->config_to_str(false, false);
  const io::Continuation continuation{
      o.resume, identity_of(o.common, sources_of(o), recipe["arguments"].get<std::string>(), planned)};
  auto writer = io::create_volume(o.output, plan.grid.shape(), format_of(o, plan), text_of(recipe),
                                  o.common.replace(), continuation);
  if (o.is_part_of_hdf5()) io::require_part_free(o.part_of, *o.recipe.region_z);
  const std::vector<Range> done = writer->done();
  if (o.resume) tell_of_done(done, progress);
  std::optional<io::Output> preview;
  if (!o.preview.empty()) preview.emplace(o.preview, o.common.replace());
  pipeline::Options options{
      [&](const pipeline::Stage& at) { progress(at.name, at.done, at.total, "slices", at.detail); }, o.truth,
      !o.preview.empty(), o.scan.how.allow_external_files};
  const pipeline::Outcome outcome = pipeline::reconstruct(*reader, plan, *writer, options);
  for (const std::string& warning : outcome.warnings) progress.warn(warning);
  planned["output"] = o.output;
  json report = report_of(planned, plan, outcome);
  report["warnings"] = progress.warnings();
  report["resumed"] = json::array();
  for (const Range slices : done) report["resumed"].push_back({slices.first, slices.last});
  writer->finish(text_of(report));
  std::string missing;
  if (o.is_part_of_hdf5()) missing = io::join_parts(o.part_of, o.common.replace());
  if (!missing.empty()) progress.note("note: " + o.part_of + " is incomplete: it lacks " + missing);
  if (preview) write_preview(std::move(*preview), outcome.middle, plan);
  progress.clear();
  write_report(o.common, report);
  if (o.common.json != "-") print_outcome(plan, reader->info(), outcome, o.output);
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const Method& method : pipeline::methods())
    for (const std::string_view name : {method.name, method.name_for_cones})
      if (!name.empty()) names.emplace_back(name);
  return names;
}

/// A line a method, for the help.
std::string words_of_methods() {
  std::string text = "Methods:";
  for (const Method& method : pipeline::methods())
    text += "\n  " + std::string(method.name) + ": " + std::string(method.help);
  return text;
}

void add_method(CLI::App& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  heading(c, "Method");
  add_choice(c, "--reconstruction-algorithm", o.algorithm, names_of_methods(),
             "default fbp for a parallel beam, fdk for a cone beam");
  add_choice(c, "--model", o.model, {"automatic", "pixel_driven", "joseph", "fourier"},
             "parallel beam: how shadows are computed; fourier goes through frequencies, in O(N^2 log N) "
             "operations a slice (default automatic: the faster one of pixel_driven and fourier)");
  add_choice(c, "--accuracy", o.accuracy, {"1e-3", "1e-4", "1e-5"},
             "fourier: relative error of what is back-projected (default 1e-4)");
  const std::vector<std::string_view> windows = window_names();
  add_choice(c, "--fbp-filter", o.filter, {windows.begin(), windows.end()},
             "default ramp; none: no filtering at all");
  c.add_option("--fbp-cutoff", r.filter.cutoff,
               "fraction of the Nyquist frequency, 0..1 (default 1; butterworth 0.5)")
      ->check(within(1e-6, 1));
  c.add_option("--initial", o.initial, "initial volume: zero (default), fbp, or a volume file");
  c.add_option("--iterations", r.iterations, "at most this many steps (default 30)")
      ->check(count(0, 1'000'000));
  c.add_option("--relaxation", r.relaxation, readers_of("--relaxation") + ": in (0, 2), default 1")
      ->check(within(1e-6, 2 - 1e-6));
  c.add_flag("--nonnegative", r.nonnegative, readers_of("--nonnegative") + ": no voxel below zero");
  c.add_option("--stop", o.stop, "rule that may stop before --iterations")
      ->type_name("discrepancy|relative=EPS|time=S");
  c.add_option("--max-floored", r.max_floored_percent,
               "how many transmissions may lie below the floor of the logarithm, half a count (default 1)")
      ->check(within(0, 100))
      ->type_name("PERCENT");
  c.add_option("--gain", r.gain, "counts per photon, for --stop discrepancy (default 1)")->check(positive());
}

void add_volume(CLI::App& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  heading(c, "Axis and grid");
  c.add_option("--rotation-axis", r.axis_bin,
               "bin of the axis, from 0 (default: the file's own, else the middle)");
  c.add_flag("--rotation-axis-auto", o.axis_auto, "find it first, as `tandem center` does");
  c.add_option("--binning", r.binning, "0 to 3: 2^N x 2^N cells become one")->check(count(0, 3));
  c.add_option("--size", r.size, "voxels along x and y (default: bins; half acquisition: the whole field)")
      ->check(count());
  c.add_option("--slices", o.slices, "slices around the middle (default: rows), or a range A:B of the grid")
      ->type_name("NZ|A:B");
  c.add_option("--voxel-size", r.voxel_size_mm,
               "width of a voxel, mm (default: the detector pitch at the axis)")
      ->check(length());
  c.add_option("--region", o.region, "part of the grid that --size and --slices make, in voxels")
      ->type_name("x0:x1,y0:y1,z0:z1");
}

void add_output(CLI::App& c, ReconOptions& o) {
  heading(c, "Output");
  c.add_option("-o,--output", o.output, "volume to write: .h5, or .tif for one file per slice");
  c.add_option(
      "--part-of", o.part_of,
      "in the place of -o: the volume that --slices A:B is a part of; several runs may write parts at "
      "the same time, and the last one completes it");
  add_choice(c, "--save-format", o.save_format, {"h5", "tiff"}, "default: from the name of the output");
  add_choice(c, "--dtype", o.dtype, {"float32", "float16", "uint16", "uint8"},
             "type of the output (default float32); float16 holds 11 bits, up to 65504");
  add_choice(c, "--compression", o.compression, {"none", "zstd", "blosc"},
             "of HDF5 (default none): zstd packs better, blosc is faster");
  c.add_option("--min", o.min, "attenuation that integer types store as 0")->check(within(-1e30, 1e30));
  c.add_option("--max", o.max, "attenuation that integer types store as their largest")
      ->check(within(-1e30, 1e30));
  c.add_option("--preview", o.preview, "PNG of the middle slices in three planes");
  c.add_flag("--resume", o.resume,
             "complete what a killed run with the same options left; also leave something to resume if this "
             "run fails or is ended");
  c.add_flag("--dry-run", o.dry_run, "show memory, sizes and plan; read no pixels");
  c.add_option("--truth", o.truth, "volume to compare with: adds PSNR, SSIM and RMSE to the report");
}

}  // namespace

void add_recon(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<ReconOptions>();
  CLI::App& c = *program.add_subcommand("recon", "Scan to volume");
  o->command = &c;
  add_scan_options(c, o->scan);
  add_selection(c, o->scan);
  add_method(c, *o);
  add_volume(c, *o);
  add_output(c, *o);
  heading(c, "Device and memory");
  add_device_options(c, o->device);
  c.add_option("--memory", o->memory_gib, "host memory to stay below, GiB (default: 70 % of what is free)")
      ->check(positive(1e9));
  add_common(c, o->common);
  c.footer(words_of_methods() + "\n" + words_of_steps() +
           "\nExamples:\n"
           "  tandem recon scan.h5 -o volume.h5 --fbp-filter hann --preview volume.png\n"
           "  tandem recon scan.h5 -o volume.tif --rotation-axis-auto --start-row 100 --end-row 200\n"
           "  tandem recon scan.h5 -o cgls.h5 --reconstruction-algorithm cgls --stop discrepancy");
  c.callback([o, &chosen] {
    finish_recipe(*o);
    check_together(*o);
    chosen = [o] {
      check_before(*o);
      run_recon(*o);
    };
  });
}

}  // namespace tandem::apps
