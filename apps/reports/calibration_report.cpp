#include "calibration_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <variant>

#include "../command.hpp"
#include "../pages/preview.hpp"
#include "../runs/lines.hpp"

namespace tandem::apps {

namespace {

using calibration::Found, calibration::Quantity, calibration::Verdict;
using nlohmann::json;

/// One number, or one of each view; null if nothing tells it.
json json_of(const Quantity& number) {
  if (number.value.empty()) return nullptr;
  if (!number.of_views.empty()) return {{"value", number.value}, {"uncertainty", number.uncertainty}};
  json one = {{"value", number.value.front()}, {"uncertainty", nullptr}};
  if (!number.uncertainty.empty()) one["uncertainty"] = number.uncertainty.front();
  if (!number.told_by.empty()) one["verdict"] = name_of(Verdict::resolved), one["told_by"] = number.told_by;
  return one;
}

json json_of(const calibration::Fact& fact) {
  return std::visit(
      []<class Value>(const Value& value) -> json {
        if constexpr (std::is_same_v<Value, std::monostate>)
          return nullptr;
        else
          return value;
      },
      fact.value);
}

json json_of(const calibration::Searched& search) {
  const bool told = search.verdict == Verdict::resolved;
  return {{"what", search.what},
          {"verdict", name_of(search.verdict)},
          {"change", told ? json(search.change) : json(nullptr)},
          {"uncertainty", told ? json(search.uncertainty) : json(nullptr)}};
}

json json_of(const calibration::FoundBall& ball) {
  json one = {{"place_mm", ball.place}};
  if (ball.uncertainty) one["uncertainty_mm"] = *ball.uncertainty;
  if (ball.known_as) one["known_as"] = *ball.known_as;
  return one;
}

template <class All>
json list_of(const All& all) {
  json list = json::array();
  for (const auto& each : all) list.push_back(json_of(each));
  return list;
}

void draw_line(io::Picture& picture, const std::array<double, 2>& from, const std::array<double, 2>& to,
               float grey) {
  const double right = to[0] - from[0], up = to[1] - from[1],
               steps = std::ceil(std::max(std::abs(right), std::abs(up))) + 1;
  for (double k = 0; k <= steps; ++k) {
    const Index x = std::lround(from[0] + k / steps * right), y = std::lround(from[1] + k / steps * up);
    if (0 <= x && x < picture.width && 0 <= y && y < picture.height)
      picture.grey[y * picture.width + x] = grey;
  }
}

/// Where shadows fell, as dots, and by how much the scanner misses them, as lines `larger` times as long.
io::Picture picture_of(const std::vector<calibration::Miss>& misses, const Detector& d,
                       const std::string& title) {
  constexpr double side = 480, length = 24;  // pixels; a line of the root mean square miss
  const double scale = side / std::max(d.bins, d.rows), size = rms_of(misses),
               larger = size > 0 ? length / (size * scale) : 1;
  const auto pixels = [&](Index cells) { return std::lround(scale * cells); };
  io::Picture picture{pixels(d.bins), pixels(d.rows), {}, {}};
  picture.grey.assign(picture.width * picture.height, 1.0F);
  const auto place = [&](const std::array<double, 2>& cell) {
    return std::array{scale * (cell[0] + 0.5), scale * (cell[1] + 0.5)};
  };
  for (const auto& [cell, off] : misses) {
    const auto [x, y] = place(cell);
    draw_line(picture, {x, y}, {x - larger * scale * off[0], y - larger * scale * off[1]}, 0.55F);
  }
  for (const calibration::Miss& miss : misses)
    for (const double up : {-1.0, 0.0, 1.0}) {
      const auto [x, y] = place(miss.cell);
      draw_line(picture, {x - 1, y + up}, {x + 1, y + up}, 0);
    }
  picture.captions = {title + ": off by " + rounded(std::round(1e4 * size) / 1e4) + " cells rms",
                      "lines: " + rounded(std::round(larger)) + " times as long"};
  return picture;
}

}  // namespace

double rms_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double each : numbers) sum += std::pow(each, 2);
  return std::sqrt(sum / numbers.size());
}

json calibration_report(const Found& found) {
  json report = {{"method", found.method}, {"not_told", json::array()}};
  for (const Quantity& number : found.numbers) report[number.name] = json_of(number);
  for (const calibration::Fact& fact : found.facts) report[fact.name] = json_of(fact);
  for (const auto& [what, why] : found.not_told) report["not_told"].push_back({{"what", what}, {"why", why}});
  if (found.searches) report["searches"] = list_of(*found.searches);
  if (!found.balls.empty()) report["balls"] = list_of(found.balls);
  if (found.sense) {
    report["rotation"] = found.sense->reversed ? "against the angles" : "along the angles";
    report["other_rotation_fits_worse_by"] = or_null(found.sense->other_is_worse);
  }
  for (const auto& [stage, seconds] : found.laps.seconds()) report["seconds"][stage] = seconds;
  return report;
}

std::vector<std::string> calibration_lines(const Found& found) {
  std::vector<std::string> lines;
  for (const Quantity& number : found.numbers) {
    if (number.value.empty()) continue;
    std::string line = number.name;
    line.resize(std::max<std::size_t>(14, line.size() + 1), ' ');
    if (number.uncertainty.empty())
      line += rounded(number.value.front()) + "  (as given)";
    else if (number.of_views.empty())
      line += with_uncertainty(number.value.front(), number.uncertainty.front());
    else
      line += with_uncertainty(rms_of(number.value), rms_of(number.uncertainty)) + " " +
              std::string(number.of_views) + ", root mean square";
    lines.push_back(line);
  }
  for (const auto& [what, why] : found.not_told) lines.push_back("not told      " + what + ": " + why);
  if (!found.balls.empty())
    lines.push_back("balls         " + counted(found.balls.size(), "ball") + ", " +
                    counted(found.misses[1].size(), "shadow") + " off by " +
                    rounded(std::round(1e4 * rms_of(found.misses[1])) / 1e4) +
                    " cells rms; before: " + rounded(std::round(1e3 * rms_of(found.misses[0])) / 1e3));
  return lines;
}

CalibrationPictures calibration_pictures(const Found& found, const Detector& selected) {
  CalibrationPictures all;
  if (!found.balls.empty())
    all.pictures = {picture_of(found.misses[0], selected, "as the scan says"),
                    picture_of(found.misses[1], selected, "calibrated")};
  if (found.slices.empty()) return all;
  std::vector<float> shown;
  for (const calibration::ShownSlice& slice : found.slices) {
    all.pictures.push_back({slice.width, slice.height, slice.grey, {slice.caption}});
    shown.insert(shown.end(), slice.grey.begin(), slice.grey.end());
  }
  const GreyWindow window = window_of(shown);
  all.sheet = {.black = window.black, .white = window.white, .columns = 2};
  return all;
}

}  // namespace tandem::apps
