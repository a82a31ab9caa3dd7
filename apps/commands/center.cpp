// tandem center: the axis bin, with its uncertainty; or a sheet of slices about trial axes.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "../../core/ceil_div.hpp"
#include "../../core/version.hpp"
#include "../../pipeline/axis_trials.hpp"
#include "../options/command_line.hpp"
#include "../pages/preview.hpp"
#include "../runs/find_roll.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

struct CenterOptions {
  Common common;
  ScanOptions scan;
  std::string method = "auto", trials, preview;
  Index rows = 5;
  std::optional<Range> between;
  bool roll = false;
  NamedFiles outputs() const { return {{"--preview", preview, io::Content::picture}}; }
};

/// As it is to be given to `recon`.
std::string words_of_axis(double axis) {
  std::ostringstream text;
  text << std::setprecision(10) << axis;
  return text.str();
}

/// The axes of A:B:STEP, from A to B.
std::vector<double> axes_of_trials(const std::string& text) {
  std::stringstream parts(text);
  std::string first, last, step, more;
  std::getline(parts, first, ':');
  std::getline(parts, last, ':');
  std::getline(parts, step, ':');
  const auto a = number_in(first), b = number_in(last), by = number_in(step);
  constexpr double most = 200, rounding = 1e-6;
  if (std::getline(parts, more) || !a || !b || !by || *by <= 0 || *b < *a || (*b - *a) / *by >= most)
    throw UsageError("--try '" + text + "' is not A:B:STEP in bins, with A up to B and at most 200 trials");
  std::vector<double> axes;
  for (double k = 0; k <= std::floor((*b - *a) / *by + rounding); ++k)
    axes.push_back(*number_in(words_of_axis(*a + k * *by)));
  return axes;
}

/// Whether one trial is sharper than others beyond what noise does.
bool tells(const pipeline::AxisTrials& all) {
  constexpr double least = 1e-3;
  const auto dullest = std::ranges::max_element(all.trials, {}, &pipeline::AxisTrial::unsharpness);
  return all.trials.size() < 2 || dullest->unsharpness > 1 + least;
}

/// All trials on one grey scale, the best in a frame.
void write_sheet(io::Output output, pipeline::AxisTrials& all) {
  std::vector<io::Picture> pictures;
  io::Sheet sheet = sheet_of(window_of(all.trials[all.best].slice.grey), all.place);
  const Index joined = ceil_div(all.place.grid.size[0], all.trials.back().slice.width);  // voxels in a pixel
  sheet.pixel *= static_cast<double>(joined);
  for (pipeline::AxisTrial& trial : all.trials) {
    pictures.push_back(std::move(trial.slice));
    pictures.back().captions = {"axis " + words_of_axis(trial.axis_bin)};
  }
  if (tells(all)) {
    pictures[all.best].framed = true;
    pictures[all.best].captions.front() += ", the sharpest";
  }
  sheet.columns = static_cast<std::size_t>(std::ceil(std::sqrt(1.5 * static_cast<double>(pictures.size()))));
  io::write_png(std::move(output), pictures, sheet);
}

void print_trials(const pipeline::AxisTrials& all) {
  std::cout << "axis_bin    unsharpness\n";
  for (const pipeline::AxisTrial& trial : all.trials)
    std::cout << std::left << std::setw(12) << words_of_axis(trial.axis_bin) << std::fixed
              << std::setprecision(5) << trial.unsharpness << std::defaultfloat
              << (tells(all) && &trial == &all.trials[all.best] ? "  best" : "") << '\n';
}

void try_trials(CenterOptions& o) {
  const std::vector<double> axes = axes_of_trials(o.trials);
  std::optional<io::Output> sheet;
  if (!o.preview.empty()) sheet.emplace(o.preview, io::Content::picture, o.common.replace());
  ProgressLine progress(o.common);
  auto reader = open(o.scan);
  say_notes(reader->info(), o.scan, progress);
  const Selection selected = select(o.scan, reader->info());
  pipeline::Recipe recipe;
  recipe.views = selected.views, recipe.rows = selected.rows, recipe.bins = selected.bins;
  recipe.steps = o.scan.steps;
  constexpr Index side = 400;  // of a picture
  pipeline::AxisTrials all = try_axes(*reader, recipe, axes, side, [&](std::size_t done) {
    progress("try axes", static_cast<double>(done), static_cast<double>(axes.size()), "trials");
  });
  for (const std::string& text : all.warnings) progress.warn(text);
  if (!tells(all))
    progress.warn("--try: all slices are as sharp, within 0.1 %, so none of these axes is the best one");
  else if (axes.size() > 2 && (all.best == 0 || all.best + 1 == axes.size()))
    progress.warn("--try: the best axis is at an end of the range; try others beyond " +
                  words_of_axis(axes[all.best]));
  progress.clear();
  nlohmann::json trials = nlohmann::json::array();
  for (const pipeline::AxisTrial& trial : all.trials)
    trials.push_back({{"axis_bin", trial.axis_bin}, {"unsharpness", trial.unsharpness}});
  write_report(o.common, {{"command", "center"},
                          {"version", TANDEM_VERSION},
                          {"input", o.scan.path},
                          {"axis_bin", tells(all) ? nlohmann::json(axes[all.best]) : nlohmann::json(nullptr)},
                          {"method", "sharpness"},
                          {"trials", trials},
                          {"warnings", progress.warnings()}});
  if (o.common.json != "-") print_trials(all);
  if (sheet) write_sheet(std::move(*sheet), all);
}

