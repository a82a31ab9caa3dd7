#include "compound_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>

#include "../../../core/error.hpp"
#include "../../files/text.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::array<unsigned char, 8> signature{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1};
constexpr std::size_t head_bytes = 512, entry_bytes = 128;
constexpr std::uint32_t last_number = 0xfffffffa, none = 0xffffffff;  // largest number of a sector; no entry
constexpr int mini_shift = 6;
constexpr std::size_t deepest = 4;  // depth of storages within storages

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The name of an entry. Names are UTF-16, and the names that are looked for are ASCII.
std::string name_of_entry(const std::string& entry) {
  std::string name;
  const std::size_t length = std::min<std::size_t>(number_at<std::uint16_t>(entry, 64), 64);
  for (std::size_t k = 0; k + 3 < length; k += 2) name += entry[k + 1] == 0 ? entry[k] : '?';
  return in_lower_case(name);
}

/// Adds a piece to extents. Extents that follow one another become one.
void add(std::vector<Extent>& extents, Index offset, Index bytes) {
  if (!extents.empty() && extents.back().offset + extents.back().bytes == offset)
    extents.back().bytes += bytes;
  else
    extents.push_back({0, offset, bytes});
}

}  // namespace

bool is_compound_file(const fs::path& path) {
  std::array<char, signature.size()> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::memcmp(start.data(), signature.data(), signature.size()) == 0;
}

CompoundFile::CompoundFile(const fs::path& path) : name_(path.string()), stamp_(stamp_of(path, name_)) {
  files_.emplace_back(path, name_);
  std::string head(head_bytes, '\0');
  files_[0].read(0, head_bytes, reinterpret_cast<std::byte*>(head.data()));
  shift_ = number_at<std::uint16_t>(head, 30);
  const int mini = number_at<std::uint16_t>(head, 32);
  require<FileError>((shift_ == 9 || shift_ == 12) && mini == mini_shift, name_, ": has sectors of 2^",
                     shift_, " and 2^", mini,
                     " bytes; 2^9 or 2^12, and 2^6, are needed, the file is damaged");
  cutoff_ = number_at<std::uint32_t>(head, 56);
  require<FileError>(cutoff_ == 4096, name_, ": streams of less than ", cutoff_,
                     " bytes are short; 4096 is needed, the file is damaged");
  read_tables(head);
  read_directory(number_at<std::uint32_t>(head, 48));
}

/// The offset of a sector. Sector 0 follows the head, which fills one sector.
Index CompoundFile::place_of(std::uint32_t sector, const std::string& where) const {
  const Index place = (Index{sector} + 1) << shift_;
  require<FileError>(sector < last_number && place < static_cast<Index>(stamp_.bytes), where,
                     ": is in sector ", sector,
                     ", which the file does not have; it is damaged or was cut short");
  return place;
}

/// The sectors of a chain from the first one on: `most` of them, or all until its end. No chain is longer
/// than its table.
CompoundFile::Table CompoundFile::sectors_of(std::uint32_t first, const Table& next, Index most,
                                             const std::string& where) const {
  Table sectors;
  for (std::uint32_t at = first; std::ssize(sectors) < most && at < last_number; at = next[at]) {
    require<FileError>(at < next.size() && sectors.size() < next.size(), where,
                       ": its sectors leave the table of the file; it is damaged");
    sectors.push_back(at);
  }
  if (std::is_sorted(sectors.begin(), sectors.end(), std::less_equal<>())) return sectors;  // most are
  Table sorted = sectors;
  std::sort(sorted.begin(), sorted.end());
  require<FileError>(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), where,
                     ": its sectors go round; the file is damaged");
  return sectors;
}

CompoundFile::Table CompoundFile::numbers_in(const Table& sectors, const std::string& where) const {
  const auto size = std::size_t{1} << shift_, count = size / sizeof(std::uint32_t);
  Table numbers(sectors.size() * count);
  for (std::size_t k = 0; k < sectors.size(); ++k)
    files_[0].read(place_of(sectors[k], where), size,
                   reinterpret_cast<std::byte*>(numbers.data() + k * count));
  return numbers;
}

/// Reads the table of sectors. The head names its first 109 sectors. The others are named in a chain of
/// sectors, in which the last number of each sector names the next one.
void CompoundFile::read_tables(const std::string& head) {
  const std::string where = name_ + ": the table of sectors";
  const std::size_t all = stamp_.bytes >> shift_;
  constexpr std::size_t in_head = 109, first_in_head = 76;
  Table of_table;
  for (std::size_t k = 0; k < in_head; ++k)
    of_table.push_back(number_at<std::uint32_t>(head, first_in_head + 4 * k));
  std::size_t further = 0;
  for (auto at = number_at<std::uint32_t>(head, 68); at < last_number; ++further) {
    require<FileError>(further <= all, where, ": goes round; the file is damaged");
    Table more = numbers_in({at}, where);
    at = more.back();
    of_table.insert(of_table.end(), more.begin(), more.end() - 1);
  }
  std::erase_if(of_table, [](std::uint32_t sector) { return sector >= last_number; });
  require<FileError>(of_table.size() <= all, where, ": is longer than the file; it is damaged");
  next_ = numbers_in(of_table, where);
  next_mini_ = numbers_in(sectors_of(number_at<std::uint32_t>(head, 60), next_, all + 1, where), where);
}

