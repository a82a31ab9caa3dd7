#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../options/renamed.hpp"
#include "../../pipeline/plan/warn.hpp"
#include "../../pipeline/watch/live.hpp"
#include "../pages/preview.hpp"
#include "../runs/files.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "look_command.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

/// As an option takes it.
std::string text_of_value(double value) {
  std::ostringstream text;
  text << std::setprecision(10) << value;
  return text.str();
}

/// Lowest and highest value of the pixels that are finite.
std::pair<double, double> range_of(std::span<const float> grey) {
  double low = INFINITY, high = -INFINITY;
  for (const float v : grey)
    if (std::isfinite(v)) low = std::min<double>(low, v), high = std::max<double>(high, v);
  return {low, high};
}

/// The disc that is judged: four fifths of the slice, and of a half acquisition what both sides of the
/// detector see, unless that is too little.
double radius_of(const pipeline::LookedAt& at) {
  constexpr double most = 0.4, least = 0.1;
  const double side = std::min(at.picture.width, at.picture.height);
  return std::clamp(at.seen_twice, least * side, most * side);
}

/// The value that is best stands in the frame, if one is.
bool has_best(const SweepMade& all) {
  return all.result.verdict == calibration::Verdict::resolved ||
         all.result.verdict == calibration::Verdict::railed;
}

void write_sweep_sheet(io::Output output, SweepMade& all, const std::string& name) {
  const Index joined = ceil_div(all.place.grid.size[0], all.pictures.front().width);  // voxels in a pixel
  io::Sheet sheet = sheet_of(joint_window({all.pictures[all.result.best].grey}), all.place);
  sheet.pixel *= joined;
  for (std::size_t k = 0; k < all.pictures.size(); ++k)
    all.pictures[k].captions = {(k == 0 ? name + ' ' : "") + all.texts[k]};
  if (has_best(all)) {
    all.pictures[all.result.best].framed = true;
    all.pictures[all.result.best].captions.front() += ", the best";
  }
  sheet.columns = static_cast<std::size_t>(std::ceil(std::sqrt(1.5 * all.pictures.size())));
  io::write_png(std::move(output), all.pictures, sheet);
}

void print_sweep(const SweepMade& all, const std::string& name) {
  const auto wide = static_cast<int>(std::max<std::size_t>(name.size() + 2, 12));
  const calibration::SweepResult& r = all.result;
  std::cout << std::left << std::setw(wide) << name << "unsharpness  entropy"
            << (r.opposite.empty() ? "" : "  opposite views") << '\n';
  for (std::size_t k = 0; k < all.texts.size(); ++k) {
    std::cout << std::left << std::setw(wide) << all.texts[k] << std::fixed << std::setprecision(5)
              << r.unsharpness[k] << "      " << std::setprecision(4) << r.entropy[k] << std::defaultfloat;
    if (!r.opposite.empty()) std::cout << "   " << r.opposite[k];
    std::cout << (has_best(all) && k == r.best ? "  best" : "") << '\n';
  }
  std::cout << r.words << '\n';
}

/// What was tried, and what came out.
json sweep_json(const SweepAsked& asked, const SweepMade& all) {
  json trials = json::array();
  for (std::size_t k = 0; k < all.texts.size(); ++k) {
    trials.push_back({{"value", asked.values[k]},
                      {"unsharpness", all.result.unsharpness[k]},
                      {"entropy", all.result.entropy[k]}});
    if (!all.result.opposite.empty()) trials.back()["opposite"] = all.result.opposite[k];
  }
  const bool resolved = all.result.verdict == calibration::Verdict::resolved;
  return {{"sweep", asked.name},
          {"score", calibration::names_of_scores()[static_cast<std::size_t>(asked.score)]},
          {"slices", asked.slices},
          {"verdict", calibration::name_of(all.result.verdict)},
          {"words", all.result.words},
          {"value", resolved ? json(all.result.value) : json(nullptr)},
          {"uncertainty", resolved ? json(all.result.uncertainty) : json(nullptr)},
          {"best", has_best(all) ? json(asked.values[all.result.best]) : json(nullptr)},
          {"trials", trials}};
}

