// tandem info: what a scan or a volume holds, and what its reconstruction would take.

#include <iostream>

#include "../../core/error.hpp"
#include "../../core/instruction_set.hpp"
#include "../../core/units.hpp"
#include "../../io/png.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../pipeline/beams/placement.hpp"
#include "../../pipeline/plan/make_job.hpp"
#include "../beams/beam.hpp"
#include "../options/device_options.hpp"
#include "../pages/geometry_page.hpp"
#include "../reports/forecast.hpp"
#include "../reports/scan_report.hpp"
#include "../reports/volume_report.hpp"
#include "../runs/lines.hpp"
#include "../runs/stage_words.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

struct InfoOptions {
  Common common;
  ScanOptions scan;
  std::string write_geometry, picture;
  const Table* command = nullptr;
  NamedFiles outputs() const {
    return {{"--write-geometry", write_geometry, io::Content::geometry},
            {"--picture", picture, shows_page() ? io::Content::page : io::Content::picture}};
  }
  bool shows_page() const { return in_lower_case(picture).ends_with(".html"); }
};

/// The plan of a recipe; empty if there is none, and then the row says why.
std::optional<pipeline::Plan> plan_or_reason(const io::ScanInfo& info, const pipeline::Recipe& recipe,
                                             json& row) {
  try {
    return make_plan(info, recipe);
  } catch (const DeviceError& fault) {
    row["does_not_fit"] = fault.what();
  } catch (const GeometryError& fault) {
    row["refused"] = fault.what();
  }
  return std::nullopt;
}

/// A report of filtered back-projection of the selection on each device of this machine, or of a solver if
/// there is no filter. If not one slice fits into the memory of a device, or if a geometry is refused, it
/// says why.
json reconstruction_of(io::ScanReader& reader, const InfoOptions& o) {
  const io::ScanInfo& info = reader.info();
  ProgressLine progress(o.common);
  pipeline::Recipe recipe = recipe_of(o.scan, info);
  const bool filtered = pipeline::has_filter(info.scan);
  if (!filtered) recipe.method = "cgls";
  json report = {{"name", !filtered                    ? "CGLS"
                          : rows_are_slices(info.scan) ? "FBP"
                                                       : "FDK"},
                 {"devices", json::array()}};
  for (const Device device : devices()) {
    json row = {{"device", device.name()}};
    if (!device.is_cuda()) row["instructions"] = instruction_set();
    recipe.devices = {device};
    if (auto plan = plan_or_reason(info, recipe, row)) {
      const Shape n = plan->job.grid.shape();
      const double updates = 1.0 * (n[0] * n[1] * n[2]) * views_of(plan->job.scan);
      report["shape"] = n;
      report["updates"] = updates;
      row["memory_bytes"] = plan->flow.memory.host;
      row["device_memory_bytes"] = plan->flow.memory.device;
      row["tiled"] = in_tiles(plan->flow);
      RunForecast ahead(*plan, info, {.scan = o.scan.path}, {});
      ahead.measure(reader, progress);
      row["disk_bytes"] = ahead.disk_bytes();
      row["forecast"] = ahead.planned();
    }
    report["devices"].push_back(row);
  }
  return report;
}

void print_fbp(const json& all, const json& row) {
  const std::string name = all["name"];
  std::cout << name << std::string(10 - name.size(), ' ');
  for (const auto& [key, words] : {std::pair{"does_not_fit", "does not fit: "}, {"refused", "refused: "}})
    if (row.contains(key)) {
      std::cout << words << row[key].get<std::string>() << '\n';
      return;
    }
  const auto mib = [&](const char* key) { return row[key].get<double>() / bytes_per_mib; };
  const auto digits = std::cout.precision(3);
  std::cout << all["shape"][0] << " x " << all["shape"][1] << " x " << all["shape"][2] << " voxels on "
            << words_of(Device::named(row["device"])) << ", " << mib("memory_bytes") << " MiB";
  if (row["device_memory_bytes"] > 0) std::cout << " and " << mib("device_memory_bytes") << " MiB of its own";
  std::cout << ", " << mib("disk_bytes") << " MiB on disk as float32";
  if (const json& ahead = row["forecast"]; !ahead.is_null())
    std::cout << ", about " << ahead["seconds"].get<double>()
              << " s; the slowest part: " << words_of_stage(ahead["slowest"].get<std::string>());
  std::cout << '\n';
  std::cout.precision(digits);
}

