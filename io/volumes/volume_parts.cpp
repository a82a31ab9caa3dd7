#include "volume_parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/version.hpp"
#include "../files/identity.hpp"
#include "../files/plain_file.hpp"
#include "../hdf5/hdf5.hpp"
#include "../hdf5/rehearsal.hpp"
#include "slice_part.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

/// The slices of a part by its name; empty for other files.
std::optional<Range> slices_in_name(const fs::path& volume, const std::string& name) {
  const std::string start = volume.stem().string() + "_";
  long long first = -1, last = -1;
  if (!name.starts_with(start)) return std::nullopt;
  if (std::sscanf(name.c_str() + start.size(), "%lld-%lld", &first, &last) != 2 || first < 0)
    return std::nullopt;
  const Range slices{first, last};
  if (first >= last || part_path(volume, slices).filename() != name) return std::nullopt;
  return slices;
}

/// The parts in the order of their first slices, with the parts in the making if these are wanted.
std::vector<std::pair<Range, std::string>> parts_of(const fs::path& volume, bool in_the_making) {
  std::vector<std::pair<Range, std::string>> parts;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(volume), fault)) {
    std::string name = entry.path().filename().string();
    const std::string ending = ".tandem";
    if (in_the_making && name.starts_with(".") && name.ends_with(ending))
      name = name.substr(1, name.size() - 1 - ending.size());
    if (const auto slices = slices_in_name(volume, name)) parts.emplace_back(*slices, name);
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
  return parts;
}

/// What a part says about itself, and the checksums of its slices.
struct Part {
  std::string name;
  Range slices;
  NumberType type;
  std::string unit, recipe, made_by;
  std::optional<double> min, max;
  VolumePlace place;
  std::vector<double> sums;
};

NumberType type_of(const hdf5::DataSet& data) {
  return data.is_float16() ? NumberType::float16 : number_type(data.pixel_type());
}

Part part_of(const fs::path& path) {
  return rehearsed(path, [&] {
    const std::unique_ptr<VolumeSource> volume = open_hdf5_volume(path, false);
    require<FileError>(volume->missing.empty(), path.string(), ": ", volume->missing);
    require<FileError>(volume->place.has_value(), path.string(), ": does not say where its voxels lie");
    const hdf5::File file = hdf5::File::open(path);
    return Part{path.filename().string(),
                volume->place->slices(),
                type_of(file.data_set("/exchange/data")),
                volume->unit,
                file.text("/process/tandem/recipe").value_or(""),
                file.text(made_by_path).value_or(""),
                volume->min,
                volume->max,
                *volume->place,
                file.data_set(checksums_path).numbers()};
  });
}

void require_one_volume(const Part& a, const Part& b) {
  require<FileError>(a.slices.last <= b.slices.first || b.slices.last <= a.slices.first, b.name, ": slices ",
                     b.slices.first, ":", b.slices.last, " overlap slices ", a.slices.first, ":",
                     a.slices.last, " of ", a.name, "; move one of them elsewhere");
  const Range both{std::min(a.slices.first, b.slices.first), std::max(a.slices.last, b.slices.last)};
  std::string amiss = difference(*extended(a.place, both), *extended(b.place, both));
  if (a.type != b.type || a.unit != b.unit || a.min != b.min || a.max != b.max)
    amiss = "it has other numbers: " + std::string(name_of(b.type)) + " in " + b.unit + ", not " +
            name_of(a.type) + " in " + a.unit + ", or another range";
  if (amiss.empty()) amiss = different_making(a.made_by, b.made_by);
  require<FileError>(amiss.empty(), b.name, ": does not fit to ", a.name, ": ", amiss,
                     "; move one of them elsewhere");
}

/// The slices that no part has, in words.
std::string missing_from(const std::vector<Part>& parts, Index slices) {
  std::string text;
  Index next = 0;
  const auto lacks = [&](Index last) {
    if (next < last) text += (text.empty() ? "" : ", ") + std::to_string(next) + ":" + std::to_string(last);
  };
  for (const Part& part : parts) {
    lacks(part.slices.first);
    next = part.slices.last;
  }
  lacks(slices);
  return text.empty() ? "" : "slices " + text + " of " + std::to_string(slices);
}

