#pragma once

// Data elements of DICOM (PS3.5, PS3.10), of which Implicit and Explicit VR little endian are read, and the
// latter is written. Used only within io/.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stored_lines.hpp"

namespace tandem::io {

/// The number of an element: the group in the upper 16 bits, 0x00280010 for (0028,0010).
using DicomTag = std::uint32_t;

constexpr DicomTag dicom_class = 0x00080016, dicom_rows = 0x00280010, dicom_columns = 0x00280011,
                   dicom_pixels = 0x7fe00010;

/// Whether a file begins as DICOM does.
bool is_dicom(const std::filesystem::path& path);

/// The elements of a file, up to its pixels. Those within sequences are passed over.
class DicomFile {
 public:
  /// @throws FileError for a file that is damaged, or packed, or that has another order of bytes
  explicit DicomFile(const std::filesystem::path& path);
  const std::string& name() const { return name_; }
  const FileStamp& stamp() const { return stamp_; }
  bool has(DicomTag tag) const { return elements_.contains(tag); }
  /// A text without blanks at its ends; empty if there is none. @throws FileError
  std::string text(DicomTag tag) const;
  /// Numbers as the file says that they are stored, or as `vr` ("FL", "US", "DS", ...) where it says nothing.
  /// Empty if there are none, or if a text is no number. @throws FileError
  std::vector<double> numbers(DicomTag tag, std::string_view vr) const;
  std::optional<double> number(DicomTag tag, std::string_view vr) const;  ///< the only number
  std::optional<Extent> pixels() const;                                   ///< where they lie; empty: none
  /// What the file holds, for messages: "a CT image", "an object of the class 1.2.3".
  std::string kind() const;

 private:
  struct Element {
    std::string vr;  ///< empty if the file does not say it
    Index offset, bytes;
  };
  std::string value(const Element& element) const;

  std::string name_;
  FileStamp stamp_;
  InputFile file_;
  std::map<DicomTag, Element> elements_;
};

/// Elements that are written, in the order of their numbers.
class DicomText {
 public:
  /// Adds a text, or bytes; an odd one is filled up as its VR asks for it.
  void add(DicomTag tag, std::string_view vr, std::string value);
  void add(DicomTag tag, std::uint16_t value);                ///< as US
  void add(DicomTag tag, const std::vector<double>& values);  ///< as DS
  void begin_pixels(std::uint32_t bytes);                     ///< as OW; the pixels follow
  const std::string& bytes() const { return bytes_; }
  /// A file of these elements, without its pixels: preamble, the group of the file, and they.
  std::string file(const std::string& object_class, const std::string& instance) const;

 private:
  void begin(DicomTag tag, std::string_view vr, std::size_t length);
  std::string bytes_;
};

/// A name that no other object has, under 2.25, where anybody may make such names: from the hash of a text.
std::string dicom_uid(const std::string& text);

}  // namespace tandem::io
