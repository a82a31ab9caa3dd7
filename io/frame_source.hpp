#pragma once

// For io/ alone: what the layouts hand to open_scan.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5.hpp"
#include "scan_reader.hpp"

namespace tandem::io {

/// Numbers of a type as float32.
void to_float(PixelType type, const std::byte* in, Index count, std::byte* out);

/// Frames of one kind from one place: a data set, some frames of it, images.
class FrameSource {
 public:
  FrameSource(std::string where, PixelType type, Shape shape)
      : where_(std::move(where)), type_(type), shape_(shape) {}
  virtual ~FrameSource() = default;
  const std::string& where() const { return where_; }  ///< "scan.h5: /exchange/data"
  PixelType type() const { return type_; }
  const Shape& shape() const { return shape_; }  ///< (frame, row, bin)

  std::vector<std::string> notes;  ///< what the user should know of them

  virtual std::size_t decoded_bytes() const { return 0; }  ///< see ScanInfo

  /// Fills `out` in type(), C order. The ranges lie within shape(): the caller has checked.
  virtual void read(Range frames, Range rows, Range bins, std::byte* out) = 0;

 private:
  std::string where_;
  PixelType type_;
  Shape shape_;
};
using FrameSources = std::vector<std::unique_ptr<FrameSource>>;

/// What a layout finds. open_scan does the rest: the user's angles, further frames, and the checks all
/// layouts share.
struct Acquisition {
  ScanInfo info;                       ///< format, pixel size, axis and notes; nothing else yet
  std::optional<double> row_pitch_mm;  ///< where it differs from the bin pitch
  std::vector<double> row_axis_bins;
  std::string_view kind = ParallelBeam::kind;
  std::optional<double> sod_mm, sdd_mm, midplane_row;  ///< of a cone beam
  std::vector<double> angles;                          ///< rad, one a view; empty: the file has none
  std::string angles_where;                            ///< where they are, or were looked for
  FrameSources projections, flats, darks;
};

/// All frames of a data set, or those in `runs`, one after another. `axes` is "theta:y:x" or "y:theta:x"; a
/// data set of two axes is one frame. @throws FileError for other ranks and axes, and unless all of it is
/// there
std::unique_ptr<FrameSource> hdf5_frames(std::shared_ptr<hdf5::DataSet> data,
                                         const std::string& axes = "theta:y:x",
                                         std::optional<std::vector<Range>> runs = std::nullopt);

/// Makes the scan, (view, row, bin), of what was found and what the user gives, who comes first.
/// @throws FileError, GeometryError
void complete_geometry(Acquisition& found, const OpenOptions& options, const Shape& shape);

bool is_data_exchange(const hdf5::File& file);
Acquisition open_data_exchange(const hdf5::File& file);
/// `flats` or `darks` of a file that need not hold projections; empty if there are none.
FrameSources data_exchange_frames(const hdf5::File& file, FrameKind kind);

/// Nothing if no group of the file is an NXtomo entry, in form or in content.
std::optional<Acquisition> find_nxtomo(const hdf5::File& file);

bool is_tiff(const std::filesystem::path& path);
/// A folder, less the files that `options` names as flats and darks; or one file.
Acquisition open_tiff(const std::filesystem::path& path, const OpenOptions& options);
/// Flats or darks from an image or a folder of images. With `lines`, each line of an image is a frame of one
/// row.
std::unique_ptr<FrameSource> tiff_frames(const std::filesystem::path& path, FrameKind kind, bool lines);

/// "deg", "degrees", "rad", "radians", "" (degrees) to rad for each unit. @throws FileError for anything
/// else.
double radians_per(const std::string& unit, const std::string& where);
/// "m", "mm", "um", "micron", ... to mm for each unit; nothing if it is no length that we know.
std::optional<double> mm_per(const std::string& unit);

/// A length with its @units in mm; `default_unit` where there are none. Says in `notes` why it had to be left
/// out.
std::optional<double> length_mm(const hdf5::File& file, const std::string& path,
                                const std::string& default_unit, std::vector<std::string>& notes);

}  // namespace tandem::io
