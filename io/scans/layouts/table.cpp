#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/shell_word.hpp"
#include "../../files/text.hpp"
#include "layout.hpp"

/// One line for each layout, in the order in which files are tried. A function in a file of its own, such as
/// cil_layout, returns the Layout.
#define TANDEM_LAYOUTS(LAYOUT) \
  LAYOUT(data_exchange)        \
  LAYOUT(als)                  \
  LAYOUT(nxtomo)               \
  LAYOUT(cil)                  \
  LAYOUT(bliss)                \
  LAYOUT(matlab)               \
  LAYOUT(named)

namespace tandem::io {

#define TANDEM_DECLARE(name) Layout name##_layout();
TANDEM_LAYOUTS(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const Layout> layouts() {
#define TANDEM_MAKE(name) name##_layout(),
  static const std::array all{TANDEM_LAYOUTS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

namespace {

/// The ways, in words, in which a file may hold frames of a kind: `ways`, and those of all layouts.
std::string needed(FrameKind kind, std::vector<std::string> ways = {}) {
  for (const Layout& each : layouts())
    if (const std::string_view way = row_of(each.needed, kind); !way.empty()) ways.emplace_back(way);
  return alternatives(ways) + " is needed";
}

constexpr std::size_t most_links = 50'000;  // looked at in one file
constexpr Index deepest = 5;                // groups within one another

/// Calls use(path) for the links of a file, until it returns false. Hard links may form circles, so a group
/// is entered once.
template <class Use>
void for_links(const hdf5::File& file, const Use& use) {
  std::vector<std::string> groups{"/"};
  std::set<std::optional<hdf5::Identity>> entered;
  std::size_t links = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string group = groups[i] == "/" ? "" : groups[i];  // a copy, since `groups` grows below
    if (std::ranges::count(group, '/') >= deepest || !entered.insert(file.identity(groups[i])).second)
      continue;
    for (const std::string& name : file.names(groups[i])) {
      const std::string path = group + "/" + name;
      if (++links > most_links || !use(path)) return;
      if (file.is_group(path)) groups.push_back(path);
    }
  }
}

/// The first link of a file to another file that leads nowhere, as the end of a message; empty if there is
/// none.
std::string lost_link(const hdf5::File& file) {
  std::string text;
  for_links(file, [&](const std::string& path) {
    if (file.external_link(path) && !file.identity(path)) text = "; " + path + " " + file.why_unopened(path);
    return text.empty();
  });
  return text;
}

/// A data set of numbers, for a message.
struct Listed {
  std::string path, words;
  std::vector<Index> shape;
  double bytes;
};

/// The data set of a link; empty for a group, and for one that is damaged or has too many axes.
std::optional<hdf5::DataSet> readable(const hdf5::File& file, const std::string& path) {
  try {
    return file.is_group(path) ? std::nullopt : file.find(path);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

std::vector<Listed> data_sets_of(const hdf5::File& file) {
  constexpr std::size_t most = 200;
  std::vector<Listed> found;
  for_links(file, [&](const std::string& path) {
    const std::optional<hdf5::DataSet> set = readable(file, path);
    if (!set || set->shape().empty() || !set->holds_numbers()) return true;
    const double bytes = set->stored_bytes();
    found.push_back({path,
                     path + " (" + joined(set->shape(), " x ", [](Index n) { return std::to_string(n); }) +
                         ", " + set->stored_type() + ", " + words(std::ceil(bytes / 1000)) + " kB)",
                     set->shape(), bytes});
    return found.size() < most;
  });
  return found;
}

/// What a file of an unknown layout holds, and how the user names it, as the end of a message.
std::string data_sets_in(const hdf5::File& file) {
  constexpr std::size_t most_listed = 8;
  std::vector<Listed> all = data_sets_of(file), stacks = all;
  std::erase_if(stacks, [](const Listed& set) { return set.shape.size() < 2; });
  if (stacks.empty()) return "; it has no data set of numbers with two axes or more";
  std::ranges::stable_sort(stacks, std::greater(), &Listed::bytes);
  const Listed& largest = stacks.front();
  const auto is_angles = [&](const Listed& set) {
    return set.shape.size() == 1 && set.shape[0] == largest.shape[0];
  };
  const auto angles = std::ranges::find_if(all, is_angles);
  const std::size_t more = stacks.size() - std::min(stacks.size(), most_listed);
  stacks.resize(stacks.size() - more);
  return "; it has " + joined(stacks, ", ", &Listed::words) +
         (more > 0 ? " and " + std::to_string(more) + " more" : "") +
         "; name one: " + shell_word(file.name() + ":" + largest.path) + " " + spelled("angles") + " " +
         (angles == all.end() ? "FILE" : shell_word(file.name() + ":" + angles->path));
}

}  // namespace

hdf5::DataSet data_set_named(const hdf5::File& file, const std::string& path) {
  if (const std::string dead = file.why_dead(path); !dead.empty())
    throw FileError(file.name() + ": " + path + " " + dead + data_sets_in(file));
  if (!file.has(path) || file.is_group(path))
    throw FileError(file.name() + ": has no data set " + path + data_sets_in(file));
  return file.data_set(path);
}

Acquisition acquisition_in(const hdf5::File& file, const OpenOptions& options) {
  for (const Layout& each : layouts()) {
    if (!options.variable.empty() && !each.has_variables) continue;
    std::optional<Acquisition> found = each.find(file, options);
    if (!found) continue;
    found->info.format = each.name;
    return std::move(*found);
  }
  throw FileError(file.name() + ": is no scan; " + needed(FrameKind::projection) + lost_link(file) +
                  data_sets_in(file));
}

FrameSources frames_in(const hdf5::File& file, FrameKind kind) {
  for (const Layout& each : layouts())
    if (FrameSources found = each.frames ? each.frames(file, kind) : FrameSources{}; !found.empty())
      return found;
  throw FileError(file.name() + ": holds no " + (kind == FrameKind::flat ? "flats" : "darks") + "; " +
                  needed(kind, {"a TIFF image"}));
}

}  // namespace tandem::io
