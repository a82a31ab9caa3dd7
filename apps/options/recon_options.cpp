#include "recon_options.hpp"

#include <algorithm>
#include <bit>

#include "../../core/names.hpp"
#include "../../core/units.hpp"
#include "../../options/recipe.hpp"
#include "../../options/steps.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../runs/follow.hpp"
#include "../runs/resume.hpp"
#include "method_options.hpp"
#include "recon_recipe.hpp"

namespace tandem::apps {

namespace {

using pipeline::Recipe;

constexpr const char* automatic = "auto";

void parse_axis(ReconOptions& o, const std::string& text) {
  o.recipe.find_axis = text == automatic;
  o.recipe.axis_bin = number_in(text);
}

void parse_region(Recipe& recipe, const std::string& text) {
  const std::vector<std::string> axes = parts_of(text, ',');
  if (axes.size() != 3) throw UsageError("--region '" + text + "' is not x0:x1,y0:y1,z0:z1");
  recipe.region_x = parse_range("--region", axes[0]);
  recipe.region_y = parse_range("--region", axes[1]);
  recipe.region_z = parse_range("--region", axes[2]);
}

void add_volume(Table& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  c.heading("Axis and grid");
  const auto no_axis = [](const std::string& text) {
    return text == automatic || number_in(text) ? "" : "'" + text + "' is neither a number nor auto";
  };
  c.add_parsed(
       "--rotation-axis", On::result, [&o](const std::string& text) { parse_axis(o, text); },
       "bin of the axis, from 0, or auto: find it first, as `tandem center` does (default: the file's "
       "own, else the middle)")
      .check(lower_case())
      .check(no_axis)
      .of_kind("X|auto")
      .briefly("bin of the axis, from 0; auto finds it")
      .in("bin");
  c.add("--row-axes", On::result, r.row_axes,
        "parallel beam: one number per line, the bin of the axis of each row, in the place of one for all")
      .of_kind("FILE")
      .called("axes of rows")
      .without("--rotation-axis")
      .without("--detector-roll");
  c.add("--resample-frames", On::result, r.resample_frames,
        "solvers: make frames upright and move them back, as fbp and fdk need it, in the place of views "
        "that stand as roll, tilt and shifts say; less exact, and faster for a parallel beam");
  c.add_parsed(
       "--binning", On::result,
       [&r](const std::string& text) {
         r.binning = std::countr_zero(static_cast<unsigned>(*whole_in(text)));
       },
       "N x N cells become one")
      .check(one_of({"1", "2", "4", "8"}))
      .of_kind("1|2|4|8")
      .default_text("1");
  c.add("--size", On::result, r.size,
        "voxels along x and y (default: bins; half acquisition: the whole field)")
      .in("voxels")
      .check(count());
  c.add("--slices", On::result, o.slices,
        "slices around the middle (default: rows), or a range A:B of the grid")
      .of_kind("NZ|A:B");
  c.add("--voxel-size", On::result, r.voxel_size_mm,
        "width of a voxel, mm (default: the detector pitch at the axis)")
      .in("mm")
      .check(length());
  c.add_parsed(
       "--region", On::result, [&r](const std::string& text) { parse_region(r, text); },
       "part of the grid that --size and --slices make, in voxels (a solver works on all that the "
       "rays see, and writes the part)")
      .of_kind("x0:x1,y0:y1,z0:z1")
      .in("voxels");
}

/// The endings of files, except HDF5, that hold the whole volume.
std::string other_endings() {
  return joined(io::volume_kinds(), ", ", [](const io::VolumeKind& kind) {
    return kind.parts == io::Parts::none ? std::string(kind.ending()) + " (" + std::string(kind.title) + ")"
                                         : std::string();
  });
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const io::VolumeKind& kind : io::volume_kinds()) names.emplace_back(kind.name);
  return names;
}

void parse_checkpoint(ReconOptions& o, const std::string& text) {
  const auto [file, every] = detailed(text, "every");
  o.checkpoint = file;
  if (file != text) o.checkpoint_every = static_cast<int>(*whole_in(every));
}

void add_output(Table& c, ReconOptions& o) {
  c.heading("Output");
  c.add("-o,--output", On::files, o.output,
        "volume to write: .h5, .tif or .dcm (DICOM) for one file per slice, or " + other_endings() +
            "; {name} stands for the name of the scan")
      .briefly("volume to write: .h5, .tif (one file a slice), ...");
  c.add("--part-of", On::files, o.part_of,
        "in the place of -o: the volume that --slices A:B is a part of; several runs may write parts at "
        "the same time, and the last one completes it");
  add_choice(c, "--save-format", On::run, o.save_format, names_of_kinds(),
             "default: from the name of the output");
  add_choice(c, "--dtype", On::result, o.dtype, {"float32", "float16", "uint16", "uint8"},
             "type of the output (default float32); float16 holds 11 bits, up to 65504")
      .called("data type");
  add_choice(c, "--compression", On::result, o.compression, {"none", "zstd", "blosc"},
             "of HDF5 and OME-Zarr (default none): zstd packs better, blosc is faster");
  add_choice(c, "--ome-zarr", On::result, o.ome_zarr, {"0.4", "0.5"},
             "version of OME-Zarr (default 0.4, which most programs read): 0.5 has few files, of a GiB each");
  c.add_parsed(
       "--range", On::result,
       [&o](const std::string& text) {
         const auto [low, high] = parse_ends("--range", text, false);
         o.range.emplace(*low, *high);
       },
       "attenuations that integer types store as 0 and as their largest (default: a range is found in 16 "
       "slices, and shown)")
      .of_kind("LOW:HIGH");
  c.add("--hu", On::result, o.water,
        "of DICOM: write Hounsfield units, for water that attenuates so much per mm (0.0206 at 60 keV); "
        "without --range whole units from -32768 to 32767")
      .in("1/mm")
      .check(length())
      .of_kind("WATER");
  c.add("--preview", On::files, o.preview, "PNG of the middle slices in three planes");
  c.add("--resume", On::files, o.resume,
        "complete what a killed run with the same options left; also leave something to resume if this "
        "run fails or is ended");
  c.add_parsed(
       "--checkpoint", On::files, [&o](const std::string& text) { parse_checkpoint(o, text); },
       "keep in this file what a solver needs to go on: a killed run with --resume and the same options "
       "then goes on in the middle of its iterations, with the same bits; removed in the end. A check-point "
       "is made every N iterations (default: once a minute, and less often if they take more than 5 % of "
       "the time)")
      .check(with_detail(anything(), "every", count(1, 1'000'000)))
      .of_kind("FILE[:every=N]");
  c.add("--dry-run", On::run, o.dry_run,
        "show plan, memory, sizes and the time that it will take; the first time, "
        "rates of this machine are measured");
  c.add("--truth", On::run, o.truth, "volume to compare with: adds PSNR, SSIM and RMSE to the report");
}

void add_sweep(Table& c, ReconOptions& o) {
  c.add("--sweep", On::run, o.sweep,
        "in the place of -o: make the slices of --slices A:B (default: the middle one) with each of "
        "these values of an option, and judge which is the best; --preview shows them")
      .of_kind("NAME=A:B:STEP");
  add_choice(c, "--score", On::run, o.score, {"sharpness", "entropy", "opposite"},
             "what judges them: edges (default), the histogram, or how well opposite views of a parallel "
             "beam agree");
}

/// Takes --follow, or --follow=views=N,seconds=S.
void parse_follow(ReconOptions& o, const std::string& text) {
  o.recipe.follow = true;
  if (text.empty()) return;
  for (auto [name, value] : details_in(text)) {
    const bool is_views = name == "views";
    if (!is_views && name != "seconds")
      throw UsageError("--follow=" + text + ": '" + name + "' is not known; give views=N or seconds=S");
    const Check check = is_views ? count() : within(0.01, 1e7);
    if (const std::string fault = check(value); !fault.empty())
      throw UsageError("--follow=" + text + ": " + name + ": " + fault);
    if (is_views)
      o.planned_views = whole_in(value);
    else
      o.patience = *number_in(value);
  }
}

void add_follow(Table& c, ReconOptions& o) {
  c.heading("While the scan is written");
  c.add_flag_with_details(
      "--follow", On::run, [&o](const std::string& text) { parse_follow(o, text); }, "views=N,seconds=S",
      "add views to the volume as they come: of an HDF5 file in SWMR mode (or closed after some views), "
      "or of a folder that fills with TIFF images; fbp and fdk. views: how many the scan will have (default: "
      "as many as --angles has lines, or as the file has room for); seconds: how long to wait for a scan, or "
      "for its next view, until the views that are there make the volume (default 60)");
}

std::optional<std::size_t> bytes_of(const std::optional<double>& gib) {
  return gib ? std::optional(static_cast<std::size_t>(*gib * bytes_per_gib)) : std::nullopt;
}

/// Takes --slices, a number of slices around the middle, or a range of the full grid. A part of a volume in
/// HDF5 has its own file.
void parse_slices(ReconOptions& o) {
  if (!o.slices_are_range()) {
    std::string text = o.slices;
    if (const std::string fault = count()(text); !fault.empty())
      throw UsageError("--slices: " + fault + "; a number, or a range A:B of the full grid, is needed");
    o.recipe.slices = static_cast<Index>(std::stoll(text));
    return;
  }
  if (o.recipe.region_z) throw UsageError("--slices A:B and --region do not go together");
  o.recipe.region_z = parse_range("--slices", o.slices);
  if (o.part_of.empty()) return;
  if (!o.output.empty()) throw UsageError("-o and --part-of do not go together");
  require_volume_name({"--part-of", o.part_of});
  const io::VolumeKind& kind = *io::volume_kind(o.part_of);
  if (kind.parts == io::Parts::none)
    throw UsageError("--part-of " + o.part_of + ": " + std::string(kind.title) +
                     " has no parts; give a name ending in .h5 or .tif");
  o.output =
      kind.parts == io::Parts::slices ? o.part_of : io::part_path(o.part_of, *o.recipe.region_z).string();
}

}  // namespace

