// tandem info: what a scan or a volume holds, and what its reconstruction would take.

#include <algorithm>
#include <iostream>
#include <numbers>

#include "../scan_command.hpp"
#include "tandem/core/error.hpp"
#include "tandem/io/volume_file.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/solvers/run.hpp"
#include "tandem_version.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

struct InfoOptions {
  Common common;
  ScanOptions scan;
};

/// Updates a second of this machine's back-projection, from a short run of a batch as wide as the scan
/// allows.
double measured_rate(Index rows) {
  constexpr Index size = 128;
  ParallelBeam scan{{size, std::min<Index>(rows, 64), 1, 1, 0.5 * (size - 1)}, std::vector<double>(size), {}};
  for (Index v = 0; v < size; ++v)
    scan.angles[static_cast<std::size_t>(v)] = std::numbers::pi * static_cast<double>(v) / size;
  const LinearOperator back = adjoint(projector(scan, fitting_grid(scan)));
  const Array y(back.domain());
  Array x = back * y;  // once to warm up
  const double start = seconds_now();
  back.apply(1, y, 0, x, default_stream(Device::cpu()));
  return static_cast<double>(x.size()) * size / std::max(1e-9, seconds_now() - start);
}

/// What filtered back-projection of the selection takes; null with `why` where not one slice fits into
/// memory.
json reconstruction_of(const io::ScanInfo& info, const Selection& selected, std::string& why) {
  pipeline::Recipe recipe;
  recipe.views = selected.views, recipe.rows = selected.rows, recipe.bins = selected.bins;
  try {
    const pipeline::Plan plan = make_plan(info, recipe);
    const Shape n = plan.grid.shape();
    const double updates =
        static_cast<double>(n[0] * n[1] * n[2]) * static_cast<double>(plan.scan.angles.size());
    return {{"shape", n},
            {"memory_bytes", plan.bytes},
            {"updates", updates},
            {"fbp_seconds_cpu", 1.2 * updates / measured_rate(plan.scan.detector.rows)}};
  } catch (const DeviceError& fault) {
    why = fault.what();
    return nullptr;
  }
}

json scan_report(const io::ScanInfo& info, const Selection& selected) {
  const Detector& d = info.scan.detector;
  const auto [first, last] = std::minmax_element(info.scan.angles.begin(), info.scan.angles.end());
  const double degrees = 180 / std::numbers::pi;
  const auto known = [](const std::optional<double>& v) { return v ? json(*v) : json(nullptr); };
  json report = {{"kind", "scan"},
                 {"format", info.format},
                 {"type", io::name_of(info.type)},
                 {"geometry",
                  {{"kind", "parallel"},
                   {"views", info.scan.angles.size()},
                   {"rows", d.rows},
                   {"bins", d.bins},
                   {"axis_bin", known(info.axis_bin)},
                   {"pixel_size_mm", known(info.pixel_size_mm)}}},
                 {"angles_deg",
                  {{"lowest", *first * degrees},
                   {"highest", *last * degrees},
                   {"widest_gap", widest_gap(info.scan.angles) * degrees}}},
                 {"flats", info.flats},
                 {"darks", info.darks},
                 {"notes", info.notes}};
  std::string why;
  report["reconstruction"] = reconstruction_of(info, selected, why);
  if (!why.empty()) report["does_not_fit"] = why;
  return report;
}

void print_scan(const std::string& path, const json& r) {
  const json& g = r["geometry"];
  const auto or_unknown = [](const json& v, const char* unit) {
    return v.is_null() ? std::string("not recorded") : v.dump() + unit;
  };
  std::cout << "file      " << path << ": " << r["format"].get<std::string>() << '\n'
            << "counts    " << g["views"] << " views x " << g["rows"] << " rows x " << g["bins"] << " bins, "
            << r["type"].get<std::string>() << '\n'
            << "angles    " << r["angles_deg"]["lowest"] << " to " << r["angles_deg"]["highest"]
            << " degrees, widest gap " << r["angles_deg"]["widest_gap"] << " (modulo 180)\n"
            << "flats     " << r["flats"] << ", darks " << r["darks"] << '\n'
            << "axis      " << or_unknown(g["axis_bin"], "") << '\n'
            << "pixel     " << or_unknown(g["pixel_size_mm"], " mm") << '\n';
  for (const json& note : r["notes"]) std::cout << "note      " << note.get<std::string>() << '\n';
  const json& v = r["reconstruction"];
  if (v.is_null()) {
    std::cout << "FBP       does not fit: " << r["does_not_fit"].get<std::string>() << '\n';
    return;
  }
  std::cout << "FBP       " << v["shape"][0] << " x " << v["shape"][1] << " x " << v["shape"][2]
            << " voxels, about " << v["fbp_seconds_cpu"].get<double>() << " s on cpu, "
            << v["memory_bytes"].get<double>() / 1048576 << " MiB\n";
}

/// Whether the file holds a volume that tandem, or a tool with its layout, wrote.
std::unique_ptr<io::VolumeReader> volume_in(const std::string& path) {
  try {
    auto volume = std::make_unique<io::VolumeReader>(path);
    if (volume->is_reconstruction()) return volume;
  } catch (const FileError&) {  // then it is a scan, or open_scan says what is wrong
  }
  return nullptr;
}

json volume_report(const std::string& format, Shape shape, const std::string& unit,
                   const std::optional<double>& pitch, bool complete) {
  return {{"kind", "volume"},
          {"format", format},
          {"shape", shape},
          {"unit", unit},
          {"pitch_mm", pitch ? json(*pitch) : json(nullptr)},
          {"complete", complete}};
}

void print_volume(const std::string& path, const json& r) {
  const json& n = r["shape"];
  std::cout << "file      " << path << ": volume, " << r["format"].get<std::string>() << "\nvoxels    "
            << n[0] << " x " << n[1] << " x " << n[2] << " (z, y, x), " << r["unit"].get<std::string>();
  if (!r["pitch_mm"].is_null()) std::cout << ", pitch " << r["pitch_mm"] << " mm";
  std::cout << "\ncomplete  " << (r["complete"] == true ? "yes" : "no") << '\n';
}

void run_info(InfoOptions& o) {
  const ThreadLimit limit(o.common.threads);
  json report;
  if (const auto volume = volume_in(o.scan.path)) {
    report = volume_report("HDF5", volume->shape(), volume->unit(), volume->pitch_mm(), volume->complete());
  } else if (const auto slices = io::find_tiff_volume(o.scan.path)) {  // which get their names all at once
    report = volume_report("TIFF", slices->shape, slices->unit, slices->pitch_mm, true);
  } else {
    const auto reader = open(o.scan);
    report = scan_report(reader->info(), select(o.scan, reader->info()));
  }
  if (o.common.json != "-")
    report["kind"] == "volume" ? print_volume(o.scan.path, report) : print_scan(o.scan.path, report);
  report["command"] = "info";
  report["version"] = TANDEM_VERSION;
  report["input"] = o.scan.path;
  write_report(o.common, report);
}

}  // namespace

void add_info(CLI::App& program, Action& chosen) {
  add_scan_command(program, "info", "What a scan or a volume holds", std::make_shared<InfoOptions>(),
                   run_info, chosen);
}

}  // namespace tandem::apps
