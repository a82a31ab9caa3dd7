#pragma once

// One array of a Zarr, and where its chunks lie. Used only within io/.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../files/input_file.hpp"
#include "../files/json.hpp"
#include "../files/number_form.hpp"
#include "../files/stored_lines.hpp"

namespace tandem::io {

/// The folder of a volume, from which its files do not lead out.
struct ZarrRoot {
  std::filesystem::path folder;  ///< canonical; empty if files may lie anywhere

  void require_within(const std::filesystem::path& file) const;  ///< @throws FileError
  nlohmann::json json_in(const std::filesystem::path& path) const;
};

/// An array with the axes z, y, x: in Zarr 2, with a chunk in each file; or in Zarr 3, with a chunk or a
/// shard in each file, which is several chunks and the index of their places.
struct ZarrLevel {
  std::filesystem::path folder;
  ZarrRoot root;
  Shape shape{}, chunk{};
  Shape per_file{1, 1, 1};  ///< how many chunks a file has along each axis
  NumberForm form{};
  std::string packer;  ///< empty: chunks are not packed
  bool shuffled = false;
  bool has_checksum = false;  ///< whether a CRC-32C follows each chunk
  bool is_sharded = false, index_is_first = false, index_has_checksum = false;
  double fill = 0;
  std::string prefix;  ///< what names of files begin with
  char separator = '.';
  bool is_whole = false;  ///< whether tandem wrote all its chunks

  Index chunk_bytes() const { return chunk[0] * chunk[1] * chunk[2] * form.bytes; }
  bool is_plain() const {
    return packer.empty() && !shuffled && !has_checksum;
  }  ///< whether numbers lie as they are
};

/// Whether the folder has the metadata of Zarr 3.
bool is_zarr_3(const std::filesystem::path& folder);

/// @throws FileError
ZarrLevel zarr_level(const std::filesystem::path& folder, const ZarrRoot& root);

/// A file of chunks, with the place of each. A chunk that is not there stands for the number that fills.
struct ZarrFile {
  std::filesystem::path path;
  std::vector<InputFile> file;                ///< empty if there is no such file, nor chunks
  std::vector<std::optional<Extent>> chunks;  ///< in C order
};
/// The file that has this chunk. @throws FileError, also if something is not where tandem wrote it
ZarrFile open_zarr_file(const ZarrLevel& level, const Shape& chunk);

/// Requires all chunks of a level that tandem wrote, which are slices. @throws FileError
void require_zarr_chunks(ZarrLevel& level);

}  // namespace tandem::io
