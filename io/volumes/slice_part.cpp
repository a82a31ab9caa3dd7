// What the files of slices say about themselves, and which of them belong together.

#include "slice_part.hpp"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../files/identity.hpp"
#include "../files/text.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
constexpr double most_slices = 1e12;
const std::string slice_key = "slice";

/// A description without the line in which the slices of a run differ.
std::string without_number(std::string description) {
  if (const std::size_t line = description.find('\n' + slice_key + ": "); line != std::string::npos)
    description.erase(line, description.find('\n', line + 1) - line);
  return description;
}

Shape shape_in(const SliceFacts& facts, const std::string& where) {
  const std::vector<double> n = facts.numbers("shape");
  const bool fits = n.size() == 3 && std::all_of(n.begin(), n.end(), [](double v) {
                      return v >= 1 && v < most_slices && v == std::floor(v);
                    });
  require<FileError>(fits, where, ": the shape \"", facts.text("shape"),
                     "\" is not that of a volume (z, y, x); the file is damaged, or of an early version");
  return {floor_index(n[0]), floor_index(n[1]), floor_index(n[2])};
}

}  // namespace

SlicePart slice_part_of(const std::string& description, const fs::path& path) {
  SlicePart part;
  part.facts = SliceFacts(description);
  part.shape = shape_in(part.facts, path.string());
  if (const std::string length = part.facts.text("lengths"); !length.empty()) {
    PlaceNumbers numbers;
    for (const char* name : {"pitch", "centre", "full_shape", "region"})
      numbers[name] = part.facts.numbers(name);
    part.place = place_of(numbers, length == "mm", part.shape, path.string());
  }
  return part;
}

namespace {

/// Requires that a file has the name of its slice, since a renamed file would put its pixels elsewhere.
void require_named_slice(const SlicePart& part, const std::string& description, const fs::path& path,
                         Index number) {
  const double says = SliceFacts(description).number(slice_key).value_or(-1);
  const Range run = part.slices();
  require<FileError>(says == number - run.first && number >= run.first && number < run.last, path.string(),
                     ": says that it is slice ", run.first + says, " of ", run.first, ":", run.last,
                     "; give it back its name, or make the volume again");
}

}  // namespace

SliceFacts::SliceFacts(const std::string& description) {
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t colon = line.find(": "); colon != std::string::npos)
      facts_.emplace(line.substr(0, colon), line.substr(colon + 2));
}

std::string SliceFacts::text(const std::string& key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? "" : found->second;
}

std::vector<double> SliceFacts::numbers(const std::string& key) const {
  std::istringstream words(text(key));
  words.imbue(std::locale::classic());
  std::vector<double> all;
  for (double number = 0; words >> number;) all.push_back(number);
  return all;
}

std::optional<double> SliceFacts::number(const std::string& key) const {
  const std::vector<double> all = numbers(key);
  return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
}

VolumeFacts volume_facts(Shape shape, const VolumeFormat& format, const std::string& recipe_json) {
  const auto words = [](const auto& numbers) {
    std::string text;
    for (const auto number : numbers) text.append(text.empty() ? "" : " ").append(shortest(number));
    return text;
  };
  VolumeFacts facts{
      {"shape", words(shape)}, {"type", name_of(number_type(format.type))}, {"unit", format.unit()}};
  if (format.place) {
    facts.emplace_back("lengths", format.place->unit_of_length());
    for (const auto& [name, numbers] : numbers_of(*format.place)) facts.emplace_back(name, words(numbers));
  }
  if (is_integer(format.type)) {
    facts.emplace_back("min", words(std::array<double, 1>{format.min}));
    facts.emplace_back("max", words(std::array<double, 1>{format.max}));
  }
  if (!format.made_by.empty()) facts.emplace_back("made_by", format.made_by);
  facts.emplace_back("recipe", recipe_json);
  return facts;
}

std::string slice_description(Shape shape, const VolumeFormat& format, Index slice,
                              const std::string& recipe_json) {
  std::string text =
      std::string("tandem ") + TANDEM_VERSION + '\n' + slice_key + ": " + std::to_string(slice) + '\n';
  for (const auto& [name, value] : volume_facts(shape, format, recipe_json))
    text += name + ": " + value + '\n';
  return text;
}

Range SlicePart::slices() const { return place ? place->slices() : Range{0, shape[0]}; }

std::vector<SlicePart> slice_parts(const fs::path& volume) {
  std::vector<SlicePart> parts;
  std::map<std::string, std::size_t> runs;  // number of a run by the facts of its slices
  for (const auto& [number, path] : slices_on_disk(volume)) {
    std::error_code fault;
    if (!fs::is_regular_file(path, fault)) continue;
    const std::string description = volume_kind(volume)->slice_file->description(path);
    if (!written_by_tandem(description)) continue;
    const auto [run, is_new] = runs.emplace(without_number(description), parts.size());
    if (is_new) parts.push_back(slice_part_of(run->first, path));
    SlicePart& part = parts[run->second];
    require_named_slice(part, description, path, number);
    part.files.emplace(number, path);
  }
  return parts;
}

std::string misfit(const SlicePart& part, const SlicePart& other) {
  const Range a = part.slices(), b = other.slices();
  if (a.first < b.last && b.first < a.last)
    return words("it is of a run that wrote slices ", a.first, ':', a.last, ", not of the one that wrote ",
                 b.first, ':', b.last);
  for (const char* key : {"type", "unit", "min", "max", "lengths", "full_shape"})
    if (const std::string own = part.facts.text(key), its = other.facts.text(key); own != its)
      return words("its ", key, " is ", own, ", not ", its);
  if (part.shape[1] != other.shape[1] || part.shape[2] != other.shape[2])
    return words("it has ", part.shape[1], " x ", part.shape[2], " pixels, not ", other.shape[1], " x ",
                 other.shape[2]);
  if (std::string amiss = different_making(other.facts.text("made_by"), part.facts.text("made_by"));
      !amiss.empty())
    return amiss;
  if (!part.place || !other.place) return {};
  const Range both{std::min(a.first, b.first), std::max(a.last, b.last)};
  return difference(*extended(part.place, both), *extended(other.place, both));
}

std::optional<VolumePlace> extended(std::optional<VolumePlace> place, Range slices) {
  if (!place) return place;
  VolumeGrid& grid = place->grid;
  const Range own = place->slices();
  grid.centre[2] += 0.5 * grid.pitch[2] * (slices.first + slices.last - own.first - own.last);
  grid.size[2] = slices.size();
  place->first[2] = slices.first;
  return place;
}

}  // namespace tandem::io
