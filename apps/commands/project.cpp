// tandem project: the forward operator alone, volume to scan.

#include <algorithm>
#include <array>
#include <iostream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../../pipeline/project.hpp"
#include "../beams/beam.hpp"
#include "../command.hpp"
#include "../options/geometry_options.hpp"
#include "../options/scan_options.hpp"
#include "../reports/scan_report.hpp"
#include "../runs/files.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

namespace {

using pipeline::ProjectedScan;

struct ProjectOptions {
  Common common;
  GeometryOptions geometry;
  std::string volume, output, like, model;
  const Table* command = nullptr;
  bool given(const char* option) const { return command->given(option); }
};

/// A grid of cubes around the axis, for a volume whose file says nothing about its voxels, except perhaps
/// their pitch.
VolumeGrid centred_grid(const ProjectOptions& o, const io::VolumeReader& volume) {
  const Shape n = volume.shape();
  std::optional<double> pitch = volume.pitch_mm();
  if (!pitch && volume.unit() == "1/mm") pitch = o.geometry.pixel_size_mm;
  require<GeometryError>(pitch || volume.unit() != "1/mm", o.volume,
                         ": is in 1/mm, but has no pitch; give --pixel-size MM");
  return {{n[2], n[1], n[0]}, {pitch.value_or(1), pitch.value_or(1), pitch.value_or(1)}, {}};
}

/// The scan of the geometry options. It has as many bins as the full grid has voxels along x. If the options
/// give no number of rows, it has as many rows as the full grid has slices, or, in a parallel beam, as the
/// volume has slices.
Scan scan_of(const ProjectOptions& o, const VolumeGrid& grid, const std::optional<io::VolumePlace>& place,
             std::string& note) {
  const std::array<Index, 3> size = place ? place->full_size : grid.size;
  if (!o.geometry.views_file.path.empty()) return scan_of(o.geometry, size[0], size[2], grid.pitch[0], note);
  const bool apart = beam_named(o.geometry.geometry).rows_are_slices;
  Scan scan = scan_of(o.geometry, size[0], apart ? grid.size[2] : size[2],
                      o.geometry.pixel_size_mm.value_or(grid.pitch[0]), note);
  if (apart) detector_of(scan).row_pitch = grid.pitch[2];
  return scan;
}

/// Takes the rays of --like. If only the volume has mm, bins are as wide as voxels; if only the scan has mm,
/// or neither, lengths are in bins.
void take_scan(ProjectedScan& target, const ProjectOptions& o, bool in_mm, ProgressLine& progress) {
  io::OpenOptions how = o.geometry.list;
  how.arc_deg = o.geometry.arc;
  const auto reader = io::open_scan(o.like, how);
  const io::ScanInfo& info = reader->info();
  for (const std::string& note : info.notes) progress.note("note: " + note);
  target.scan = info.scan;
  if (in_mm && info.pixel_size_mm) {
    target.pixel_size_mm = info.pixel_size_mm;
    return;
  }
  require<GeometryError>(!needs_mm(info.scan), o.volume, ": has no pitch, which the ", kind_of(info.scan),
                         " beam ", o.like, " needs; make the volume with a pixel size");
  Detector& d = detector_of(target.scan);
  d.bin_pitch = in_mm ? target.grid.pitch[0] : 1;
  d.row_pitch = in_mm ? target.grid.pitch[2] : 1;
  if (in_mm) target.pixel_size_mm = d.bin_pitch;
}

/// The scan to make, from --like or from the geometry options, and the volume at the place that its file
/// gives.
ProjectedScan target_of(const ProjectOptions& o, const io::VolumeReader& volume, ProgressLine& progress) {
  const std::optional<io::VolumePlace> place = volume.place();
  ProjectedScan target;
  target.grid = place ? place->grid : centred_grid(o, volume);
  const bool in_mm = volume.unit() == "1/mm" || volume.pitch_mm();
  const bool from_file = !o.geometry.views_file.path.empty();
  require<GeometryError>(in_mm || (!from_file && !beam_named(o.geometry.geometry).needs_mm), o.volume,
                         ": has no pitch, which a ", from_file ? "flexible" : o.geometry.geometry,
                         " beam needs; make the volume with a pixel size");
  require<GeometryError>(in_mm || !o.geometry.pixel_size_mm, "--pixel-size ",
                         o.geometry.pixel_size_mm.value_or(0), " mm: ", o.volume, " is in ", volume.unit(),
                         "; leave --pixel-size out, or make the volume with a pixel size");
  if (!in_mm) target.attenuation = 1 / target.grid.pitch[0];
  if (o.like.empty()) {
    std::string note;
    target.scan = scan_of(o, target.grid, place, note);
    if (!note.empty()) progress.note("note: " + note);
    if (in_mm) target.pixel_size_mm = detector_of(target.scan).bin_pitch;
  } else {
    take_scan(target, o, in_mm, progress);
  }
  const Detector& d = detector_of(target.scan);
  const bool apart = rows_are_slices(target.scan);
  if (!place)  // voxels as wide as bins appear at the axis are as high as rows appear there
    target.grid.pitch[2] = apart ? d.row_pitch : target.grid.pitch[0] * d.row_pitch / d.bin_pitch;
  if (apart) place_slices(target, place && (!o.like.empty() || o.geometry.rows));
  return target;
}

/// The models of all kinds of beams.
std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const Beam& beam : beams()) names.insert(names.end(), beam.models.begin(), beam.models.end());
  return names;
}

