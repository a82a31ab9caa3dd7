#pragma once

// Writes compound files (OLE2) after Microsoft, MS-CFB: what olefile can read, but not make.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tandem::test {

/// Streams by their names: "ImageInfo/Angles".
using Streams = std::map<std::string, std::string>;

class CompoundWriter {
 public:
  /// `shift` is 9 or 12: sectors of 512 or 4096 bytes. `scattered`: the sectors of a stream lie backwards.
  explicit CompoundWriter(const Streams& streams, int shift = 9, bool scattered = false)
      : size_(std::size_t{1} << shift), shift_(shift), scattered_(scattered) {
    entries_.push_back({.name = "Root Entry", .type = 5});
    for (const auto& [path, bytes] : streams) add(path, bytes);
    entries_[0].first = put(mini_), entries_[0].bytes = mini_.size();
    std::string short_table(reinterpret_cast<const char*>(next_mini_.data()), next_mini_.size() * 4);
    short_table.resize((short_table.size() + size_ - 1) / size_ * size_, '\xff');
    first_short_ = put(short_table), short_sectors_ = short_table.size() / size_;
    link(0);
    directory_ = put(directory());
  }

  std::string bytes() const {
    std::vector<std::uint32_t> next = next_, in_table;
    const std::size_t a_sector = size_ / 4;
    std::size_t tables = 0, lists = 0;  // sectors of the table, and of the list of those
    for (std::size_t before = 1; before != tables + lists;) {
      before = tables + lists;
      tables = (next_.size() + before + a_sector - 1) / a_sector;
      lists = tables > in_head ? (tables - in_head + a_sector - 2) / (a_sector - 1) : 0;
    }
    for (std::size_t k = 0; k < tables; ++k) in_table.push_back(static_cast<std::uint32_t>(next.size() + k));
    const auto first_list = static_cast<std::uint32_t>(next.size() + tables);
    next.resize(next.size() + tables, 0xfffffffd);
    next.resize(next.size() + lists, 0xfffffffc);
    next.resize(tables * a_sector, 0xffffffff);
    std::string all = head(in_table, lists > 0 ? first_list : end, lists) + sectors_;
    all.append(reinterpret_cast<const char*>(next.data()), next.size() * 4);
    for (std::size_t list = 0, at = in_head; list < lists; ++list) {
      std::vector<std::uint32_t> numbers(a_sector, 0xffffffff);
      for (std::size_t k = 0; k + 1 < a_sector && at < in_table.size(); ++k) numbers[k] = in_table[at++];
      numbers.back() = list + 1 < lists ? first_list + static_cast<std::uint32_t>(list) + 1 : end;
      all.append(reinterpret_cast<const char*>(numbers.data()), size_);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t end = 0xfffffffe, none = 0xffffffff;
  static constexpr std::size_t in_head = 109, cutoff = 4096;
  struct Entry {
    std::string name;
    char type = 1;  // 1 storage, 2 stream, 5 root
    std::uint32_t left = none, right = none, child = none, first = 0;
    std::size_t bytes = 0;
    std::vector<std::uint32_t> held = {};  // by a storage
  };

  void add(std::string path, const std::string& bytes) {
    std::uint32_t within = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/')) {
      within = held_by(within, path.substr(0, slash));
      path.erase(0, slash + 1);
    }
    const bool is_short = bytes.size() < cutoff;
    const std::uint32_t first = is_short ? put_short(bytes) : put(bytes);
    entries_[within].held.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({.name = path, .type = 2, .first = first, .bytes = bytes.size()});
  }

  std::uint32_t held_by(std::uint32_t storage, const std::string& name) {
    for (const std::uint32_t k : entries_[storage].held)
      if (entries_[k].name == name) return k;
    entries_[storage].held.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({.name = name});
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  std::uint32_t put(const std::string& bytes) {
    const std::size_t count = (bytes.size() + size_ - 1) / size_;
    if (count == 0) return end;
    const auto first = static_cast<std::uint32_t>(next_.size());
    std::string padded = bytes;
    padded.resize(count * size_, '\0');
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t piece = scattered_ ? count - 1 - k : k;
      sectors_ += padded.substr(piece * size_, size_);
      const bool last = piece + 1 == count;
      next_.push_back(last ? end : first + static_cast<std::uint32_t>(scattered_ ? k - 1 : k + 1));
    }
    return scattered_ ? first + static_cast<std::uint32_t>(count - 1) : first;
  }

  std::uint32_t put_short(const std::string& bytes) {
    const std::size_t count = (bytes.size() + 63) / 64;
    if (count == 0) return end;
    const auto first = static_cast<std::uint32_t>(next_mini_.size());
    for (std::size_t k = 1; k < count; ++k) next_mini_.push_back(first + static_cast<std::uint32_t>(k));
    next_mini_.push_back(end);
    mini_ += bytes;
    mini_.resize(next_mini_.size() * 64, '\0');
    return first;
  }

  /// Makes trees of what storages hold, in the order of the format: shorter names first.
  void link(std::uint32_t storage) {
    std::vector<std::uint32_t> held = entries_[storage].held;
    std::sort(held.begin(), held.end(), [this](std::uint32_t a, std::uint32_t b) {
      const std::string &first = entries_[a].name, &second = entries_[b].name;
      return first.size() != second.size() ? first.size() < second.size() : first < second;
    });
    entries_[storage].child = tree(held, 0, held.size());
    for (const std::uint32_t k : held)
      if (entries_[k].type == 1) link(k);
  }
  std::uint32_t tree(const std::vector<std::uint32_t>& held, std::size_t from, std::size_t to) {
    if (from == to) return none;
    const std::size_t middle = (from + to) / 2;
    entries_[held[middle]].left = tree(held, from, middle);
    entries_[held[middle]].right = tree(held, middle + 1, to);
    return held[middle];
  }

  template <class T>
  static void set(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }

  std::string directory() const {
    std::string all;
    for (const Entry& e : entries_) {
      std::string one(128, '\0');
      for (std::size_t k = 0; k < e.name.size(); ++k) one[2 * k] = e.name[k];
      set(one, 64, static_cast<std::uint16_t>(2 * e.name.size() + 2));
      one[66] = e.type, one[67] = 1;
      set(one, 68, e.left), set(one, 72, e.right), set(one, 76, e.child);
      set(one, 116, e.first), set(one, 120, std::uint64_t{e.bytes});
      all += one;
    }
    return all;
  }

  std::string head(const std::vector<std::uint32_t>& in_table, std::uint32_t first_list,
                   std::size_t lists) const {
    std::string one = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    one.resize(size_, '\0');
    set(one, 24, std::uint16_t{0x3e}), set(one, 26, static_cast<std::uint16_t>(shift_ == 9 ? 3 : 4));
    set(one, 28, std::uint16_t{0xfffe}), set(one, 30, static_cast<std::uint16_t>(shift_));
    set(one, 32, std::uint16_t{6});
    const std::size_t directory_sectors = (entries_.size() * 128 + size_ - 1) / size_;
    set(one, 40, static_cast<std::uint32_t>(shift_ == 9 ? 0 : directory_sectors));
    set(one, 44, static_cast<std::uint32_t>(in_table.size())), set(one, 48, directory_);
    set(one, 56, static_cast<std::uint32_t>(cutoff)), set(one, 60, first_short_);
    set(one, 64, static_cast<std::uint32_t>(short_sectors_)), set(one, 68, first_list);
    set(one, 72, static_cast<std::uint32_t>(lists));
    for (std::size_t k = 0; k < in_head; ++k) set(one, 76 + 4 * k, k < in_table.size() ? in_table[k] : none);
    return one;
  }

  std::size_t size_;
  int shift_;
  bool scattered_;
  std::string sectors_, mini_;
  std::vector<std::uint32_t> next_, next_mini_;
  std::vector<Entry> entries_;
  std::uint32_t first_short_ = end, directory_ = 0;
  std::size_t short_sectors_ = 0;
};

/// Numbers as a stream has them.
template <class T>
std::string stream_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

inline void write_compound_file(const std::string& path, const Streams& streams, int shift = 9,
                                bool scattered = false) {
  std::ofstream(path, std::ios::binary) << CompoundWriter(streams, shift, scattered).bytes();
}

}  // namespace tandem::test
