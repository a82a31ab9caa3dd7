#include "looked_volume.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../runs/lines.hpp"
#include "look_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

constexpr std::string_view axes = "zyx";
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
constexpr Index slices_at_once = 64;  // between which a plane is given up if nobody waits for it

/// By how many voxels (z, y, x) the grid of `other` begins later than that of `volume`. @throws FileError
/// unless voxels of the one are voxels of the other
std::array<Index, 3> shift_of(const io::VolumeReader& volume, const io::VolumeReader& other,
                              const std::string& name) {
  constexpr double alike = 1e-3;  // voxels; as io::difference has it
  const auto a = volume.place(), b = other.place();
  if (!a || !b) {
    require<FileError>(volume.shape() == other.shape(), name, ": has ", other.shape()[0], " x ",
                       other.shape()[1], " x ", other.shape()[2], " voxels and the first volume ",
                       volume.shape()[0], " x ", volume.shape()[1], " x ", volume.shape()[2],
                       ", and not both say where they lie; give a volume of the same size");
    return {};
  }
  require<FileError>(a->in_mm == b->in_mm, name, ": its grid is in ", b->unit_of_length(),
                     ", that of the first volume in ", a->unit_of_length(),
                     "; give a volume of the same grid");
  std::array<Index, 3> shift{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double pitch = a->grid.pitch[i], size = b->grid.pitch[i];
    const auto begin = [i](const VolumeGrid& g) { return g.centre[i] - 0.5 * g.pitch[i] * g.size[i]; };
    const double voxels = (begin(b->grid) - begin(a->grid)) / pitch;
    const double longest = std::max(a->grid.size[i], b->grid.size[i]);
    require<FileError>(std::abs(size - pitch) * longest <= alike * pitch, name, ": along ", "xyz"[i],
                       " its voxels are ", size, ' ', b->unit_of_length(), " wide, not ", pitch,
                       "; give a volume of the same grid");
    require<FileError>(std::abs(voxels - std::round(voxels)) <= alike && std::abs(voxels) < 1e9, name,
                       ": along ", "xyz"[i], " its voxels lie between those of the first volume, ", voxels,
                       " voxels further; give a volume of the same grid");
    shift[2 - i] = std::llround(voxels);
  }
  for (std::size_t i = 0; i < 3; ++i)
    require<FileError>(shift[i] < volume.shape()[i] && shift[i] + other.shape()[i] > 0, name,
                       ": lies beside the first volume along ", axes[i],
                       ", and has no voxel in common with it; give one that does");
  return shift;
}

}  // namespace

/// What of a volume a picture shows.
struct LookedVolume::Seen {
  std::size_t axis = 0, u = 2, v = 1;  ///< numbers of the axes z, y, x
  Index at = 0, step = 1;
  Range across, down;  ///< along u and v
  Index width() const { return ceil_div(across.size(), step); }
  Index height() const { return ceil_div(down.size(), step); }
};

/// The voxels of a volume that are seen.
struct LookedVolume::Region {
  io::VolumeBox box;
  std::array<Index, 3> skipped{};  ///< pixels before the first one of this volume
  bool is_empty = true;
};

/// A picture is read, kept and sent.
double LookedVolume::bytes_for(const Seen& s) { return 3.0 * sizeof(float) * s.width() * s.height(); }

LookedVolume::LookedVolume(std::string name, std::unique_ptr<io::VolumeReader> volume, double memory)
    : memory_(memory) {
  volumes_.push_back({std::move(name), std::move(volume), {}});
}

void LookedVolume::put_beside(std::string name, std::unique_ptr<io::VolumeReader> other) {
  const std::array<Index, 3> offset = shift_of(*volumes_.front().reader, *other, name);
  volumes_.push_back({std::move(name), std::move(other), offset});
}

json LookedVolume::report() const {
  json all = json::array();
  for (const One& one : volumes_) {
    const io::VolumeReader& v = *one.reader;
    json about = {{"file", one.name},     {"format", v.title()},        {"shape", v.shape()},
                  {"unit", v.unit()},     {"complete", v.complete()},   {"missing", v.missing()},
                  {"offset", one.offset}, {"levels", v.levels().size()}};
    about["pitch"] = {1, 1, 1}, about["unit_of_length"] = "voxel";
    if (const auto place = v.place()) about.update(place_json(*place));
    all.push_back(about);
  }
  return {{"volumes", all}};
}

LookedVolume::Seen LookedVolume::seen(const json& asked) const {
  const Shape n = volumes_.front().reader->shape();
  const std::string axis = asked.value("axis", "");
  if (axis.size() != 1 || axes.find(axis) == std::string_view::npos)
    throw UsageError("axis: z, y or x is needed");
  Seen s;
  s.axis = axes.find(axis);
  s.u = s.axis == 2 ? 1 : 2, s.v = s.axis == 0 ? 1 : 0;
  s.at = whole_of(asked, "at", n[s.axis] / 2, {0, n[s.axis]});
  s.across = {0, n[s.u]}, s.down = {0, n[s.v]};
  if (const json region = asked.value("region", json()); !region.is_null()) {
    if (!region.is_array() || region.size() != 4)
      throw UsageError("region: [u0, u1, v0, v1] in whole voxels is needed");
    const auto range = [&](std::size_t k, Index count) {
      const Index first = whole_number(region[k], "region", {0, count});
      return Range{first, whole_number(region[k + 1], "region", {first + 1, count + 1})};
    };
    s.across = range(0, n[s.u]), s.down = range(2, n[s.v]);
  }
  const Index side = whole_of(asked, "side", 1024, {16, 8193});
  s.step = ceil_div(std::max(s.across.size(), s.down.size()), side);
  return s;
}