/// The model that is asked for; by default the first one of the beam.
Model model_of(const ProjectOptions& o, const Scan& scan) {
  const std::vector<const char*>& its = beam_of(scan).models;
  if (o.model.empty()) return its.empty() ? Model::separable_footprint : model_named(its.front());
  require<GeometryError>(std::ranges::find(its, o.model) != its.end(), "--model ", o.model, ": a ",
                         kind_of(scan), " beam does not have it",
                         its.empty() ? "" : std::string("; give ") + its.front() + " or " + its.back());
  return model_named(o.model);
}

void run_project(ProjectOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  io::VolumeReader volume(o.volume, o.geometry.list.allow_external_files);
  volume.require_complete();
  const ProjectedScan target = target_of(o, volume, progress);
  const Model model = model_of(o, target.scan);
  const Detector& detector = detector_of(target.scan);
  const Index views = views_of(target.scan);
  io::ScanWriter writer({o.output, io::Content::scan, o.common.replace()}, target.scan, target.pixel_size_mm,
                        io::PixelType::float32, 1, 1);
  project(target, model, volume, writer,
          [&](const pipeline::Stage& at) { progress(at.name, at.done, at.total, "rows"); });
  const nlohmann::json report = {{"command", "project"},  {"version", TANDEM_VERSION},
                                 {"input", o.volume},     {"source", source_json(o.common, o.volume)},
                                 {"output", o.output},    {"model", name_of(model)},
                                 {"views", views},        {"rows", detector.rows},
                                 {"bins", detector.bins}, {"axis_bin", or_null(axis_of(target.scan))}};
  writer.finish(text_of(report));
  progress.clear();
  write_report(o.common, report);
  if (o.common.tells()) std::cout << "written   " << o.output << ": " << words_of_size(target.scan) << '\n';
}

void add_project(Table& c) {
  auto o = std::make_shared<ProjectOptions>();
  o->command = &c;
  c.heading("Files");
  c.add("volume", On::result, o->volume, "volume: HDF5, or TIFF by the name of a slice").required();
  c.add("-o,--output", On::files, o->output, "DXchange file to write: transmission, flats 1, darks 0")
      .required();
  add_external_files(c, o->geometry.list.allow_external_files);
  add_geometry(c, o->geometry);
  c.add("--like", On::result, o->like, "take the geometry of this scan, which may need --angles or --arc");
  add_raw(c, o->geometry.list).only_with("--like");
  c.add("--time", On::result, o->geometry.list.time, "which of several scans of --like, from 0")
      .of_kind("K")
      .check(count(0))
      .only_with("--like");
  add_choice(c, "--model", On::result, o->model, models(),
             "default pixel_driven, for a cone beam separable_footprint");
  add_common(c, o->common);
  c.common({"output", "like", "geometry", "bins", "rows", "views", "arc", "pixel-size", "model"});
  c.footer =
      "Examples:\n"
      "  tandem project volume.h5 -o again.h5 --like scan.h5\n"
      "  tandem project volume.h5 -o few.h5 --views 30";
  c.at_end([o] {
    for (const char* option : {"--geometry", "--bins", "--rows", "--views", "--start", "--axis-bin",
                               "--midplane-row", "--sod", "--sdd", "--curved-detector", "--pixel-size"})
      if (!o->like.empty() && o->given(option))
        throw UsageError(std::string("--like does not go with ") + option);
    require_scan_name({"-o", o->output});
  });
  c.work = [o] {
    check_files(o->common,
                {{"the volume", o->volume},
                 {"--like", o->like},
                 {"--angles", o->geometry.list.angles},
                 {.option = "--geometry", .path = o->geometry.views_file.path, .alone = true}},
                {{"-o", o->output, io::Content::scan}});
    run_project(*o);
  };
}

}  // namespace

extern const Command project_command{"project", "Volume to scan: the forward operator alone", add_project};

}  // namespace tandem::apps
