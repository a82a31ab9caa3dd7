// Reading a TIFF volume: which files are its slices, and what they say of it.

#include <algorithm>
#include <locale>
#include <map>
#include <sstream>

#include "tandem/core/error.hpp"
#include "tandem/io/checksum.hpp"
#include "tandem/io/frame_source.hpp"
#include "tandem/io/tiff.hpp"
#include "tandem/io/tiff_manifest.hpp"
#include "tandem/io/volume_format.hpp"
#include "tandem_version.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
constexpr double most_slices = 1e8;
constexpr const char* slice_key = "slice:";

/// What slices say after a key, as `slice_description` writes it.
class Facts {
 public:
  explicit Facts(const std::string& description) {
    std::istringstream lines(description);
    for (std::string line; std::getline(lines, line);)
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        facts_.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  std::string text(const std::string& key) const {
    const auto found = facts_.find(key);
    return found == facts_.end() ? "" : found->second;
  }
  std::vector<double> numbers(const std::string& key) const {
    std::istringstream words(text(key));
    words.imbue(std::locale::classic());
    std::vector<double> all;
    for (double number = 0; words >> number;) all.push_back(number);
    return all;
  }
  std::optional<double> number(const std::string& key) const {
    const std::vector<double> all = numbers(key);
    return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
  }

 private:
  std::map<std::string, std::string> facts_;
};

/// A file of a TIFF volume.
struct Slice {
  Index number;  ///< in its name
  fs::path path;
  std::string run;  ///< its description, less the line that tells it from others of the same volume
  Index index;      ///< of the volume that its run wrote; its number if it does not say
};

/// All slices of this name that tandem wrote, by their numbers.
std::vector<Slice> slices_of(const fs::path& volume) {
  std::vector<Slice> found;
  std::error_code fault;
  const fs::path folder = volume.has_parent_path() ? volume.parent_path() : ".";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
    const std::optional<Index> number = slice_number(volume, entry.path());
    if (!number || !entry.is_regular_file(fault)) continue;
    std::string run = tiff_description(entry.path());
    if (!written_by_tandem(run)) continue;
    const double index = Facts(run).number("slice").value_or(static_cast<double>(*number));
    if (!(index >= 0 && index < most_slices)) continue;
    if (const std::size_t line = run.find(slice_key); line != std::string::npos)
      run.erase(line, run.find('\n', line) - line);
    found.push_back({*number, entry.path(), std::move(run), static_cast<Index>(index)});
  }
  std::sort(found.begin(), found.end(), [](const Slice& a, const Slice& b) { return a.number < b.number; });
  return found;
}

/// NAME.tif of the name of a slice that is there; any other name as it is.
fs::path volume_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  const fs::path volume = path.parent_path() / (stem.substr(0, stem.rfind('_')) + path.extension().string());
  std::error_code fault;
  return fs::exists(path, fault) && slice_number(volume, path) ? volume : path;
}

/// The slices of one run.
class TiffSource : public VolumeSource {
 public:
  TiffSource(const fs::path& volume, const std::vector<Slice>& slices) : volume_(volume) {
    const Facts facts(slices.front().run);
    const TiffPage page = TiffFile(slices.front().path).page(0);
    where = volume.string();
    kind = VolumeKind::tiff;
    shape = shape_of(facts, slices, page);
    type = page.type;
    unit = facts.text("unit");
    pitch_mm = facts.number("pitch_mm");  // of the first volumes, which said nothing else of their place
    min = facts.number("min"), max = facts.number("max");
    reconstruction = true;
    if (const std::string length = facts.text("lengths"); !length.empty()) {
      PlaceNumbers numbers;
      for (const char* name : {"pitch", "centre", "full_shape", "region"})
        numbers[name] = facts.numbers(name);
      place = place_of(numbers, length == "mm", shape, where);
    }
    files_.resize(static_cast<std::size_t>(shape[0]));
    for (const Slice& slice : slices)
      if (slice.index < shape[0]) files_[static_cast<std::size_t>(slice.index)] = slice.path;
    listed_ = read_manifest(volume).value_or(TiffManifest{});
    for (const Slice& slice : slices)
      if (!listed_.due.empty() || !listed_.slices.contains(slice.number)) missing = "is marked incomplete";
    if (const auto lost = std::count(files_.begin(), files_.end(), fs::path()); lost > 0)
      missing = "lacks " + std::to_string(lost) + " of its " + std::to_string(shape[0]) + " slices";
  }

