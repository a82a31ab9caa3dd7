#include "flat_source.hpp"

#include <cmath>
#include <fstream>
#include <locale>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../files/stored_lines.hpp"
#include "../files/text.hpp"
#include "volume_place.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index longest_head = Index{16} << 20;
constexpr double longest_file = 1e15, most_along_an_axis = 1e9;

class FlatSource final : public VolumeSource {
 public:
  FlatSource(const std::string& name, Shape n, const FlatVoxels& voxels)
      : form_(voxels.form), offset_(voxels.offset), stamp_(stamp_of(voxels.file, name)) {
    require_regular_file(voxels.file);
    files_.emplace_back(voxels.file, name);
    where = name, shape = n, type = form_.type;
    const auto bytes = 1.0 * form_.bytes * n[0] * n[1] * n[2];
    const double there = stamp_.bytes;
    if (offset_ < 0 && there >= bytes) offset_ = floor_index(there - bytes);
    require<FileError>(offset_ >= 0 && bytes <= longest_file && offset_ + bytes <= there, name, ": ", n[0],
                       " x ", n[1], " x ", n[2], " voxels of ", form_.bytes, " bytes are more than ",
                       voxels.file.string(), " has (", stamp_.bytes,
                       " bytes); it was cut short or is damaged");
  }

  void read_part(std::size_t, Index slice, Range y, Range x, std::byte* out) const override {
    require_unchanged(stamp_, where);
    const std::array<Extent, 1> extents{{{0, offset_, static_cast<Index>(stamp_.bytes) - offset_}}};
    const std::array<Index, 3> first{slice, y.first, x.first}, part{1, y.size(), x.size()}, corner{};
    read_lines({files_, extents}, form_, Lines(part, {shape, first}, {part, corner}), out);
  }

 private:
  NumberForm form_;
  Index offset_;
  FileStamp stamp_;
  std::vector<InputFile> files_;
};

}  // namespace

TextHead::TextHead(const fs::path& path, std::string_view separator, bool (*ends)(const std::string& name))
    : where_(path.string()) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (bool more = true; more;) {
    const bool read{std::getline(file, line)};
    bytes_ += line.size() + 1;
    require<FileError>(read && bytes_ < longest_head, where_, ": its head does not end; it is damaged");
    const std::size_t at = line.find(separator);
    const std::string name = in_lower_case(std::string(trimmed(std::string_view(line).substr(0, at))));
    if (at != std::string::npos)
      lines_.emplace(name, trimmed(std::string_view(line).substr(at + separator.size())));
    more = !ends(name);
  }
}

std::string TextHead::text(const std::string& name, const std::string& otherwise) const {
  const auto found = lines_.find(name);
  return found == lines_.end() ? otherwise : found->second;
}

std::vector<double> TextHead::numbers(const std::string& name) const {
  std::istringstream words(text(name));
  words.imbue(std::locale::classic());
  std::vector<double> all;
  for (double number = 0; words >> number;) all.push_back(number);
  return words.eof() ? all : std::vector<double>{};
}

std::vector<Index> TextHead::counts(const std::string& name, std::size_t due) const {
  std::vector<Index> all;
  for (const double number : numbers(name))
    if (number >= 1 && number <= most_along_an_axis && number == std::floor(number))
      all.push_back(floor_index(number));
  require<FileError>(all.size() == due && numbers(name).size() == due, where_, ": ", name, " = \"",
                     text(name), "\"; ", due, " whole numbers above 0 are needed");
  return all;
}

Index TextHead::offset(const std::string& name) const {
  if (!has(name)) return 0;
  const std::vector<double> all = numbers(name);
  require<FileError>(
      all.size() == 1 && all[0] >= -1 && all[0] <= longest_file && all[0] == std::floor(all[0]), where_, ": ",
      name, " = \"", text(name), "\"; a number of bytes, or -1, is needed");
  return floor_index(all[0]);
}

std::string_view name_of(const TypeNames& names, VoxelType type) {
  const std::string_view all = names[type == VoxelType::uint8 ? 0 : type == VoxelType::uint16 ? 2 : 6];
  return all.substr(0, all.find(' '));
}

NumberForm form_named(const TypeNames& names, std::string_view type, bool high_first,
                      const std::string& said) {
  using enum NumberKind;
  constexpr std::array kinds{natural, integer, natural, integer, natural, integer, real, real};
  constexpr std::array bytes{1, 1, 2, 2, 4, 4, 4, 8};
  std::string needed;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (is_among(type, names[k])) return *number_form(kinds[k], bytes[k], high_first);
    needed += (k == 0 ? "" : k < 7 ? ", " : " or ") + std::string(names[k].substr(0, names[k].find(' ')));
  }
  refuse<FileError>(said, "; ", needed, " is needed");
}

bool is_file_with(const fs::path& path, std::string_view endings) {
  std::error_code fault;
  return is_among(in_lower_case(path.extension().string()), endings) && fs::is_regular_file(path, fault);
}

fs::path file_beside(const fs::path& head, const std::string& name, bool any_external) {
  const fs::path folder = fs::absolute(head).parent_path();
  std::error_code fault;
  const bool within = lies_within(folder / name, fs::canonical(folder, fault));
  require<FileError>(any_external || within, head.string(), ": its voxels are in ", name,
                     ", outside of its folder; move them there, or give " + spelled("allow-external-files"));
  return folder / name;
}

std::unique_ptr<VolumeSource> flat_source(const std::string& where, Shape shape, const FlatVoxels& voxels) {
  return std::make_unique<FlatSource>(where, shape, voxels);
}

VolumePlace place_from(Shape shape, const std::vector<double>& pitch, const std::vector<double>& first,
                       bool in_mm, const std::string& where) {
  VolumeGrid grid{.size = {shape[2], shape[1], shape[0]}};
  require<FileError>(pitch.size() == 3 && first.size() == 3, where,
                     ": three pitches of voxels and the three numbers of the first one's place are needed");
  for (std::size_t i = 0; i < 3; ++i) {
    require<FileError>(std::isfinite(pitch[i]) && pitch[i] > 0, where, ": a voxel is ", pitch[i],
                       " wide along ", "xyz"[i], "; a length above 0 is needed");
    require<FileError>(std::isfinite(first[i]), where, ": the first voxel lies at ", first[i], " along ",
                       "xyz"[i], "; a finite number is needed");
    grid.pitch[i] = pitch[i];
    grid.centre[i] = first[i] + 0.5 * pitch[i] * (grid.size[i] - 1);
  }
  return whole_place(grid, in_mm);
}

}  // namespace tandem::io
