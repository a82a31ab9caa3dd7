#pragma once

// The slices of a volume that one run wrote as files. Used only within io/.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volume_place.hpp"

namespace tandem::io {

/// The facts in the description of slices: a text for each key, as `slice_description` writes it.
class SliceFacts {
 public:
  explicit SliceFacts(const std::string& description = {});
  std::string text(const std::string& key) const;  ///< empty if there is none
  std::vector<double> numbers(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;  ///< the number, if there is exactly one

 private:
  std::map<std::string, std::string> facts_;
};

/// The existing slices of one run.
struct SlicePart {
  SliceFacts facts;  ///< facts that all slices of the run share
  Shape shape{};     ///< shape of all slices that the run wrote
  std::optional<VolumePlace> place;
  std::map<Index, std::filesystem::path> files;  ///< files by the numbers of their slices in the full grid

  /// All slices that the run wrote, counted in the full grid.
  Range slices() const;
  std::string name() const { return files.begin()->second.filename().string(); }
};

/// A part without files, as a description tells it. @throws FileError if the description makes no sense
SlicePart slice_part_of(const std::string& description, const std::filesystem::path& path);

/// All slices of "NAME.tif" that tandem wrote, one part for each run, in the order of their first numbers.
/// @throws FileError for a slice that contradicts itself
std::vector<SlicePart> slice_parts(const std::filesystem::path& volume);

/// The reason, in words, why two parts are not of one volume. Empty if they are, which means that they have
/// the same grid and different slices of it.
std::string misfit(const SlicePart& part, const SlicePart& other);

/// The place of a part, extended along z to these slices of its full grid.
std::optional<VolumePlace> extended(std::optional<VolumePlace> place, Range slices);

}  // namespace tandem::io
