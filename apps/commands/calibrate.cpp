// tandem calibrate: the geometry of a scan from its frames.

#include <functional>
#include <future>
#include <iostream>
#include <sstream>

#include "../../calibration/find.hpp"
#include "../../core/error.hpp"
#include "../../io/files/text_file.hpp"
#include "../../io/png.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../options/steps.hpp"
#include "../../pipeline/complete/frames.hpp"
#include "../options/device_options.hpp"
#include "../reports/calibration_report.hpp"
#include "../runs/progress.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

struct CalibrateOptions {
  Common common;
  ScanOptions scan;
  std::string output, preview, places, device = "auto";
  std::vector<std::string> lengths;
  bool balls = false, views = false;
  std::optional<double> axis_bin;
  calibration::MoveSearch moves{};
  NamedFiles outputs() const {
    return {{"-o", output, io::Content::geometry}, {"--preview", preview, io::Content::picture}};
  }
};

/// The distance of two balls from a text A:B:MM.
calibration::KnownLength length_in(const std::string& text) {
  std::vector<std::string> parts = parts_of(text, ':');
  const bool three = parts.size() == 3;
  parts.resize(3);
  const auto a = whole_in(parts[0]), b = whole_in(parts[1]);
  const auto length = number_in(parts[2]);
  if (!three || !a || !b || !length || *a < 0 || *b < 0 || *a == *b || *length <= 0)
    throw UsageError("--length '" + text + "' is not A:B:MM: two balls, counted upwards from 0, and mm");
  return {static_cast<std::size_t>(*a), static_cast<std::size_t>(*b), *length};
}

/// The places from a file with x, y and z of a ball in each line, mm.
std::vector<Eigen::Vector3d> places_in(const std::string& path) {
  constexpr Index most = Index{1} << 20;  // bytes
  std::istringstream lines(io::text_of_file(path, "places of balls", most));
  std::vector<Eigen::Vector3d> places;
  for (std::string line; std::getline(lines, line);) {
    std::ranges::replace(line, ',', ' ');
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') continue;
    std::istringstream words(line);
    std::vector<double> numbers;
    for (std::string word; words >> word;) numbers.push_back(number_in(word).value_or(NAN));
    require<FileError>(numbers.size() == 3 && std::isfinite(numbers[0] + numbers[1] + numbers[2]), path,
                       ": line ", places.size() + 1, " of places is not x, y and z in mm");
    places.emplace_back(numbers[0], numbers[1], numbers[2]);
  }
  require<FileError>(places.size() >= 4, path, ": ", places.size(),
                     " places of balls; at least 4 are needed");
  return places;
}

void run_calibrate(CalibrateOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  calibration::BallKnowledge known;
  for (const std::string& text : o.lengths) known.lengths.push_back(length_in(text));
  if (!o.places.empty()) known.places = places_in(o.places);
  const Device device = o.balls ? Device::cpu() : one_device(o.device);
  auto reader = open(o.scan);
  require<GeometryError>(!o.balls || reader->info().pixel_size_mm, o.scan.path,
                         ": has no pixel size, which places of balls need; give --pixel-size MM");
  say_notes(reader->info(), o.scan, progress);
  if (ask_for_phases(o.scan.steps))
    progress.note("note: --retrieve-phase-method: the geometry is found from frames without it");
  io::geometry_text(o.output, reader->info().scan);  // fails now if this geometry cannot be written
  // A GPU takes a while to begin; frames are read meanwhile. What fails here fails again where it is used.
  const auto begun = std::async(std::launch::async, [device] { Stream(device).synchronize(); });
  pipeline::Recipe recipe = recipe_of(o.scan, reader->info());
  recipe.axis_bin = o.axis_bin;
  const pipeline::Listener listener = progress.listener();
  const calibration::MeasuredFrames frames = pipeline::frames_of(*reader, recipe, listener);
  const calibration::How how{device, !o.preview.empty(), std::ref(progress)};
  const calibration::Found found = o.balls   ? find_by_balls(frames, known, how)
                                   : o.views ? find_each_view(frames, o.moves, how)
                                             : find_by_frames(frames, how);
  for (const std::string& warning : found.warnings) progress.warn(warning);
  progress.clear();
  io::Output(o.output, io::Content::geometry, o.common.replace())
      .write(io::geometry_text(o.output, found.scan));
  if (!o.preview.empty()) {
    const auto [pictures, sheet] = calibration_pictures(found, {frames.bins.size(), frames.rows.size()});
    io::write_png({o.preview, io::Content::picture, o.common.replace()}, pictures, sheet);
  }
  nlohmann::json report = calibration_report(found);
  report.update({{"command", "calibrate"},
                 {"input", o.scan.path},
                 {"output", o.output},
                 {"warnings", progress.warnings()}});
  write_report(o.common, report);
  if (!o.common.tells()) return;
  for (const std::string& line : calibration_lines(found)) std::cout << line << '\n';
  std::cout << "written       " << o.output << ": " << views_of(found.scan) << " views\n";
}

