#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volume_file.hpp"

namespace tandem::io {

class ImageFile;
class PlainFile;
class VolumeSource;

/// All that a writer is made from, see `create_volume`.
struct Creation {
  std::filesystem::path path;
  Shape shape;
  const VolumeFormat& format;
  const std::string& recipe;
  Replace replace;
  const Continuation& continuation;
};

/// What the file of a slice is made from.
struct SliceOfVolume {
  std::string volume;  ///< the name of the volume, without its ending
  Shape shape;         ///< that of all slices that the run writes
  const VolumeFormat& format;
  Index slice;
  const std::string& recipe;
};

/// A format in which each slice of a volume is a file, with a text that `slice_description` makes.
struct SliceFile {
  void (*write)(PlainFile& file, const SliceOfVolume& of, const void* stored);
  std::string (*description)(const std::filesystem::path& path);          ///< empty for any other file
  std::unique_ptr<ImageFile> (*open)(const std::filesystem::path& path);  ///< its voxels as they are stored
};

/// How several runs write parts of one volume.
enum class Parts {
  none,
  files,   ///< each run writes its own file, see volume_parts.hpp
  slices,  ///< each slice is a file anyway, see slice_files.cpp
};

/// A file format of volumes, as a value. Each format has one file in this folder and one line of
/// volume_kinds.cpp. Options and messages come from this table.
struct VolumeKind {
  std::string_view name;                  ///< name in --save-format: "h5"
  std::string_view title;                 ///< name in messages: "HDF5"
  std::vector<std::string_view> endings;  ///< endings of file names; a name without one gets the first
  std::vector<VoxelType> types;           ///< types that it can store
  bool in_hounsfield = false;             ///< whether it takes VolumeFormat::water
  bool packs = false;                     ///< whether it takes a Compression
  Parts parts = Parts::none;
  const SliceFile* slice_file = nullptr;  ///< with Parts::slices
  bool is_folder = false;
  /// Whether a path is of this kind, so that no scan has it. Null if scans have such files, too.
  bool (*alone)(const std::filesystem::path&) = nullptr;
  std::unique_ptr<VolumeWriter> (*create)(const Creation&) = nullptr;
  /// Opens a volume, and returns null for paths of other kinds. The function is null if such volumes are not
  /// read.
  std::unique_ptr<VolumeSource> (*open)(const std::filesystem::path&, bool any_external) = nullptr;
  /// The existing files of a volume, if there is more than the file itself. May be null.
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path&) = nullptr;

  bool slices_are_files() const { return parts == Parts::slices; }
  std::string_view ending() const { return endings.front(); }
  bool stores(VoxelType type) const;
};

std::span<const VolumeKind> volume_kinds();
/// The kind of a volume by the ending of its name, in upper or lower case. Null for any other name.
const VolumeKind* volume_kind(const std::filesystem::path& path);
/// Whether a path is a volume, be it faulty, in a format that scans do not have.
bool is_volume_alone(const std::filesystem::path& path);
const VolumeKind* volume_kind_named(std::string_view name);  ///< null if there is none
/// All endings that name a kind, in words: ".h5, .hdf5, ... or .zarr".
std::string volume_endings();
/// Whether a name has the ending of HDF5 files, which may also be scans.
bool is_hdf5_name(const std::filesystem::path& path);

inline constexpr std::array voxel_types{VoxelType::float32, VoxelType::float16, VoxelType::uint16,
                                        VoxelType::uint8};
const char* name_of(VoxelType type);  ///< "uint16"
Index bytes_of(VoxelType type);       ///< bytes of a voxel
const char* name_of(Compression compression);

}  // namespace tandem::io