/// Requires the name of an option of the volume that takes one number. @throws UsageError that says which do
void require_number(const std::string& name) {
  std::vector<std::string> names = numbers_of_volume();
  if (std::ranges::find(names, name) != names.end()) return;
  const GivenRecon recon;
  std::erase_if(names, [&](const auto& one) { return !applies(recon.options, "--" + one); });
  const bool is_option = recon.table.find("--" + name);
  std::string hint = is_option ? "" : successor_of_option(name);
  if (!is_option && hint.empty()) hint = did_you_mean(name, names);
  const auto behind = std::stable_partition(
      names.begin(), names.end(), [](const std::string& one) { return one.find(':') == std::string::npos; });
  const std::string example = *behind;
  names.erase(behind, names.end());
  throw UsageError("--sweep: '" + name + "' is no option of the volume that takes one number" + hint + " (" +
                   joined(names, ", ") + ", and numbers behind values, such as " + example + ")");
}

/// Options with the number of voxels that they give, so that slices at all values are of one grid: if the
/// axis moves far, a beam sees more. A grid that is swept itself stays as it is.
json on_one_grid(LookScan& scan, json options, const std::string& name) {
  const bool grid_is_swept = name == "size" || name == "binning";
  if (!grid_is_swept && !options.contains("size")) options["size"] = scan.full_size(options)[2];
  return options;
}

}  // namespace

SweepAsked sweep_of(const std::string& name, double first, double last, double step) {
  require_number(name);
  constexpr double most = 200, rounding = 1e-6;
  if (!(step > 0) || !(last >= first) || !((last - first) / step < most))
    throw UsageError("--sweep " + name + ": A:B:STEP with A up to B and at most 200 values is needed");
  SweepAsked asked{name, {}};
  for (double k = 0; k <= std::floor((last - first) / step + rounding); ++k) {
    const std::string text = text_of_value(first + k * step);
    const auto value = number_in(text);
    if (!value) throw UsageError("--sweep " + name + ": " + text + " is beyond all numbers");
    asked.values.push_back(*value);
  }
  if (std::ranges::adjacent_find(asked.values) != asked.values.end())
    throw UsageError("--sweep " + name + ": a step of " + text_of_value(step) + " does not change " +
                     text_of_value(first) + "; options are given in ten digits");
  return asked;
}

SweepAsked sweep_in(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::vector<std::string> parts = parts_of(equals == std::string::npos ? "" : text.substr(equals + 1), ':');
  const bool three = parts.size() == 3;
  parts.resize(3);
  std::string name = text.substr(0, equals);
  const auto a = number_in(parts[0]), b = number_in(parts[1]), by = number_in(parts[2]);
  name.erase(0, std::min(name.size(), name.find_first_not_of('-')));
  if (!three || name.empty() || !a || !b || !by)
    throw UsageError("--sweep '" + text + "' is not NAME=A:B:STEP, such as rotation-axis=510:514:0.5");
  return sweep_of(name, *a, *b, *by);
}