void add_ball_options(Table& c, CalibrateOptions& o) {
  c.add("--length", On::result, o.lengths,
        "the distance in mm of two balls, which count upwards from 0; one tells the scale (repeatable)")
      .in("mm")
      .check([](const std::string& text) { return length_in(text), std::string(); })
      .of_kind("A:B:MM")
      .only_with("--balls");
  c.add("--ball-places", On::result, o.places,
        "x, y and z of each ball of the sample, mm, one line each, in any frame")
      .of_kind("FILE")
      .only_with("--balls")
      .without("--length");
}

void add_view_options(Table& c, CalibrateOptions& o) {
  c.add("--each-view", On::result, o.views,
        "shifts of each view, from its frame beside what all views together make")
      .without("--balls");
  c.add("--rotation-axis", On::result, o.axis_bin,
        "bin of the axis (default: the scan's own, else by opposite rays)")
      .of_kind("BIN")
      .only_with("--each-view");
  c.add("--view-rolls", On::result, o.moves.turns, "by how much each view is turned about the beam, besides")
      .only_with("--each-view");
  c.add("--drift", On::result, o.moves.degree,
        "views moved slowly: shifts are a polynomial of this degree over the views (default: each by itself)")
      .of_kind("DEGREE")
      .check(count(1, 20))
      .only_with("--each-view");
}

void add_calibrate(Table& c) {
  auto o = std::make_shared<CalibrateOptions>();
  add_scan_command(c, o, run_calibrate);
  c.applies = [others = c.applies](const Option& row) {
    return others(row) && !step_needs_all_views(row.name);
  };
  c.heading("Calibration");
  c.add("-o,--output", On::files, o->output,
        "where each view was taken from, for --geometry: vectors of ASTRA (*.npy, *.geom, *.txt), RTK "
        "(*.xml) or LEAP (*.cfg)")
      .required();
  c.add("--balls", On::result, o->balls, "the sample is some balls, whose shadows are round and apart");
  add_ball_options(c, *o);
  add_view_options(c, *o);
  c.add("--device", On::run, o->device,
        "where slices and volumes are made: auto (default: the first GPU, else the CPU)|cpu|cuda|cuda:N")
      .check(lower_case())
      .check([](const std::string& text) { return text == "auto" ? "" : no_one_device(text); })
      .without("--balls");
  c.add("--preview", On::files, o->preview,
        "PNG: slices before and after; with --balls how far shadows are from where they should be");
  c.common(
      {"flats", "darks", "arc", "geometry", "output", "balls", "length", "each-view", "drift", "preview"});
  c.footer =
      "Examples:\n"
      "  tandem calibrate scan.h5 -o views.npy --preview slices.png\n"
      "  tandem calibrate balls.h5 --balls -o views.npy --preview residuals.png\n"
      "  tandem calibrate balls.h5 --balls --length 0:11:80.02 -o views.npy --json report.json\n"
      "  tandem calibrate scan.h5 --geometry views.npy --each-view -o each.npy --json report.json\n"
      "  tandem recon scan.h5 --geometry each.npy -o volume.h5";
}

}  // namespace

extern const Command calibrate_command{"calibrate", "Find the geometry from the frames", add_calibrate};

}  // namespace tandem::apps