std::string words_of_sets(const json& r) {
  std::string monitor = r["monitor"] == true ? ", monitor counts" : "";
  if (r["flat_sets"].is_null() || r["flat_sets"] == 1) return monitor;
  return " in " + r["flat_sets"].dump() + " sets" + monitor;
}

void print_scan(const std::string& path, const Scan& scan, const json& r) {
  const json& g = r["geometry"];
  const auto or_unknown = [](const json& v, const char* unit) {
    return v.is_null() ? std::string("not recorded") : rounded(v) + unit;
  };
  std::cout << "file      " << path << ": " << r["format"].get<std::string>() << '\n'
            << "counts    " << words_of_size(scan) << ", " << r["type"].get<std::string>() << '\n'
            << "geometry  " << words_of(scan)
            << (period_of(scan) && g.contains("curved_detector") ? ", curved detector" : "") << '\n';
  if (const json& a = r["angles_deg"]; !a.is_null())
    std::cout << "angles    " << rounded(a["lowest"]) << " to " << rounded(a["highest"])
              << " degrees, widest gap " << rounded(a["widest_gap"]) << " (modulo " << rounded(a["modulo"])
              << ")\n";
  std::cout << "flats     " << r["flats"] << words_of_sets(r) << ", darks " << r["darks"] << '\n'
            << "axis      " << (axis_of(scan) ? or_unknown(g["axis_bin"], "") : "none") << '\n'
            << "pixel     " << or_unknown(g["pixel_size_mm"], " mm")
            << (g["row_pitch_mm"] == g["pixel_size_mm"] ? ""
                                                        : ", rows " + or_unknown(g["row_pitch_mm"], " mm"))
            << '\n';
  if (!r["energy_kev"].is_null()) std::cout << "energy    " << rounded(r["energy_kev"]) << " keV\n";
  if (!r["propagation_mm"].is_null())
    std::cout << "distance  " << rounded(r["propagation_mm"]) << " mm from sample to detector\n";
  for (const json& note : r["notes"]) std::cout << "note      " << note.get<std::string>() << '\n';
  const json& made = r["reconstruction"];
  for (const json& row : made["devices"]) print_fbp(made, row);
}

json volume_report(const io::VolumeReader& volume) {
  json report = {{"kind", "volume"},
                 {"format", volume.title()},
                 {"shape", volume.shape()},
                 {"unit", volume.unit()},
                 {"pitch_mm", or_null(volume.pitch_mm())},
                 {"complete", volume.complete()}};
  if (!volume.complete()) report["missing"] = volume.missing();
  if (const auto place = volume.place()) report.update(place_json(*place));
  return report;
}

void print_volume(const std::string& path, const json& r) {
  const json& n = r["shape"];
  std::cout << "file      " << path << ": volume, " << r["format"].get<std::string>() << "\nvoxels    "
            << n[0] << " x " << n[1] << " x " << n[2] << " (z, y, x), " << r["unit"].get<std::string>();
  if (r.contains("centre"))
    std::cout << ", " << words_of_place(r);
  else if (!r["pitch_mm"].is_null())
    std::cout << ", pitch " << rounded(r["pitch_mm"]) << " mm";
  std::cout << "\ncomplete  " << (r["complete"] == true ? "yes" : "no") << '\n';
  if (r.contains("missing")) std::cout << "missing   " << r["missing"].get<std::string>() << '\n';
}