SweepMade swept(LookScan& scan, const json& given, const SweepAsked& asked, Index side,
                const std::function<void(std::size_t)>& done) {
  SweepMade all{};
  std::vector<calibration::Swept> values;
  std::pair<double, double> range;
  double radius = 0;
  json options = given;
  for (const double value : asked.values) {
    done(values.size());
    all.texts.push_back(text_of_value(value));
    options[asked.name] = all.texts.back();
    values.push_back({value, {}});
    for (std::size_t k = 0; k < std::max<std::size_t>(asked.slices.size(), 1); ++k) {
      const std::optional<Index> z = asked.slices.empty() ? std::nullopt : std::optional(asked.slices[k]);
      calibration::OppositeViews opposite;
      const bool compared = asked.score == calibration::Score::opposite;
      const pipeline::LookedAt at = scan.looked_at(
          options, z, [&] { done(values.size() - 1); }, compared ? &opposite : nullptr);
      const io::Picture& p = at.picture;
      if (all.pictures.empty()) range = range_of(p.grey), radius = radius_of(at);
      const double fits = 0.5 * std::min(p.width, p.height);
      values.back().slices.push_back(calibration::sharpness_of(
          {p.grey, at.even, p.width, p.height, std::min(radius, fits)}, range.first, range.second));
      values.back().slices.back().opposite = std::move(opposite);
      if (k == 0) all.pictures.push_back(pipeline::shrunk(p.grey, p.width, p.height, side));
      all.place = at.place;
      pipeline::add_unsaid(all.warnings, at.warnings);
    }
  }
  done(values.size());
  all.result = calibration::judged(values, asked.score);
  return all;
}

Pictured sheet_of_sweep(LookScan& scan, const json& asked, const LookScan::GoOn& go_on) {
  SweepAsked sweep = sweep_of(asked.value("name", ""), number_of(asked, "first"), number_of(asked, "last"),
                              number_of(asked, "step"));
  constexpr Index middle = -1;
  if (const Index z = whole_of(asked, "z", middle, {0, most_slices}); z != middle) sweep.slices = {z};
  sweep.score = calibration::score_named(asked.value("score", "sharpness"));
  const Index side = whole_of(asked, "side", 160, {32, 513});
  const json options = on_one_grid(scan, options_in(asked), sweep.name);
  SweepMade made = swept(scan, options, sweep, side, [&](std::size_t) { go_on(); });
  Pictured all{made.pictures.front(), sweep_json(sweep, made)};
  for (std::size_t k = 1; k < made.pictures.size(); ++k) {
    const io::Picture& one = made.pictures[k];
    require<GeometryError>(one.width == all.picture.width,
                           "sweep: slices of different sizes are on no sheet");
    all.picture.grey.insert(all.picture.grey.end(), one.grey.begin(), one.grey.end());
    all.picture.height += one.height;
  }
  all.head["each"] = made.pictures.front().height;
  all.head["warnings"] = made.warnings;
  return all;
}

void run_sweep(ReconOptions& o) {
  constexpr Index pixels = 400;  // along the side of a picture
  SweepAsked asked = sweep_in(o.sweep);
  if (o.command->find(asked.name) && !applies(o, "--" + asked.name))
    throw UsageError("--sweep " + asked.name + ": slices are looked at by a filter, which does not read it");
  asked.score = calibration::score_named(o.score);
  if (o.recipe.region_z)
    for (Index z = o.recipe.region_z->first; z < o.recipe.region_z->last; ++z) asked.slices.push_back(z);
  check_files(o.common, sources_of(o), outputs_of(o));
  const ThreadLimit limit(o.common.threads);
  std::optional<io::Output> sheet;
  if (!o.preview.empty()) sheet.emplace(o.preview, io::Content::picture, o.common.replace());
  ProgressLine progress(o.common);
  LookOptions options(o);
  options.forget(o.slices_are_range() ? "slices" : "");
  options.forget(asked.name);
  LookScan scan(options);
  scan.find_for(options, o, progress);
  SweepMade made = swept(scan, scan.start(), asked, pixels,
                         [&](std::size_t done) { progress("sweep", done, asked.values.size(), "values"); });
  for (const std::string& text : made.warnings) progress.warn(text);
  if (made.result.verdict != calibration::Verdict::resolved) progress.warn("--sweep: " + made.result.words);
  progress.clear();
  json report = {{"command", "recon"}, {"input", o.scan.path}};
  report.update(sweep_json(asked, made));
  report["warnings"] = progress.warnings();
  write_report(o.common, report);
  if (o.common.json != "-") print_sweep(made, asked.name);
  if (sheet) write_sweep_sheet(std::move(*sheet), made, asked.name);
}

}  // namespace tandem::apps