void finish_recipe(ReconOptions& o) {
  Recipe& r = o.recipe;
  if (!o.slices.empty()) parse_slices(o);
  r.host_bytes = bytes_of(o.memory_gib);
  r.execution.variant = o.device.variant, r.execution.precision = precision_named(o.device.precision);
  r.allow_unmatched = o.device.allow_unmatched;
  r.device_bytes = bytes_of(o.device.memory_gib);
  r.steps = o.scan.steps;
  if (!o.scan.stitch.empty()) pipeline::take_options_of_cells(r.steps);
  if (!o.save_format.empty() && !o.output.empty()) {
    const io::VolumeKind* kind = io::volume_kind_named(o.save_format);
    if (!std::filesystem::path(o.output).has_extension()) o.output += kind->ending();
    if (io::volume_kind(o.output) != kind)
      throw UsageError("--save-format " + o.save_format + " does not go with the name " + o.output);
  }
  const io::VolumeKind* kind = io::volume_kind(o.output);
  if (kind && !o.given("--dtype") && !kind->stores(voxel_type_of(o))) o.dtype = name_of(kind->types.front());
}

void choose_devices(ReconOptions& o) {
  const bool matched = pipeline::method_named(o.recipe.method).needs_matched_pair;
  o.recipe.devices = chosen_devices(o.device, matched ? Pairing::matched : Pairing::any);
  o.recipe.fewest_devices = o.device.device == "auto";
  o.recipe.devices_are_open = leaves_devices_open(o.device);
}

