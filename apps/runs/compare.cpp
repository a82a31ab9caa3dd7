#include "batch.hpp"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include "../../io/png.hpp"
#include "../../io/volumes/no_volume.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/watch/truth.hpp"
#include "../../solvers/run.hpp"
#include "../pages/preview.hpp"
#include "progress.hpp"
#include "recon_scan.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// The result of a method.
struct MethodRow {
  std::string method;
  pipeline::Plan plan;
  double seconds = 0;  ///< from counts to the last slice, with searches of the method
  pipeline::Outcome outcome{};

  bool iterates() const { return plan.job.method->iterates(); }
  /// The root mean square of b - Ax, in units of line integrals. Unlike the norm relative to the start, it
  /// does not depend on the initial volume.
  double residual() const {
    double squares = 0;
    for (const pipeline::Iterated& chunk : outcome.iterated) squares += chunk.squares.back();
    const Detector& d = detector_of(plan.job.scan);
    return std::sqrt(squares / (d.rows * d.bins) / views_of(plan.job.scan));
  }
};

std::string text_of_number(double value, int digits) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

MethodRow made_by(const std::string& method, ReconOptions o, io::ScanReader& reader, ProgressLine& progress) {
  o.recipe.method = method;
  choose_devices(o);
  MethodRow row{method, make_plan(reader.info(), o.recipe)};
  require_its_beam(o, row.plan);
  for (const std::string& warning : row.plan.warnings) progress.warn(method + ": " + warning);
  pipeline::Options options;
  options.progress = [&](const pipeline::Stage& at) {
    progress(method + ", " + at.name, at.done, at.total, "slices", at.detail);
  };
  options.truth = o.truth;
  options.pictures = true;
  options.any_external = o.scan.how.allow_external_files;
  const double begun = seconds_now();
  io::NoVolume nowhere;
  row.outcome = pipeline::reconstruct(reader, row.plan, nowhere, options);
  row.seconds = seconds_now() - begun;
  for (const std::string& warning : row.outcome.warnings) progress.warn(method + ": " + warning);
  return row;
}

std::string text_of_quality(const pipeline::Quality& quality) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "PSNR " << quality.psnr << " dB, SSIM "
       << std::setprecision(2) << quality.ssim;
  return text.str();
}

std::vector<std::string> captions_of(const MethodRow& row) {
  std::vector<std::string> lines{row.method};
  const std::string seconds = text_of_number(row.seconds, 3) + " s";
  if (const auto& quality = row.outcome.quality) lines.push_back(text_of_quality(*quality));
  if (!row.iterates()) return lines.push_back(seconds), lines;
  lines.push_back(std::to_string(row.outcome.iterations) + " iterations, " + seconds);
  lines.push_back("residual " + text_of_number(row.residual(), 3));
  return lines;
}

/// The middle slice of the truth.
io::Picture true_slice(const ReconOptions& o, const pipeline::Plan& plan) {
  const auto [nx, ny, nz] = plan.job.grid.size;
  io::Picture picture{nx, ny, std::vector<float>(nx * ny), {"truth"}};
  pipeline::TrueVolume(plan.job.place(), o.truth, o.scan.how.allow_external_files)
      .read(nz / 2, picture.grey.data());
  return picture;
}

/// Makes a picture brighter, by a factor that its caption tells, if its greys are far below the window of the
/// truth, as in laminography.
void brighten(io::Picture& picture, const GreyWindow& of_truth) {
  constexpr float far_below = 3;
  const float factor = std::round(10 * of_truth.white / window_of(picture.grey).white) / 10;
  if (!(factor >= far_below) || !std::isfinite(factor)) return;
  for (float& grey : picture.grey) grey *= factor;
  picture.captions.push_back("shown " + text_of_number(factor, 2) + " times as bright");
}

/// Writes the picture with one window for all, so that greys can be compared: that of the truth, or else that
/// of the last method, since noise of other methods would make a joint window too wide.
void write_picture(io::Output output, const ReconOptions& o, std::vector<MethodRow>& rows) {
  constexpr std::size_t most_columns = 4;
  std::vector<io::Picture> pictures;
  if (!o.truth.empty()) pictures.push_back(true_slice(o, rows.front().plan));
  for (MethodRow& row : rows) {
    pictures.push_back(std::move(row.outcome.middle.front()));
    pictures.back().captions = captions_of(row);
  }
  const GreyWindow window = window_of((o.truth.empty() ? pictures.back() : pictures.front()).grey);
  for (std::size_t k = 1; k < pictures.size() && !o.truth.empty(); ++k) brighten(pictures[k], window);
  io::Sheet sheet = sheet_of(window, rows.front().plan.job.place());
  sheet.columns = most_columns;
  io::write_png(std::move(output), pictures, sheet);
}

json json_of(const MethodRow& row) {
  json one = {{"algorithm", row.method}, {"seconds", row.seconds}};
  one["iterations"] = row.iterates() ? json(row.outcome.iterations) : json(nullptr);
  one["residual"] = row.iterates() ? json(row.residual()) : json(nullptr);
  one["updates"] = row.outcome.updates;
  if (const auto& quality = row.outcome.quality)
    one.update({{"psnr_db", quality->psnr}, {"ssim", quality->ssim}, {"rmse", quality->rmse}});
  return one;
}

void print_table(const std::vector<MethodRow>& rows) {
  const bool judged = rows.front().outcome.quality.has_value();
  const auto cell = [](const std::string& text) { std::cout << std::right << std::setw(12) << text; };
  const auto begin = [](const std::string& text) { std::cout << std::left << std::setw(10) << text; };
  begin("method");
  for (const char* title : {"seconds", "iterations", "residual"}) cell(title);
  if (judged)
    for (const char* title : {"PSNR, dB", "SSIM", "RMSE"}) cell(title);
  std::cout << '\n';
  for (const MethodRow& row : rows) {
    begin(row.method);
    cell(text_of_number(row.seconds, 3));
    cell(row.iterates() ? std::to_string(row.outcome.iterations) : "-");
    cell(row.iterates() ? text_of_number(row.residual(), 4) : "-");
    if (const auto& quality = row.outcome.quality)
      for (const double value : {quality->psnr, quality->ssim, quality->rmse}) cell(text_of_number(value, 4));
    std::cout << '\n';
  }
}

}  // namespace

void compare_methods(ReconOptions& o) {
  NamedFiles inputs = sources_of(o);
  inputs.push_back({"--truth", o.truth});
  check_files(o.common, inputs, outputs_of(o));
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  const std::unique_ptr<io::ScanReader> reader = open(o.scan);
  complete_recipe(o, *reader, progress);
  tell_notes(o, reader->info(), progress);
  io::Output preview(o.preview, io::Content::picture, o.common.replace());
  std::vector<MethodRow> rows;
  for (const std::string& method : o.compared) rows.push_back(made_by(method, o, *reader, progress));
  write_picture(std::move(preview), o, rows);
  progress.clear();
  json report = {
      {"command", "recon"},
      {"input", o.scan.path},
      {"preview", o.preview},
      {"volume", {{"shape", rows.front().plan.job.grid.shape()}, {"unit", rows.front().plan.job.unit()}}},
      {"compared", json::array()},
      {"warnings", progress.warnings()}};
  for (const MethodRow& row : rows) report["compared"].push_back(json_of(row));
  write_report(o.common, report);
  if (o.common.json == "-") return;
  print_table(rows);
  std::cout << "written   " << o.preview << '\n';
}

}  // namespace tandem::apps