void write_joined(const PlainFile& made, const std::vector<Part>& parts, bool complete) {
  const Part& one = parts.front();
  const Index slices = one.place.full_size[2];
  const VolumePlace place = *extended(one.place, {0, slices});
  const Shape n = place.grid.shape();
  std::vector<hdf5::VirtualPart> sources;
  std::vector<std::uint32_t> sums(slices);
  for (const Part& part : parts) {
    sources.push_back({part.name, "/exchange/data", part.slices});
    for (std::size_t k = 0; k < part.sums.size(); ++k)
      sums[part.slices.first + k] = static_cast<std::uint32_t>(part.sums[k]);
  }
  hdf5::File file = hdf5::File::create(made);
  {
    hdf5::DataSet data = file.create_virtual("/exchange/data", one.type, n, sources);
    data.set("axes", "z:y:x");
    data.set("description", "ReconData");
    data.set("units", one.unit);
    data.set_flag("complete", complete);
    if (one.min && one.max) data.set("min", *one.min), data.set("max", *one.max);
    hdf5::DataSet checks = file.create(checksums_path, NumberType::uint32, std::vector<Index>{slices});
    checks.set("algorithm", "CRC-32 of each slice as it is stored");
    const Index at = checks.offset();
    file.write_text("/process/tandem/version", TANDEM_VERSION);
    file.write_text("/process/tandem/recipe", one.recipe);
    if (!one.made_by.empty()) file.write_text(made_by_path, one.made_by);
    for (const auto& [name, numbers] : numbers_of(place))
      file.write_numbers("/process/tandem/" + name, numbers,
                         name == "pitch" || name == "centre" ? place.unit_of_length() : "");
    PlainFile(Descriptor(::dup(made.descriptor())), made.name()).write(at, sums.data(), sums.size() * 4);
  }
  file.close();
}

/// Takes the name of the volume. It waits for another run that joins parts, since joining takes only a
/// moment.
Output taken(const fs::path& volume, Replace replace) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (;;) {
    try {
      return Output(volume, Content::volume, replace);
    } catch (const FileError& error) {
      const bool busy = std::string(error.what()).find("another run writes it") != std::string::npos;
      if (!busy || std::chrono::steady_clock::now() > until) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

fs::path part_path(const fs::path& volume, Range slices) {
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "_%05lld-%05lld", static_cast<long long>(slices.first),
                static_cast<long long>(slices.last));
  return volume.parent_path() / (volume.stem().string() + numbers.data() + volume.extension().string());
}

void require_part_free(const fs::path& volume, Range slices, const std::string& made_by) {
  for (const auto& [other, name] : parts_of(volume, true)) {
    const bool same = other.first == slices.first && other.last == slices.last;
    std::error_code fault;
    const fs::path path = folder_of(volume) / name;
    std::string amiss;
    if (!same && fs::exists(path, fault)) {  // parts that could not be joined later are refused now
      const Part there = part_of(path);
      const Range held = there.slices;
      require<FileError>(held.first == other.first && held.last == other.last, path.string(),
                         ": holds slices ", held.first, ":", held.last,
                         ", not those of its name; move it elsewhere");
      amiss = different_making(made_by, there.made_by);
    }
    require<FileError>(amiss.empty(), path.string(), ": is a part of ", volume.string(),
                       ", and this run does not fit to it: ", amiss,
                       "; give the same scan and options, or move that file elsewhere");
    require<FileError>(same || other.last <= slices.first || slices.last <= other.first, volume.string(),
                       ": slices ", slices.first, ":", slices.last, " overlap slices ", other.first, ":",
                       other.last, ", which ", name,
                       " has; give other " + spelled("slices") + ", or move that file elsewhere");
  }
}

std::string join_parts(const fs::path& volume, Replace replace) {
  Output output = taken(volume, replace);
  std::vector<Part> parts;
  for (const auto& [slices, name] : parts_of(volume, false)) {
    parts.push_back(part_of(folder_of(volume) / name));
    if (parts.size() > 1) require_one_volume(parts[parts.size() - 2], parts.back());
  }
  require<FileError>(!parts.empty(), volume.string(), ": no part of it is there");
  std::string missing = missing_from(parts, parts.front().place.full_size[2]);
  write_joined(output.create(output.name()), parts, missing.empty());
  output.publish();
  return missing;
}

}  // namespace tandem::io
