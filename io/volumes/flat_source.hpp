#pragma once

// Volumes whose voxels follow one another in a file, as NRRD and MetaImage have them. Used only within io/.

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "../files/number_form.hpp"
#include "volume_format.hpp"

namespace tandem::io {

/// Lines "NAME = VALUE" or "NAME: VALUE" at the beginning of a file, by the names in lower case.
class TextHead {
 public:
  /// Reads lines to the one that `ends`, which counts, at most 16 MiB. @throws FileError
  TextHead(const std::filesystem::path& path, std::string_view separator,
           bool (*ends)(const std::string& name));
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  bool has(const std::string& name) const { return lines_.contains(name); }
  std::vector<double> numbers(const std::string& name) const;  ///< empty if something else is there
  /// Whole numbers above 0. @throws FileError for anything else
  std::vector<Index> counts(const std::string& name, std::size_t due) const;
  /// Where something begins, in bytes: a whole number from -1 on, 0 if there is none. @throws FileError
  Index offset(const std::string& name) const;
  const std::map<std::string, std::string>& lines() const { return lines_; }
  Index bytes() const { return bytes_; }  ///< length of the lines
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::map<std::string, std::string> lines_;
  Index bytes_ = 0;
};

/// Names of unsigned and signed integers of 8, 16 and 32 bits, and of floats; the first of each is written.
using TypeNames = std::array<std::string_view, 8>;
std::string_view name_of(const TypeNames& names, VoxelType type);
/// The form of numbers whose type has this name. `said`: where it stands, and what. @throws FileError
NumberForm form_named(const TypeNames& names, std::string_view type, bool high_first,
                      const std::string& said);

/// Whether a path is a file with one of these endings, ".nrrd .nhdr", in upper or lower case.
bool is_file_with(const std::filesystem::path& path, std::string_view endings);

/// Where voxels lie, and what makes numbers of them.
struct FlatVoxels {
  std::filesystem::path file;
  Index offset = 0;  ///< below 0: they end where the file does
  NumberForm form;
};

/// The file of voxels that a head names: in its own folder or below, unless any may be read. @throws
/// FileError
std::filesystem::path file_beside(const std::filesystem::path& head, const std::string& name,
                                  bool any_external);

/// A volume of such voxels. What it says of itself is set by the caller. @throws FileError if the file is too
/// short
std::unique_ptr<VolumeSource> flat_source(const std::string& where, Shape shape, const FlatVoxels& voxels);

/// A place by pitches and the centre of the first voxel, x first. @throws FileError
VolumePlace place_from(Shape shape, const std::vector<double>& pitch, const std::vector<double>& first,
                       bool in_mm, const std::string& where);

}  // namespace tandem::io
