#include <algorithm>
#include <set>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
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
  LAYOUT(matlab)

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

constexpr std::size_t most_links = 50'000;  // looked at for one that leads nowhere
constexpr Index deepest = 5;                // groups within one another

/// The first link of a file to another file that leads nowhere, as the end of a message; empty if there is
/// none. Hard links may form circles, so a group is entered once.
std::string lost_link(const hdf5::File& file) {
  std::vector<std::string> groups{"/"};
  std::set<std::optional<hdf5::Identity>> entered;
  std::size_t links = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string group = groups[i] == "/" ? "" : groups[i];  // a copy, since `groups` grows below
    if (std::ranges::count(group, '/') >= deepest || !entered.insert(file.identity(groups[i])).second)
      continue;
    for (const std::string& name : file.names(groups[i])) {
      const std::string path = group + "/" + name;
      if (++links > most_links) return "";
      if (file.external_link(path) && !file.identity(path))
        return "; " + path + " " + file.why_unopened(path);
      if (file.is_group(path)) groups.push_back(path);
    }
  }
  return "";
}

}  // namespace

Acquisition acquisition_in(const hdf5::File& file, const OpenOptions& options) {
  for (const Layout& each : layouts()) {
    if (!options.variable.empty() && !each.has_variables) continue;
    std::optional<Acquisition> found = each.find(file, options);
    if (!found) continue;
    found->info.format = each.name;
    return std::move(*found);
  }
  throw FileError(file.name() + ": is no scan; " + needed(FrameKind::projection) + lost_link(file));
}

FrameSources frames_in(const hdf5::File& file, FrameKind kind) {
  for (const Layout& each : layouts())
    if (FrameSources found = each.frames ? each.frames(file, kind) : FrameSources{}; !found.empty())
      return found;
  throw FileError(file.name() + ": holds no " + (kind == FrameKind::flat ? "flats" : "darks") + "; " +
                  needed(kind, {"a TIFF image"}));
}

}  // namespace tandem::io
