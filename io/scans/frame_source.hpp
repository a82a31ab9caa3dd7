#pragma once

// What the layouts hand to open_scan. Used only within io/.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../hdf5/hdf5.hpp"
#include "geometries/geometry_file.hpp"
#include "scan_reader.hpp"

namespace tandem::io {

/// Converts `count` numbers of a type to float32.
void to_float(PixelType type, const std::byte* in, Index count, std::byte* out);

/// Frames of one kind from one place: a data set, a part of it, or images.
class FrameSource {
 public:
  FrameSource(std::string where, PixelType type, Shape shape)
      : where_(std::move(where)), type_(type), shape_(shape) {}
  virtual ~FrameSource() = default;
  const std::string& where() const { return where_; }  ///< "scan.h5: /exchange/data"
  PixelType type() const { return type_; }
  const Shape& shape() const { return shape_; }  ///< (frame, row, bin)

  std::vector<std::string> notes;  ///< what the user should know about them

  virtual std::size_t decoded_bytes() const { return 0; }  ///< see ScanInfo
  virtual std::string packing() const { return {}; }       ///< see ScanInfo

  /// Fills `out` with numbers of type(), in C order. The caller has checked that the ranges lie within
  /// shape(). Several threads may call it at once.
  virtual void read(Range frames, Range rows, Range bins, std::byte* out) const = 0;
  /// The same where they lie, if they lie in memory for as long as the source lives.
  virtual std::optional<FramesView> in_memory(Range /*frames*/, Range /*rows*/, Range /*bins*/) const {
    return {};
  }
  /// The same as numbers of type(), or as float32.
  void read_as(PixelType type, Range frames, Range rows, Range bins, std::byte* out) const;

 private:
  std::string where_;
  PixelType type_;
  Shape shape_;
};
using FrameSources = std::vector<std::unique_ptr<FrameSource>>;

/// What a layout finds in a file. open_scan does the rest: the user's angles, further frames, and the checks
/// that all layouts share.
struct Acquisition {
  ScanInfo info;                       ///< format, pixel size, axis and notes; nothing else yet
  std::optional<double> row_pitch_mm;  ///< if it differs from the bin pitch
  std::vector<double> row_axis_bins;
  std::vector<double> bin_shifts, row_shifts;  ///< of each view, towards higher bins and rows
  std::vector<Vector3> moves;                  ///< of the sample in each view, see OffCircle
  bool climbs = false;                         ///< whether they go along the axis
  Orientation orientation;                     ///< how the file says that its images are to be turned
  bool lines = false;  ///< all views are the lines of one stored image, which is turned as a whole
  std::string_view kind = ParallelBeam::kind;
  std::optional<double> sod_mm, sdd_mm, midplane_row;  ///< of a cone beam
  std::optional<ViewGeometry> views;                   ///< each with a place of its own
  std::vector<double> angles;                          ///< rad, one per view; empty if the file has none
  std::string angles_where;                            ///< where they are, or where they were searched
  std::optional<Index> times;          ///< how many scans follow one another, if there is an axis for them
  bool can_grow = false;               ///< whether the file tells which of its views are there
  std::optional<Index> planned_views;  ///< how many views the file has room for, if it says so
  FrameSources projections, flats, darks;
};

/// All frames of a data set, or those in `runs`, one after another. `axes` is "theta:y:x", "y:theta:x", or
/// "theta:x" for lines. A data set of two axes is one frame otherwise. One of four axes has times first, of
/// which one is read. @throws FileError for other ranks and axes, and if any part of the data is missing
std::unique_ptr<FrameSource> hdf5_frames(std::shared_ptr<hdf5::DataSet> data,
                                         const std::string& axes = "theta:y:x",
                                         std::optional<std::vector<Range>> runs = std::nullopt,
                                         std::optional<Index> time = std::nullopt);

/// Makes the scan from what was found and what the user gives; the user comes first. `shape` is (view, row,
/// bin). @throws FileError, GeometryError
void complete_geometry(Acquisition& found, const OpenOptions& options, const Shape& shape);

/// Says when the flats were taken, if the user does. Forgets what the file says about each of its own flats
/// if the user gives more. @throws FileError if the flats are not as many for each of these views
void complete_times(ScanInfo& info, Index own_flats, const OpenOptions& options, Index views);

/// When the frames of a DXchange file were taken, as areaDetector and TomoScan of the APS note it; empty if
/// they do not.
PerFrame frame_times(const hdf5::File& file, Index views, Index flats);

/// Makes the reader of what a layout found, with flats and darks that the user gives. `planned`: the views
/// that the scan will have, if that is not the number of those that are there. @throws FileError,
/// GeometryError
std::unique_ptr<ScanReader> reader_of(const std::filesystem::path& path, Acquisition found,
                                      const OpenOptions& options, std::optional<Index> planned = {});

/// Opens a folder of images, with the settings that lie beside them; a file of such settings, with its
/// images; or a file of images.
Acquisition open_image_folder(const std::filesystem::path& folder, const OpenOptions& options);
Acquisition open_settings(const std::filesystem::path& path, const OpenOptions& options);
Acquisition open_image_file(const std::filesystem::path& path, const OpenOptions& options);

/// The images of a folder that fills, in the order of their names.
class GrowingFolder {
 public:
  GrowingFolder(std::filesystem::path folder, OpenOptions options);
  ~GrowingFolder();
  /// The images that are there. The last one counts if its file is as it was the last time. @throws FileError
  /// if there is none, or if an image came or changed before one that was there
  Acquisition look();
  const std::string& next() const { return next_; }  ///< why the next image does not count; may be empty

 private:
  std::filesystem::path folder_;
  OpenOptions options_;
  std::vector<std::shared_ptr<const class ImageFile>> files_;
  std::unique_ptr<struct FileStamp> last_;  ///< of the next image, when it was looked at
  std::string next_;
};

/// The flats or darks of an image or a folder of images. With `lines`, each line of an image is a frame of
/// one row.
FrameSources image_frames(const std::filesystem::path& path, FrameKind kind, bool lines);

/// How many rad a unit of angle has: "deg", "degrees", "rad", "radians" or "" (degrees). @throws FileError
/// for any other unit.
double radians_per(const std::string& unit, const std::string& where);
/// How many mm a unit of length has: "m", "mm", "um", "micron", ... Empty if the unit is not known.
std::optional<double> mm_per(const std::string& unit);

}  // namespace tandem::io
