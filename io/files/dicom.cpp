#include "dicom.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>

#include "../../core/error.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index preamble = 128;
constexpr DicomTag transfer_syntax = 0x00020010, item = 0xfffee000, end_of_item = 0xfffee00d,
                   end_of_sequence = 0xfffee0dd;
constexpr std::uint32_t not_said = 0xffffffff;
constexpr std::string_view longer = "OB OD OF OL OV OW SQ SV UC UN UR UT UV";  // VRs with lengths of 32 bits

template <class T>
T number_at(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// A name for what the user sees, and its number in DICOM.
struct Named {
  std::string_view uid, name;
};

constexpr std::array classes{Named{"1.2.840.10008.5.1.4.1.1.1", "an X-ray image"},
                             Named{"1.2.840.10008.5.1.4.1.1.1.1", "an X-ray image"},
                             Named{"1.2.840.10008.5.1.4.1.1.2", "a CT image"},
                             Named{"1.2.840.10008.5.1.4.1.1.2.1", "an enhanced CT image"},
                             Named{"1.2.840.10008.5.1.4.1.1.4", "an MR image"},
                             Named{"1.2.840.10008.5.1.4.1.1.7", "a secondary capture"},
                             Named{"1.2.840.10008.5.1.4.1.1.128", "a PET image"},
                             Named{"1.2.840.10008.1.3.10", "a DICOMDIR"}};

/// What is said of a transfer syntax that is not read; empty for those that are.
std::string packing_of(const std::string& uid) {
  if (uid == "1.2.840.10008.1.2" || uid == "1.2.840.10008.1.2.1") return {};
  const std::string jpeg = "1.2.840.10008.1.2.4.";
  if (uid == "1.2.840.10008.1.2.2") return "stored as Explicit VR big endian";
  if (uid == "1.2.840.10008.1.2.1.99") return "deflated";
  if (uid == "1.2.840.10008.1.2.5") return "packed by RLE";
  if (!uid.starts_with(jpeg)) return "stored in a way that is not known";
  return uid.substr(jpeg.size()).starts_with("9") ? "packed by JPEG 2000" : "packed by JPEG";
}

/// The numbers of a text with \ between them; empty if one is no number.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\\'), text.size());
    std::string_view word = trimmed(text.substr(0, end));
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [last, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (fault != std::errc{} || last != word.data() + word.size()) return {};
    all.push_back(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

/// Walks through the elements of a file, of which it reads some kilobytes at a time.
class Walk {
 public:
  struct Head {
    DicomTag tag;
    std::string vr;
    std::uint32_t length;
    Index value;  ///< where its value begins
  };

  Walk(const InputFile& file, std::string name, Index end) : file_(file), name_(std::move(name)), end_(end) {}

  bool at_end(Index at) const { return at >= end_; }
  DicomTag tag_at(Index at) {
    const char* bytes = bytes_at(at, 4);
    return DicomTag{number_at<std::uint16_t>(bytes)} << 16 | number_at<std::uint16_t>(bytes + 2);
  }

  Head head_at(Index at, bool says_vr) {
    constexpr Index most = 100'000;
    require<FileError>(++count_ <= most, name_, ": has more than ", most,
                       " elements; it is damaged, or no image");
    const DicomTag tag = tag_at(at);
    if (!says_vr || tag >> 16 == item >> 16)
      return {tag, "", number_at<std::uint32_t>(bytes_at(at + 4, 4)), at + 8};
    const std::string vr(bytes_at(at + 4, 2), 2);
    require<FileError>(vr[0] >= 'A' && vr[0] <= 'Z' && vr[1] >= 'A' && vr[1] <= 'Z', name_,
                       ": no element begins at byte ", at, "; the file is damaged");
    if (is_among(vr, longer)) return {tag, vr, number_at<std::uint32_t>(bytes_at(at + 8, 4)), at + 12};
    return {tag, vr, number_at<std::uint16_t>(bytes_at(at + 6, 2)), at + 8};
  }

  /// The byte behind an element, whose length may not be said.
  Index after(const Head& head, bool says_vr, int depth = 0) {
    constexpr int deepest = 16;
    require<FileError>(depth < deepest, name_, ": has sequences within sequences, ", deepest,
                       " deep; it is damaged");
    if (head.length != not_said) {
      require<FileError>(head.length <= end_ - head.value, name_, ": an element at byte ", head.value,
                         " claims ", head.length, " bytes; the file ends after ", end_ - head.value,
                         ", it is damaged or was cut short");
      return head.value + head.length;
    }
    const bool is_item = head.tag == item;  // holds elements; a sequence, or what is unknown, holds items
    const DicomTag last = is_item ? end_of_item : end_of_sequence;
    says_vr = says_vr && head.vr != "UN";
    for (Index at = head.value;;) {
      const Head inner = head_at(at, says_vr);
      if (inner.tag == last) return inner.value;
      require<FileError>(is_item || inner.tag == item, name_, ": no item of a sequence begins at byte ", at,
                         "; the file is damaged");
      at = after(inner, says_vr, depth + 1);
    }
  }

 private:
  /// Some bytes, as long as no others are asked for.
  const char* bytes_at(Index at, Index count) {
    constexpr Index block = 1 << 16;
    require<FileError>(at + count <= end_, name_, ": ends within an element at byte ", at,
                       "; the file is damaged or was cut short");
    if (at < first_ || at + count > first_ + std::ssize(block_)) {
      first_ = at;
      block_.resize(std::min(block, end_ - at));
      file_.read(at, std::ssize(block_), reinterpret_cast<std::byte*>(block_.data()));
    }
    return block_.data() + (at - first_);
  }

  const InputFile& file_;
  std::string name_, block_;
  Index end_, first_ = 0, count_ = 0;
};

}  // namespace

bool is_dicom(const fs::path& path) {
  std::array<char, preamble + 4> start{};
  std::error_code fault;
  if (!fs::is_regular_file(path, fault)) return false;
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data() + preamble, 4) == "DICM";
}

DicomFile::DicomFile(const fs::path& path)
    : name_(path.string()), stamp_(stamp_of(path, name_)), file_(path, name_) {
  require<FileError>(is_dicom(path), name_, ": is no DICOM file; DICM is needed at byte ", preamble);
  Walk walk(file_, name_, static_cast<Index>(stamp_.bytes));
  Index at = preamble + 4;
  const auto take = [&](bool says_vr) {
    const Walk::Head head = walk.head_at(at, says_vr);
    at = head.tag == dicom_pixels ? static_cast<Index>(stamp_.bytes) : walk.after(head, says_vr);
    elements_.try_emplace(head.tag, Element{head.vr, head.value, head.length});
  };
  while (!walk.at_end(at) && walk.tag_at(at) >> 16 == 2) take(true);
  const std::string syntax = text(transfer_syntax), packing = packing_of(syntax);
  const bool says_vr = syntax != "1.2.840.10008.1.2";
  const auto refuse_unless = [&](bool holds, const std::string& what) {
    require<FileError>(
        holds, name_, ": is ", what, " (transfer syntax ", syntax,
        "); Implicit or Explicit VR little endian is needed, not packed: unpack it by DCMTK or "
        "GDCM");
  };
  refuse_unless(packing.empty() || packing.starts_with("packed"), packing);
  while (!walk.at_end(at)) take(says_vr);
  refuse_unless(packing.empty(), kind() + ", " + packing);
  if (const auto found = elements_.find(dicom_pixels); found != elements_.end())
    require<FileError>(found->second.bytes <= static_cast<Index>(stamp_.bytes) - found->second.offset, name_,
                       ": claims ", found->second.bytes, " bytes of pixels; the file ends after ",
                       static_cast<Index>(stamp_.bytes) - found->second.offset,
                       ", it is damaged or was cut short");
}

std::string DicomFile::value(const Element& element) const {
  constexpr Index most = 1 << 24;
  require<FileError>(element.bytes <= most, name_, ": an element at byte ", element.offset, " claims ",
                     element.bytes, " bytes, for which no text and no list has use; it is damaged");
  std::string bytes(element.bytes, '\0');
  file_.read(element.offset, element.bytes, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

std::string DicomFile::text(DicomTag tag) const {
  const auto found = elements_.find(tag);
  if (found == elements_.end()) return {};
  return std::string(trimmed(value(found->second), std::string_view(" \0\t\r\n", 5)));
}

std::vector<double> DicomFile::numbers(DicomTag tag, std::string_view vr) const {
  const auto found = elements_.find(tag);
  if (found == elements_.end()) return {};
  const std::string& own = found->second.vr;
  if (!own.empty() && own != "UN" && own != "OB") vr = own;
  if (vr == "DS" || vr == "IS") return numbers_in(text(tag));
  const std::string bytes = value(found->second);
  std::vector<double> all;
  const auto read_as = [&]<class T>(T) {
    for (std::size_t k = 0; k + sizeof(T) <= bytes.size(); k += sizeof(T))
      all.push_back(number_at<T>(bytes.data() + k));
  };
  if (vr == "FL") read_as(float{});
  if (vr == "FD") read_as(double{});
  if (vr == "US") read_as(std::uint16_t{});
  if (vr == "SS") read_as(std::int16_t{});
  if (vr == "UL") read_as(std::uint32_t{});
  if (vr == "SL") read_as(std::int32_t{});
  return all;
}

std::optional<double> DicomFile::number(DicomTag tag, std::string_view vr) const {
  const std::vector<double> all = numbers(tag, vr);
  return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
}

std::optional<Extent> DicomFile::pixels() const {
  const auto found = elements_.find(dicom_pixels);
  return found == elements_.end() ? std::nullopt
                                  : std::optional(Extent{0, found->second.offset, found->second.bytes});
}

std::string DicomFile::kind() const {
  const std::string uid = text(dicom_class);
  const auto found = std::ranges::find(classes, uid, &Named::uid);
  return found == classes.end() ? "an object of the class " + uid : std::string(found->name);
}

}  // namespace tandem::io
