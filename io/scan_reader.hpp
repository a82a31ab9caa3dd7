#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/range.hpp"
#include "../geometry/scan.hpp"

namespace tandem::io {

/// Detector counts keep their own type until they are preprocessed. Files with another number type (int16,
/// double) are read as float32.
enum class PixelType { uint8, uint16, uint32, float32 };
std::size_t bytes_of(PixelType type);
const char* name_of(PixelType type);

/// Raw frames (frame, row, bin), C order, in the file's own type.
struct Frames {
  PixelType type;
  Shape shape;
  std::vector<std::byte> bytes;
};

enum class FrameKind { projection, flat, dark };

/// What a file says about a scan, before any pixel is read.
struct ScanInfo {
  std::string format;  ///< "DXchange", "NXtomo", "TIFF stack", "TIFF sinogram"
  Scan scan;           ///< pitches 1 where nobody gives any; axis in the middle unless recorded
  std::optional<double> pixel_size_mm;  ///< detector pitch
  std::optional<double> axis_bin;       ///< if recorded in the file
  PixelType type = PixelType::uint16;
  Index flats = 0, darks = 0;
  std::size_t decoded_bytes =
      0;  ///< that reading holds beside what it returns: a compressed piece of the file
  std::vector<std::string> notes;  ///< what was left out and why: invalid frames, alignment frames
};

/// What the user adds to a file.
struct OpenOptions {
  std::vector<std::filesystem::path> flats = {},
                                     darks = {};  ///< besides the file's own: TIFF images or folders, or HDF5
  std::filesystem::path angles = {};              ///< one number a line, degrees; empty: from the scan itself
  std::optional<Range> angle_lines = {};          ///< lines A to B of that file, from 0, half open
  std::optional<double> arc_deg = {};  ///< equal steps from 0 over this arc, before the scan's own angles
  bool arc_inclusive = false;          ///< whether the last view lies at the end of the arc
  bool reverse_rotation = false;       ///< the sense of all angles is turned: each is taken as its negative
  std::optional<double> pixel_size_mm = {};  ///< of bins and rows, before the file's own
  std::optional<double> sod_mm = {}, sdd_mm = {}, midplane_row = {};  ///< the same; they make a cone beam
  bool allow_external_files = false;  ///< raw files that an HDF5 names as its data may lie outside its folder
};

/// One open acquisition. Metadata at opening, pixels on request. One thread at a time.
class ScanReader {
 public:
  virtual ~ScanReader() = default;
  const ScanInfo& info() const { return info_; }

  /// Frames [first, last) of one kind, counted within that kind; rows and bins half open.
  /// @throws FileError naming file, data set and range.
  virtual Frames read(FrameKind kind, Range frames, Range rows, Range bins) = 0;

 protected:
  ScanInfo info_;
};

/// One number a line, degrees; blank lines and lines that begin with # count as lines, but hold no angle. In
/// rad. @throws FileError
std::vector<double> read_angles(const std::filesystem::path& path, const std::optional<Range>& lines = {});

/// Asks each known layout whether it recognises the file or folder; the layout is recognised, never asked
/// for.
/// @throws FileError naming the file and what was expected in it.
std::unique_ptr<ScanReader> open_scan(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace tandem::io