  void read(Range slices, float* stored) override {
    for (Index k = slices.first; k < slices.last; ++k, stored += shape[1] * shape[2]) read_slice(k, stored);
  }

 private:
  static Shape shape_of(const Facts& facts, const std::vector<Slice>& slices, const TiffPage& page) {
    const std::vector<double> n = facts.numbers("shape");
    if (n.empty()) return {slices.back().number + 1, page.rows, page.bins};
    const bool fits = n.size() == 3 && n[0] >= 1 && n[0] < most_slices &&
                      n[1] == static_cast<double>(page.rows) && n[2] == static_cast<double>(page.bins);
    require<FileError>(fits, slices.front().path.string(), ": the shape \"", facts.text("shape"),
                       "\" of the volume does not go with a slice of ", page.rows, " x ", page.bins,
                       " pixels; the file is damaged");
    return {static_cast<Index>(n[0]), page.rows, page.bins};
  }

  void read_slice(Index k, float* out) {
    const fs::path& path = files_[static_cast<std::size_t>(k)];
    require<FileError>(!path.empty(), where, ": slice ", k, " is not there; make the volume again");
    TiffFile file(path);
    const TiffPage& page = file.page(0);
    require<FileError>(page.rows == shape[1] && page.bins == shape[2] && page.type == type, path.string(),
                       ": is ", page.rows, " x ", page.bins, " pixels, ", name_of(page.type), "; ", shape[1],
                       " x ", shape[2], ", ", name_of(type), ", is needed as in the other slices");
    const auto count = static_cast<std::size_t>(page.rows * page.bins);
    std::vector<std::byte> bytes(count * bytes_of(type));
    file.read(0, {0, page.rows}, {0, page.bins}, bytes.data());
    const auto listed = listed_.slices.find(slice_number(volume_, path).value_or(-1));
    require<FileError>(
        listed == listed_.slices.end() || listed->second.checksum == checksum(bytes.data(), bytes.size()),
        path.string(), ": its pixels are not those of the checksum in ", manifest_path(volume_).string(),
        "; the file is damaged");
    to_float(type, bytes.data(), page.rows * page.bins, reinterpret_cast<std::byte*>(out));
  }

  fs::path volume_;
  std::vector<fs::path> files_;  ///< by slice; empty where it is missing
  TiffManifest listed_;
};

}  // namespace

std::string slice_description(Shape shape, const VolumeFormat& format, Index slice,
                              const std::string& recipe_json) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  text << "tandem " << TANDEM_VERSION << '\n'
       << slice_key << ' ' << slice << "\nshape: " << shape[0] << ' ' << shape[1] << ' ' << shape[2]
       << "\nunit: " << format.unit() << '\n';
  if (format.place) {
    text << "lengths: " << format.place->unit_of_length() << '\n';
    for (const auto& [name, numbers] : numbers_of(*format.place)) {
      text << name << ':';
      for (const double number : numbers) text << ' ' << number;
      text << '\n';
    }
  }
  if (format.type != VoxelType::float32) text << "min: " << format.min << "\nmax: " << format.max << '\n';
  text << "recipe: " << recipe_json << '\n';
  return text.str();
}

std::unique_ptr<VolumeSource> open_tiff_volume(const fs::path& path) {
  std::error_code fault;
  const fs::path volume = volume_of(path);
  if (volume_kind(volume) != VolumeKind::tiff || (volume == path && fs::exists(path, fault))) return nullptr;
  std::vector<Slice> slices = slices_of(volume);
  const auto named =
      volume == path ? slices.begin() : std::find_if(slices.begin(), slices.end(), [&](const Slice& slice) {
        return slice.path.filename() == path.filename();
      });
  if (named == slices.end()) return nullptr;
  const std::string run = named->run;
  std::erase_if(slices, [&](const Slice& slice) { return slice.run != run; });
  return std::make_unique<TiffSource>(volume, std::move(slices));
}

}  // namespace tandem::io