io::VoxelType voxel_type_of(const ReconOptions& o) {
  for (const io::VoxelType type : io::voxel_types)
    if (o.dtype == io::name_of(type)) return type;
  return io::VoxelType::float32;
}

Index stored_bytes_of(const ReconOptions& o) {
  const bool comes_as_floats = !o.preview.empty() || !o.truth.empty() || o.serve || o.range_is_open();
  return comes_as_floats ? 4 : bytes_of(voxel_type_of(o));
}

NamedFiles sources_of(const ReconOptions& o) {
  NamedFiles inputs = inputs_of(o.scan);
  inputs.push_back({"--initial", o.recipe.initial_file});
  inputs.push_back({"--support", o.recipe.support.file});
  inputs.push_back({"--bounds", o.recipe.lowest_file});
  inputs.push_back({"--bounds", o.recipe.highest_file});
  inputs.push_back({"--row-axes", o.recipe.row_axes});
  return inputs;
}

NamedFiles outputs_of(const ReconOptions& o) {
  NamedFiles outputs{{"-o", o.output},
                     {"--preview", o.preview, io::Content::picture},
                     {"--save-config", o.save_config, io::Content::recipe},
                     {"--checkpoint", o.checkpoint, io::Content::checkpoint}};
  if (o.is_part_of_hdf5()) outputs.push_back({"--part-of", o.part_of});
  return outputs;
}

