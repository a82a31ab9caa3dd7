// tandem calibrate: the geometry of a scan from its frames.

#include <future>
#include <iostream>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../../io/files/text_file.hpp"
#include "../../io/png.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../options/command_line.hpp"
#include "../options/device_options.hpp"
#include "../options/step_options.hpp"
#include "../runs/calibrate.hpp"
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

void print_lines(const Calibrated& found, const std::string& output) {
  for (const std::string& line : found.lines) std::cout << line << '\n';
  std::cout << "written       " << output << ": " << views_of(found.scan) << " views\n";
}

void run_calibrate(CalibrateOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  calibration::BallKnowledge known;
  for (const std::string& text : o.lengths) known.lengths.push_back(length_in(text));
  if (!o.places.empty()) known.places = places_in(o.places);
  const Device device = o.balls ? Device::cpu() : one_device(o.device);
  auto reader = open(o.scan);
  say_notes(reader->info(), o.scan, progress);
  if (ask_for_phases(o.scan.steps))
    progress.note("note: --retrieve-phase-method: the geometry is found from frames without it");
  io::geometry_text(o.output, reader->info().scan);  // fails now if this geometry cannot be written
  require_pixel_size(reader->info());
  // A GPU takes a while to begin; frames are read meanwhile. What fails here fails again where it is used.
  const auto begun = std::async(std::launch::async, [device] { Stream(device).synchronize(); });
  const CalibrateRun run{*reader, o.scan, device, !o.preview.empty(), progress};
  Calibrated found = o.balls   ? calibrate_on_balls(*reader, o.scan, known, progress)
                     : o.views ? calibrate_each_view(run, o.moves)
                               : calibrate_scan(run);
  progress.clear();
  io::Output(o.output, io::Content::geometry, o.common.replace())
      .write(io::geometry_text(o.output, found.scan));
  if (!o.preview.empty())
    io::write_png({o.preview, io::Content::picture, o.common.replace()}, found.pictures, found.sheet);
  found.report.update({{"command", "calibrate"},
                       {"version", TANDEM_VERSION},
                       {"input", o.scan.path},
                       {"output", o.output},
                       {"warnings", progress.warnings()}});
  write_report(o.common, found.report);
  if (o.common.json != "-") print_lines(found, o.output);
}

void add_ball_options(CLI::App& c, CalibrateOptions& o, CLI::Option* balls) {
  CLI::Option* lengths =
      c.add_option("--length", o.lengths,
                   "the distance of two balls, which count upwards from 0; one tells the scale (repeatable)")
          ->check([](const std::string& text) { return length_in(text), std::string(); })
          ->type_name("A:B:MM")
          ->allow_extra_args(false)
          ->needs(balls);
  c.add_option("--ball-places", o.places,
               "x, y and z of each ball of the sample, mm, one line each, in any frame")
      ->type_name("FILE")
      ->needs(balls)
      ->excludes(lengths);
}

void add_view_options(CLI::App& c, CalibrateOptions& o, CLI::Option* balls) {
  CLI::Option* views = c.add_flag("--each-view", o.views,
                                  "shifts of each view, from its frame beside what all views together make")
                           ->excludes(balls);
  c.add_flag("--view-rolls", o.moves.turns, "by how much each view is turned about the beam, besides")
      ->needs(views);
  c.add_option(
       "--drift", o.moves.degree,
       "views moved slowly: shifts are a polynomial of this degree over the views (default: each by itself)")
      ->type_name("DEGREE")
      ->check(CLI::Range(1, 20))
      ->needs(views);
}

}  // namespace

void add_calibrate(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<CalibrateOptions>();
  CLI::App& c =
      add_scan_command(program, "calibrate", "Find the geometry from the frames", o, run_calibrate, chosen);
  heading(c, "Calibration");
  c.add_option("-o,--output", o->output,
               "where each view was taken from, for --geometry: vectors of ASTRA (*.npy, *.geom, *.txt), RTK "
               "(*.xml) or LEAP (*.cfg)")
      ->required()
      ->configurable(false);
  CLI::Option* balls =
      c.add_flag("--balls", o->balls, "the sample is some balls, whose shadows are round and apart");
  add_ball_options(c, *o, balls);
  add_view_options(c, *o, balls);
  c.add_option(
       "--device", o->device,
       "where slices and volumes are made: auto (default: the first GPU, else the CPU)|cpu|cuda|cuda:N")
      ->transform(lower_case())
      ->check([](const std::string& text) { return text == "auto" ? "" : no_one_device(text); })
      ->option_text(of_run)
      ->excludes(balls);
  c.add_option("--preview", o->preview,
               "PNG: slices before and after; with --balls how far shadows are from where they should be")
      ->configurable(false);
  c.footer(
      "Examples:\n"
      "  tandem calibrate scan.h5 -o views.npy --preview slices.png\n"
      "  tandem calibrate balls.h5 --balls -o views.npy --preview residuals.png\n"
      "  tandem calibrate balls.h5 --balls --length 0:11:80.02 -o views.npy --json report.json\n"
      "  tandem calibrate scan.h5 --geometry views.npy --each-view -o each.npy --json report.json\n"
      "  tandem recon scan.h5 --geometry each.npy -o volume.h5");
}

}  // namespace tandem::apps