/// Writes the files of a scan's geometry that are asked for.
void write_files(const InfoOptions& o, const io::ScanInfo& info) {
  if (o.write_geometry.empty() && o.picture.empty()) return;
  const std::string option = o.write_geometry.empty() ? "--picture" : "--write-geometry";
  for (const auto& [part, name] : {std::pair{&o.scan.views, "--views"},
                                   {&o.scan.detector_rows, "--detector-rows"},
                                   {&o.scan.columns, "--columns"}})
    if (part->text() != AxisPart{}.text())
      throw UsageError(option + " and " + name + " do not go together: all of the scan is there");
  const Scan scan = as_it_stands(info, pipeline::option::detector_roll.of(o.scan.steps),
                                 pipeline::option::axis_tilt.of(o.scan.steps));
  if (!o.write_geometry.empty()) {
    require<GeometryError>(info.pixel_size_mm.has_value(),
                           "--write-geometry: the scan has no pixel size; give --pixel-size MM");
    io::Output(o.write_geometry, io::Content::geometry, o.common.replace())
        .write(io::geometry_text(o.write_geometry, scan));
  }
  if (o.picture.empty()) return;
  const VolumeGrid grid = fitting_grid(scan);
  io::Output picture(o.picture, o.shows_page() ? io::Content::page : io::Content::picture,
                     o.common.replace());
  if (o.shows_page())
    picture.write(geometry_page(o.scan.path, words_of(scan), scan, grid));
  else
    io::write_png(std::move(picture), geometry_pictures(scan, grid), {});
}

/// Refuses options for a volume that have a bearing on scans alone.
void require_options_of_volume(const InfoOptions& o) {
  for (const Option& row : o.command->rows()) {
    const bool of_all = row.is_argument || row.group == "Every command" ||
                        row.name == "allow-external-files" || row.name == "like";
    if (!of_all && row.is_typed())
      throw UsageError(o.scan.path + ": is a volume; " + row.spelled() + " goes with a scan");
  }
  if (o.command->given("--config") || o.command->given("--like"))
    *o.common.notes = {"note: " + o.scan.path +
                       " is a volume; options of files, which go with a scan, are left out"};
  const ProgressLine says(o.common);
}

void run_info(InfoOptions& o) {
  const ThreadLimit limit(o.common.threads);
  json report;
  std::unique_ptr<io::ScanReader> reader;
  if (const auto volume = volume_in(o.scan)) {
    require_options_of_volume(o);
    report = volume_report(*volume);
  } else {
    reader = open(o.scan);
    write_files(o, reader->info());
    report = scan_report(reader->info(), o.scan);
    report["reconstruction"] = reconstruction_of(*reader, o);
  }
  if (o.common.json != "-")
    reader ? print_scan(o.scan.path, reader->info().scan, report) : print_volume(o.scan.path, report);
  report["command"] = "info";
  report["input"] = o.scan.path;
  write_report(o.common, report);
}

void add_info(Table& c) {
  const auto o = std::make_shared<InfoOptions>();
  add_scan_command(c, o, run_info);
  o->command = &c;
  c.heading("Geometry");
  c.add("--write-geometry", On::files, o->write_geometry,
        "write where each view is taken from: vectors of ASTRA (*.npy, *.geom, *.txt), RTK (*.xml) or "
        "LEAP (*.cfg)");
  c.add("--picture", On::files, o->picture,
        "draw sources, detector, rays and volume: *.html, which turns, or *.png")
      .check([](const std::string& name) {
        const std::string small = in_lower_case(name);
        return small.ends_with(".html") || small.ends_with(".png") ? std::string()
                                                                   : "'" + name + "' is not *.html or *.png";
      });
  c.common({"flats", "darks", "arc", "geometry", "write-geometry", "picture", "json"});
  c.footer =
      "Examples:\n"
      "  tandem info scan.h5\n"
      "  tandem info folder --flats flats.tif --darks darks.tif --arc 180\n"
      "  tandem info volume.h5 --json -\n"
      "  tandem info scan.h5 --geometry views.npy --picture geometry.html";
}

}  // namespace

extern const Command info_command{"info", "What a scan or a volume holds", add_info};

}  // namespace tandem::apps