/// An entry of the directory, which lies in these sectors.
std::string CompoundFile::entry_at(const Table& sectors, std::uint32_t number,
                                   const std::string& where) const {
  const std::size_t in_sector = (std::size_t{1} << shift_) / entry_bytes;
  require<FileError>(number / in_sector < sectors.size(), where, ": has no entry ", number,
                     "; the file is damaged");
  std::string entry(entry_bytes, '\0');
  files_[0].read(place_of(sectors[number / in_sector], where) + number % in_sector * entry_bytes, entry_bytes,
                 reinterpret_cast<std::byte*>(entry.data()));
  return entry;
}

/// The stream of an entry. A stream that claims more than the file has gives an error when it is read.
CompoundFile::Stream CompoundFile::stream_in(const std::string& entry) const {
  const auto size = shift_ == 9 ? std::uint64_t{number_at<std::uint32_t>(entry, 120)}
                                : number_at<std::uint64_t>(entry, 120);
  return {number_at<std::uint32_t>(entry, 116),
          static_cast<Index>(std::min<std::uint64_t>(size, std::uint64_t{1} << 62))};
}

/// Reads the directory. The entries of a storage are a tree, and `child` is its root.
void CompoundFile::read_directory(std::uint32_t first) {
  const std::string where = name_ + ": the directory";
  const Table sectors = sectors_of(first, next_, (stamp_.bytes >> shift_) + 1, where);
  struct Step {
    std::uint32_t entry;
    std::string path;
    std::size_t depth;
  };
  const std::string root = entry_at(sectors, 0, where);
  Stream shorter = stream_in(root);
  shorter.bytes = std::min(shorter.bytes, static_cast<Index>(stamp_.bytes));
  mini_ = extents_of(shorter, name_ + ": short streams");
  std::vector<Step> open{{number_at<std::uint32_t>(root, 76), "", 0}};
  std::vector<bool> seen((sectors.size() << shift_) / entry_bytes);
  while (!open.empty()) {
    const Step step = std::move(open.back());
    open.pop_back();
    if (step.entry == none) continue;
    const std::string entry = entry_at(sectors, step.entry, where), name = name_of_entry(entry);
    require<FileError>(!seen[step.entry], where, ": entry ", step.entry, " comes twice; the file is damaged");
    seen[step.entry] = true;
    for (const std::size_t beside : {68u, 72u})
      open.push_back({number_at<std::uint32_t>(entry, beside), step.path, step.depth});
    if (entry[66] == 1 && step.depth < deepest)
      open.push_back({number_at<std::uint32_t>(entry, 76), step.path + name + '/', step.depth + 1});
    if (entry[66] == 2) streams_.try_emplace(step.path + name, stream_in(entry));
  }
}

std::vector<Extent> CompoundFile::extents_of(const Stream& stream, const std::string& where) const {
  require<FileError>(stream.bytes <= static_cast<Index>(stamp_.bytes), where, ": claims ", stream.bytes,
                     " bytes, and the file has ", stamp_.bytes, "; it is damaged or was cut short");
  const Index size = Index{1} << shift_;
  const Table sectors = sectors_of(stream.first, next_, (stream.bytes + size - 1) / size, where);
  std::vector<Extent> extents;
  Index rest = stream.bytes;
  for (const std::uint32_t sector : sectors) {
    add(extents, place_of(sector, where), std::min(rest, size));
    rest -= std::min(rest, size);
  }
  require<FileError>(rest == 0, where, ": its sectors end ", rest, " bytes early; the file is damaged");
  return extents;
}

const CompoundFile::Stream& CompoundFile::found(const std::string& stream) const {
  const auto at = streams_.find(in_lower_case(stream));
  require<FileError>(at != streams_.end(), where(stream), ": is not there");
  return at->second;
}

std::optional<Index> CompoundFile::size(const std::string& stream) const {
  const auto at = streams_.find(in_lower_case(stream));
  return at == streams_.end() ? std::nullopt : std::optional(at->second.bytes);
}

std::vector<Extent> CompoundFile::extents(const std::string& stream) const {
  const Stream& at = found(stream);
  if (at.bytes >= cutoff_) return extents_of(at, where(stream));
  constexpr Index size = Index{1} << mini_shift;
  std::vector<Extent> extents;
  Index rest = at.bytes;
  for (const std::uint32_t sector :
       sectors_of(at.first, next_mini_, (at.bytes + size - 1) / size, where(stream))) {
    Index offset = Index{sector} << mini_shift, piece = std::min(rest, size);
    rest -= piece;
    for (const Extent& mini : mini_) {  // a short sector lies in one sector
      if (offset < mini.bytes) {
        require<FileError>(offset + piece <= mini.bytes, where(stream), ": leaves the short streams");
        add(extents, mini.offset + offset, piece);
        piece = 0;
        break;
      }
      offset -= mini.bytes;
    }
    require<FileError>(piece == 0, where(stream), ": is beyond the short streams; the file is damaged");
  }
  require<FileError>(rest == 0, where(stream), ": its sectors end early; the file is damaged");
  return extents;
}

std::string CompoundFile::bytes(const std::string& stream, Index most) const {
  const std::vector<Extent> stored = extents(stream);
  std::string all(std::min(most, found(stream).bytes), '\0');
  StoredBytes{files_, stored}.read(0, all.size(), reinterpret_cast<std::byte*>(all.data()));
  return all;
}

}  // namespace tandem::io