io::VolumeFormat format_of(const ReconOptions& o, const pipeline::Plan& plan) {
  const io::Compression compression = o.compression == "zstd"    ? io::Compression::zstd
                                      : o.compression == "blosc" ? io::Compression::blosc
                                                                 : io::Compression::none;
  const std::string time = o.scan.how.time ? std::to_string(*o.scan.how.time) : "";
  std::map<std::string, std::string> found = left_out_of(o);
  found["slices"] = found["region"] = "", found["time"] = time;  // without what says which part it is
  const std::string config =
      config_text(*o.command, found, [&](const std::string& option) { return applies(o, option); });
  const auto range = o.range ? *o.range : o.water ? io::hounsfield_range(*o.water) : std::pair(0.0f, 1.0f);
  return {voxel_type_of(o),
          compression,
          range.first,
          range.second,
          o.water,
          o.range_is_open(),
          plan.job.place(),
          made_by(o.common, sources_of(o), config),
          io::origin_of(o.scan.path),
          o.ome_zarr == "0.5" ? 3 : 2};
}

void add_recon_options(Table& c, ReconOptions& o) {
  o.command = &c;
  c.applies = [&o](const Option& row) {  // what is swept is looked at by a filter
    const bool swept = row.name == "reconstruction-algorithm" && !o.sweep.empty();
    return !swept && applies(o, row.spelled());
  };
  c.heading("Scan");
  c.add("scan", On::result, o.scans, std::string(what_a_scan_is) + "; several are reconstructed one by one")
      .required();
  o.scan.given = given_scan();
  c.add(
       "--stitch", On::result, o.scan.stitch,
       "join the scans to one, in the order in which they lie: z: each sees another height of the sample; x: "
       "another tile of its width. What neighbours both see tells how they lie, or z=MM,MM,... says how far "
       "each lies from the one before, towards higher rows (x: bins); parallel beams")
      .check([](std::string& text) {
        text = in_lower_case(text);
        pipeline::Stitch how;
        return read_stitch(text, how);
      })
      .of_kind("z|x[=MM,...]");
  add_physics(c, o);
  add_scan_options(c, o.scan);
  add_selection(c, o.scan);
  add_method(c, o);
  add_volume(c, o);
  add_output(c, o);
  add_sweep(c, o);
  add_follow(c, o);
  c.heading("Device and memory");
  add_device_options(c, o.device);
  c.add("--memory", On::run, o.memory_gib, "host memory to stay below, GiB (default: 70 % of what is free)")
      .in("GiB")
      .check(positive(1e9));
  c.add(
       "--serve", On::files, o.serve,
       "show the run on a page for browsers of this machine, at an address that is printed; 0: any free port")
      .check(count(0, 65535))
      .of_kind("PORT");
  add_common(c, o.common);
  c.add("--save-config", On::files, o.save_config,
        "write all options that decide the volume to this TOML file, with what was found, for --config")
      .of_kind("FILE");
  c.common({"scan", "output", "preview", "flats", "darks", "arc", "detector-rows", "rotation-axis",
            "remove-stripe-method", "physics", "reconstruction-algorithm", "fbp-filter", "iterations",
            "device"});
  c.footer = words_of_methods() + "\n" + words_of_steps() +
             "\nExamples:\n"
             "  tandem recon scan.h5 -o volume.h5 --fbp-filter hann --preview volume.png\n"
             "  tandem recon scan.h5 -o volume.tif --rotation-axis auto --detector-rows 100:200\n"
             "  tandem recon scan.h5 -o cgls.h5 --reconstruction-algorithm cgls --stop discrepancy\n"
             "  tandem recon scans/*.h5 -o 'out/{name}.h5' --config recipe.toml";
}

}  // namespace tandem::apps
