#include "bounds_options.hpp"

#include <algorithm>
#include <cmath>
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

void parse_levels(Recipe& r, const std::string& text) {
  const auto [low, high] = parse_ends("--levels", text, false);
  r.levels.emplace(static_cast<float>(*low), static_cast<float>(*high));
}

}  // namespace

void add_bounds(Table& c, Recipe& r) {
  c.add_parsed(
       "--levels", On::result, [&r](const std::string& text) { parse_levels(r, text); },
       "two attenuations that most voxels have, such as 0 and that of the one material: voxels are led to "
       "them in stages, where views lack a part of the turn; they are bounds, too")
      .of_kind("LOW:HIGH")
      .of_the_method();
  c.add("--nonnegative", On::result, r.nonnegative, "no voxel below zero").without("--levels");
  c.add_parsed(
       "--bounds", On::result,
       [&r](const std::string& text) { std::tie(r.lowest, r.highest) = parse_ends("--bounds", text, true); },
       "no voxel below and none above these attenuations; one may be left out")
      .of_kind("LOW:HIGH")
      .without("--nonnegative")
      .without("--levels");
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
