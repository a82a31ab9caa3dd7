#include "recorded.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../files/text.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

constexpr Index most_recorded = 100'000'000;            // numbers, one for each frame
constexpr double shortest_mm = 1e-8, longest_mm = 1e7;  // 0.01 nm, 10 km
constexpr double largest_pitch_mm = 100;                // the widest cells or voxels
constexpr Index most_shown = 3;

void leave_out(std::vector<std::string>& notes, const std::string& path, const std::string& why) {
  notes.push_back(path + " is left out: " + why);
}

/// The data set, if it holds numbers of at most one axis.
std::optional<hdf5::DataSet> numbers_at(const hdf5::File& file, const std::string& path,
                                        std::vector<std::string>& notes) {
  std::optional<hdf5::DataSet> set = file.find(path);
  if (set && set->holds_numbers() && set->shape().size() <= 1 && set->size() <= most_recorded) return set;
  if (set)
    leave_out(notes, path, set->holds_numbers() ? "it has more than one axis" : "it holds no numbers");
  else if (const auto link = file.external_link(path); link || file.has(path))
    leave_out(notes, path, "it " + file.why_unopened(path));
  return std::nullopt;
}

std::optional<double> length_within(const hdf5::File& file, const std::string& path,
                                    const std::string& default_unit, double most_mm,
                                    std::vector<std::string>& notes) {
  const std::optional<double> value = recorded_number(file, path, notes);
  if (!value) return std::nullopt;
  const std::optional<std::string> written = file.data_set(path).text("units");
  const std::string unit = written.value_or(default_unit);
  const std::optional<double> factor = mm_per(unit);
  if (!factor || *value <= 0) {
    leave_out(notes, path, factor ? "no positive length" : "units = \"" + unit + "\" is no length");
    return std::nullopt;
  }
  const double mm = *value * *factor;
  if (mm >= shortest_mm && mm <= most_mm) return mm;
  leave_out(notes, path,
            words(*value, ' ', unit, written ? "" : ", the unit of lengths without @units,", " is ", mm,
                  " mm, which no scanner has; give it by its option"));
  return std::nullopt;
}

}  // namespace

std::vector<double> recorded_numbers(const hdf5::File& file, const std::string& path,
                                     std::vector<std::string>& notes) {
  const std::optional<hdf5::DataSet> set = numbers_at(file, path, notes);
  if (!set) return {};
  std::vector<double> all = set->numbers();
  if (std::ranges::all_of(all, [](double value) { return std::isfinite(value); })) return all;
  leave_out(notes, path, "a number of it is not finite");
  return {};
}

std::optional<double> recorded_number(const hdf5::File& file, const std::string& path,
                                      std::vector<std::string>& notes) {
  const std::vector<double> all = recorded_numbers(file, path, notes);
  if (all.empty()) return std::nullopt;
  if (std::ranges::count(all, all.front()) == std::ssize(all)) return all.front();
  leave_out(notes, path, "it has " + std::to_string(all.size()) + " numbers that differ; one is needed");
  return std::nullopt;
}

std::vector<double> recorded_of_frames(const hdf5::File& file, const std::string& path, Index frames,
                                       std::vector<std::string>& notes) {
  std::vector<double> all = recorded_numbers(file, path, notes);
  if (all.size() == 1) all.assign(frames, all.front());
  if (all.empty() || std::ssize(all) == frames) return all;
  leave_out(notes, path,
            "it has " + std::to_string(all.size()) + " numbers for " + std::to_string(frames) + " frames");
  return {};
}

std::optional<double> length_mm(const hdf5::File& file, const std::string& path,
                                const std::string& default_unit, std::vector<std::string>& notes) {
  return length_within(file, path, default_unit, longest_mm, notes);
}

std::optional<double> pitch_mm(const hdf5::File& file, const std::string& path,
                               const std::string& default_unit, std::vector<std::string>& notes) {
  return length_within(file, path, default_unit, largest_pitch_mm, notes);
}

std::optional<double> energy_kev(const hdf5::File& file, const std::string& path,
                                 std::vector<std::string>& notes) {
  const std::optional<double> value = recorded_number(file, path, notes);
  if (!value) return std::nullopt;
  const std::string unit = file.data_set(path).text("units").value_or("keV"),
                    name = in_lower_case(std::string(trimmed(unit)));
  constexpr double joule_in_kev = 6.241509074460763e15;
  const double factor = name.empty() || name == "kev" ? 1
                        : name == "ev"                ? 1e-3
                        : name == "mev"               ? 1e3
                        : name == "j"                 ? joule_in_kev
                                                      : 0;
  if (factor > 0 && *value > 0 && std::isfinite(*value * factor)) return *value * factor;
  leave_out(notes, path, factor > 0 ? "no positive energy" : "units = \"" + unit + "\" is no energy");
  return std::nullopt;
}

std::function<std::optional<std::string>(std::string_view key)> values_in(const hdf5::File& file,
                                                                          const std::string& group) {
  return [&file, group](std::string_view key) -> std::optional<std::string> {
    const std::optional<hdf5::DataSet> set = file.find(group + "/" + std::string(key));
    if (!set || set->size() == 0 || set->size() > most_recorded) return std::nullopt;
    if (const auto flag = set->holds_numbers() ? std::nullopt : set->flag()) return *flag ? "1" : "0";
    if (!set->holds_numbers()) return set->text();
    const std::vector<double> all = set->numbers();
    const bool same = std::ranges::count(all, all.front()) == std::ssize(all);
    std::string text = words(all.front());
    for (Index k = 1; !same && k < std::min(most_shown, std::ssize(all)); ++k) text += ", " + words(all[k]);
    return same || std::ssize(all) <= most_shown ? text : text + ", ...";
  };
}

void note_absolute_link(const hdf5::File& file, const std::string& path, std::vector<std::string>& notes) {
  const auto link = file.external_link(path);
  if (link && std::filesystem::path(link->file).is_absolute())
    notes.push_back(link->path + " links to " + link->file + ", by an absolute name");
}

}  // namespace tandem::io
