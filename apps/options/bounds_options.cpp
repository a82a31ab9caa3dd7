#include "bounds_options.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <tuple>

#include "../../io/files/text.hpp"

namespace tandem::apps {

using pipeline::Recipe;
using pipeline::Support;

namespace {

double number_of_support(const std::string& text, const std::string& given, bool from_zero) {
  const auto value = number_in(text);
  if (!value || !std::isfinite(*value) || (from_zero && *value < 0))
    throw UsageError("--support " + given + ": '" + text + "' is no number" +
                     (from_zero ? " from 0 on" : "") +
                     "; give disc, disc:margin=MM, disc:at=X,Y,RADIUS or FILE");
  return *value;
}

bool is_disc(const std::string& text) {
  return in_lower_case(detailed(detailed(text, "margin").value, "at").value) == "disc";
}

void parse_support(Support& support, const std::string& text) {
  const auto [disc, margin] = detailed(text, "margin");
  const auto [word, at] = detailed(disc, "at");
  support.is_disc = is_disc(text);
  if (!support.is_disc) {
    support.file = text;
    return;
  }
  if (disc != text) support.margin = number_of_support(margin, text, true);
  if (word == disc) return;
  const std::vector<std::string> numbers = parts_of(at, ',');
  if (numbers.size() != 3) throw UsageError("--support " + text + ": give disc:at=X,Y,RADIUS, in mm");
  support.disc = Disc{number_of_support(numbers[0], text, false), number_of_support(numbers[1], text, false),
                      number_of_support(numbers[2], text, true)};
}

/// Whether an end of --bounds is a file: it has letters, and is no number.
bool is_file(const std::string& end) {
  const std::string word = in_lower_case(end);
  return std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c) != 0; }) && !number_in(end) &&
         !word.ends_with("nan") && !word.ends_with("inf");
}

void parse_bounds(Recipe& r, const std::string& text) {
  const std::vector<std::string> ends = parts_of(text, ':');
  std::string numbers = text;
  if (ends.size() == 2 && (is_file(ends[0]) || is_file(ends[1]))) {
    if (is_file(ends[0])) r.lowest_file = ends[0];
    if (is_file(ends[1])) r.highest_file = ends[1];
    numbers = (is_file(ends[0]) ? "" : ends[0]) + ':' + (is_file(ends[1]) ? "" : ends[1]);
    if (numbers == ":") return;
  }
  std::tie(r.lowest, r.highest) = parse_ends("--bounds", numbers, true);
}

bool names_file_of_bounds(const std::string& text) {
  return std::ranges::any_of(parts_of(text, ':'), is_file);
}

void parse_levels(Recipe& r, const std::string& text) {
  constexpr std::string_view open = ":auto";
  r.finds_high_level = (':' + in_lower_case(text)).ends_with(open);
  if (!r.finds_high_level) {
    const auto [low, high] = parse_ends("--levels", text, false);
    r.levels.emplace(*low, *high);
    return;
  }
  const auto low = number_in(text.substr(0, text.size() - std::min(text.size(), open.size())));
  if (!low || !std::isfinite(*low))
    throw UsageError("--levels " + text + ": give LOW:HIGH or LOW:auto, with a number for LOW");
  r.levels.emplace(static_cast<float>(*low), static_cast<float>(*low) + 1);  // until it is found
}

}  // namespace

void add_bounds(Table& c, Recipe& r) {
  c.add_parsed(
       "--levels", On::result, [&r](const std::string& text) { parse_levels(r, text); },
       "two attenuations that most voxels have, such as 0 and that of the one material: voxels are led to "
       "them in stages, where views lack a part of the turn; they are bounds, too. LOW:auto: HIGH is the "
       "median attenuation of rays that run within the --shell of --support disc")
      .of_kind("LOW:HIGH|LOW:auto")
      .of_the_method();
  c.add("--nonnegative", On::result, r.nonnegative, "no voxel below zero").without("--levels");
  c.add_parsed(
       "--bounds", On::result, [&r](const std::string& text) { parse_bounds(r, text); },
       "no voxel below and none above these attenuations; one may be left out, and each may be FILE, a "
       "volume of the same grid with one for each voxel, where 1e30 is no bound")
      .of_kind("LOW:HIGH")
      .without("--nonnegative")
      .without("--levels")
      .names_file = [](const Values& values) { return std::ranges::any_of(values, names_file_of_bounds); };
  c.add_parsed(
       "--support", On::result, [&r](const std::string& text) { parse_support(r.support, text); },
       "voxels outside of the object are zero. disc: a cylinder along the axis' direction, fitted to the "
       "edges of the object's shadow, from a part of a turn too; margin: larger by so much; at: this one "
       "(mm, without a pitch bins). FILE: a volume of the same grid that is not zero within the object")
      .of_kind("disc[:at=X,Y,RADIUS][:margin=MM]|FILE")
      .names_file = [](const Values& values) { return !std::ranges::all_of(values, is_disc); };
  c.add("--shell", On::result, r.support.shell,
        "mm (without a pitch bins) from the edge of --support inwards, where voxels have the highest value "
        "of --bounds, as the full rim of a solid body")
      .check(positive(1e9))
      .of_kind("MM");
}

std::string text_of_disc(const Support& support) {
  std::string text = "disc:at=" + io::shortest(support.disc->x) + ',' + io::shortest(support.disc->y) + ',' +
                     io::shortest(support.disc->radius);
  return support.margin > 0 ? text + ":margin=" + io::shortest(support.margin) : text;
}

}  // namespace tandem::apps