nlohmann::json report_of_axis(const CenterOptions& o, double axis, double uncertainty,
                              pipeline::AxisMethod method) {
  return {{"command", "center"}, {"version", TANDEM_VERSION},  {"input", o.scan.path},
          {"axis_bin", axis},    {"uncertainty", uncertainty}, {"method", name_of(method)}};
}

void finish(CenterOptions& o, nlohmann::json report, ProgressLine& progress) {
  progress.clear();
  report["warnings"] = progress.warnings();
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "axis_bin  " << with_uncertainty(report["axis_bin"], report["uncertainty"]) << "  ("
              << report["method"].get<std::string>() << ")\n";
}

void report_roll(CenterOptions& o, const Roll& roll, ProgressLine& progress) {
  nlohmann::json report = report_of_axis(o, roll.axis_bin, roll.axis_uncertainty, roll.method);
  report["detector_roll_deg"] = roll.degrees;
  report["detector_roll_uncertainty_deg"] = roll.uncertainty;
  finish(o, std::move(report), progress);
  if (o.common.json != "-")
    std::cout << "roll      " << with_uncertainty(roll.degrees, roll.uncertainty) << " degrees\n";
}

void run_center(CenterOptions& o) {
  const ThreadLimit limit(o.common.threads);
  if (!o.trials.empty()) return try_trials(o);
  ProgressLine progress(o.common);
  auto reader = open(o.scan);
  say_notes(reader->info(), o.scan, progress);
  pipeline::AxisSearch search{pipeline::axis_method(o.method)};
  if (o.between)
    search.between = {static_cast<double>(o.between->first), static_cast<double>(o.between->last - 1)};
  if (o.roll)
    return report_roll(o, find_roll_of(*reader, o.scan, search, std::max<Index>(o.rows, 9), progress),
                       progress);
  const auto axis = find_axis_of(*reader, o.scan, search, o.rows, progress);
  warn_of_repeated_view(*reader, o.scan, axes_of(axis), progress);
  nlohmann::json report = report_of_axis(o, axis.axis_bin, axis.uncertainty, axis.method);
  report["agreement"] = axis.agreement;
  finish(o, std::move(report), progress);
}

}  // namespace

void add_center(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<CenterOptions>();
  CLI::App& c = add_scan_command(program, "center", "Find the rotation axis", o, run_center, chosen);
  heading(c, "Search");
  add_choice(c, "--rotation-axis-method", o->method, {"auto", "opposite", "vo"}, "default auto");
  c.add_option("--nsino", o->rows, "number of rows to use, spread over the selected ones (default 5)")
      ->check(count());
  c.add_flag(
      "--roll", o->roll,
      "parallel beam: find by how many degrees the detector is rolled, too; the axis is then that of the "
      "middle row");
  add_range(c, "--between", o->between, "search for the axis only between these bins");
  CLI::Option* trials =
      c.add_option("--try", o->trials,
                   "reconstruct the middle one of the selected rows about each axis from A to B, in bins of "
                   "the file, instead of searching")
          ->check([](const std::string& text) { return axes_of_trials(text), std::string(); })
          ->type_name("A:B:STEP");
  c.add_option("--preview", o->preview,
               "PNG of the slices of --try, each with its axis; the sharpest is framed")
      ->needs(trials);
  c.footer(
      "Examples:\n"
      "  tandem center scan.h5\n"
      "  tandem center scan.h5 --start-row 100 --end-row 200 --nsino 9 --json axis.json\n"
      "  tandem center scan.h5 --try 290:300:0.5 --preview sheet.png");
}

}  // namespace tandem::apps