void LookedVolume::require_memory(double bytes) const {
  require<DeviceError>(bytes <= memory_, "a picture takes ", bytes / bytes_per_mib, " MiB, more than the ",
                       memory_ / bytes_per_mib, " MiB of --memory; look at a part, or give more");
}

/// The smallest copy that is fine enough. Compared volumes are read at one resolution level, so differences
/// are between equal voxels. If levels or offsets differ, it is level 0.
std::size_t LookedVolume::level_for(const Seen& s) const {
  const std::vector<Shape> levels = volumes_.front().reader->levels();
  for (const One& one : volumes_)
    if (one.reader->levels() != levels || one.offset != std::array<Index, 3>{}) return 0;
  std::size_t level = 0;
  for (std::size_t k = 1; k < levels.size() && k < 30; ++k) {
    const Index factor = Index{1} << k;
    for (std::size_t i = 0; i < 3; ++i)
      if (levels[k][i] != ceil_div(levels[0][i], factor)) return level;
    if (s.step % factor != 0 || s.across.first % factor != 0 || s.down.first % factor != 0) break;
    level = k;
  }
  return level;
}

/// What of a volume is seen, in voxels of a level.
LookedVolume::Region LookedVolume::region_of(const One& one, const Seen& s, std::size_t level) {
  const Shape counts = one.reader->levels()[level];
  const Index f = Index{1} << level, step = s.step / f;
  Region region;
  const auto along = [&](std::size_t axis, Range range) {
    const Index offset = one.offset[axis], first = range.first / f - offset;
    region.skipped[axis] = first < 0 ? ceil_div(-first, step) : 0;
    region.box.step[axis] = step;
    region.box.part[axis] = {first + region.skipped[axis] * step,
                             std::min(ceil_div(range.last, f) - offset, counts[axis])};
  };
  along(s.u, s.across), along(s.v, s.down);
  const Index at = (s.at - one.offset[s.axis]) / f;
  region.box.part[s.axis] = {at, at + 1};
  region.is_empty = s.at < one.offset[s.axis] || at >= counts[s.axis] || region.box.part[s.u].size() <= 0 ||
                    region.box.part[s.v].size() <= 0;
  return region;
}

/// Puts it into a picture. Where others wait, some slices are read at a time.
void LookedVolume::read(const One& one, const Seen& s, io::Picture& picture, const GoOn& go_on) {
  const std::size_t level = level_for(s);
  const Region region = region_of(one, s, level);
  if (region.is_empty) return;
  io::VolumeBox box = region.box;
  require_memory(bytes_for(s) + one.reader->bytes_for(box));
  const Range down = box.part[s.v];
  const Index most = s.axis == 0 ? down.size() : slices_at_once * box.step[s.v];
  std::vector<float> some;
  for (Index first = down.first, row = region.skipped[s.v]; first < down.last; first += most) {
    go_on();
    box.part[s.v] = {first, std::min(first + most, down.last)};
    const Shape n = box.shape();
    some.resize(n[0] * n[1] * n[2]);
    one.reader->read_box(box, some.data(), level);
    for (Index k = 0; k < n[s.v] && row < picture.height; ++k, ++row)
      std::copy_n(some.begin() + k * n[s.u], std::min(n[s.u], picture.width - region.skipped[s.u]),
                  picture.grey.begin() + row * picture.width + region.skipped[s.u]);
  }
}

Pictured LookedVolume::plane(const json& asked, const GoOn& go_on) {
  const Seen s = seen(asked);
  const std::size_t which = whole_number(asked.value("of", json(0)), "of", {0, std::ssize(volumes_)});
  Pictured some{{s.width(), s.height(), {}}, {}};
  require_memory(bytes_for(s));
  some.picture.grey.assign(s.width() * s.height(), nothing);
  read(volumes_[which], s, some.picture, go_on);
  some.head = {{"axis", std::string(1, axes[s.axis])},
               {"at", s.at},
               {"of", which},
               {"step", s.step},
               {"region", {s.across.first, s.across.last, s.down.first, s.down.last}}};
  return some;
}

json LookedVolume::value(const json& asked) {
  const Shape n = volumes_.front().reader->shape();
  const json at = asked.value("at", json());
  if (!at.is_array() || at.size() != 3) throw UsageError("at: [z, y, x] in whole voxels is needed");
  std::array<Index, 3> voxel{};
  for (std::size_t i = 0; i < 3; ++i) voxel[i] = whole_number(at[i], "at", {0, n[i]});
  json values = json::array();
  for (const One& one : volumes_) {
    io::VolumeBox box;
    bool within = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const Index k = voxel[i] - one.offset[i];
      box.part[i] = {k, k + 1};
      within = within && k >= 0 && k < one.reader->shape()[i];
    }
    float value = nothing;
    if (within) one.reader->read_box(box, &value);
    values.push_back(std::isfinite(value) ? json(value) : json(nullptr));
  }
  return {{"values", values}};
}

}  // namespace tandem::apps
