#pragma once

// What a layout gives to open_scan. Used only within io/.

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

/// Frames of one kind from one place: from a data set, a part of it, or images.
class FrameSource {
 public:
  FrameSource(std::string where, PixelType type, Shape shape)
      : where_(std::move(where)), type_(type), shape_(shape) {}
  virtual ~FrameSource() = default;
  const std::string& where() const { return where_; }  ///< "scan.h5: /exchange/data"
  PixelType type() const { return type_; }
  const Shape& shape() const { return shape_; }  ///< (frame, row, bin)

  std::vector<std::string> notes;  ///< what the user should know about these frames

  virtual std::size_t decoded_bytes() const { return 0; }  ///< see ScanInfo
  virtual std::string packing() const { return {}; }       ///< see ScanInfo

  /// Fills `out` with numbers of type(), in C order. The caller has checked that the ranges lie within
  /// shape(). Several threads may call it at once.
  virtual void read(Range frames, Range rows, Range bins, std::byte* out) const = 0;
  /// The same numbers where they lie, if they lie in memory as long as the source lives.
  virtual std::optional<FramesView> in_memory(Range /*frames*/, Range /*rows*/, Range /*bins*/) const {
    return {};
  }
  /// Reads as numbers of type(), or as float32.
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
  std::vector<double> bin_shifts, row_shifts;  ///< shifts of each view towards higher bins and rows
  std::vector<Vector3> moves;                  ///< move of the sample in each view, see OffCircle
  bool climbs = false;                         ///< whether the moves go along the axis
  Orientation orientation;                     ///< how to turn the images, as the file says
  bool lines = false;  ///< whether all views are lines of one stored image, which is turned as a whole
  std::string_view kind = ParallelBeam::kind;
  std::optional<double> sod_mm, sdd_mm, midplane_row;  ///< geometry of a cone beam
  std::optional<ViewGeometry> views;                   ///< views that each have their own geometry
  std::vector<double> angles;                          ///< rad, one per view; empty if the file has none
  std::string angles_where;                            ///< where the angles are, or were searched
  bool angles_have_unit = true;                        ///< whether the file says that of the angles
  std::optional<Index> times;          ///< how many scans follow one another, if there is an axis of times
  bool can_grow = false;               ///< whether the file tells which of its views are there
  std::optional<Index> planned_views;  ///< how many views the file has room for, if it says so
  FrameSources projections, flats, darks;
  bool corrected = false;  ///< whether flats and darks are in the views already
};

/// All frames of a data set, or the frames in `runs`, one after another. `axes` is "theta:y:x", "y:theta:x",
/// the same with x and y exchanged, or "theta:x" for lines. Else a data set of two axes is one frame. The
/// first axis of four is time, and one time is read. @throws FileError for other ranks and axes, and if any
/// part of the data is missing
std::unique_ptr<FrameSource> hdf5_frames(std::shared_ptr<hdf5::DataSet> data,
                                         const std::string& axes = "theta:y:x",
                                         std::optional<std::vector<Range>> runs = std::nullopt,
                                         std::optional<Index> time = std::nullopt);

/// Makes the scan from what was found and what the user gives, which has precedence. `shape` is (view, row,
/// bin). @throws FileError, GeometryError
void complete_geometry(Acquisition& found, const OpenOptions& options, const Shape& shape);

/// Gives a scan views that have places of their own.
void take_views(Acquisition& found, ViewGeometry views);

/// Sets the times of the flats, if the user gives them. If the user gives more flats, it forgets what the
/// file says about each of its own. @throws FileError unless there is the same number of flats for each of
/// these views
void complete_times(ScanInfo& info, Index own_flats, const OpenOptions& options, Index views);

/// The times of the frames of a DXchange file, as areaDetector and TomoScan of the APS note them; empty if
/// they do not.
PerFrame frame_times(const hdf5::File& file, Index views, Index flats);

/// Makes the reader of what a layout found, with flats and darks that the user gives. `planned`: the number
/// of views that the scan will have, if it is not the number of views that are there. @throws FileError,
/// GeometryError
std::unique_ptr<ScanReader> reader_of(const std::filesystem::path& path, Acquisition found,
                                      const OpenOptions& options, std::optional<Index> planned = {});

/// Open a folder of images with the settings beside them; a file of such settings with its images; or a file
/// of images.
Acquisition open_image_folder(const std::filesystem::path& folder, const OpenOptions& options);
Acquisition open_settings(const std::filesystem::path& path, const OpenOptions& options);
Acquisition open_image_file(const std::filesystem::path& path, const OpenOptions& options);

/// The images of a folder into which a program writes, in the order of their names.
class GrowingFolder {
 public:
  GrowingFolder(std::filesystem::path folder, OpenOptions options);
  ~GrowingFolder();
  /// The images that are there. The last one counts only if its file has not changed since the last look.
  /// @throws FileError if there is none, or if an image before one that was there has come or changed
  Acquisition look();
  const std::string& next() const { return next_; }  ///< why the next image does not count; may be empty

 private:
  std::filesystem::path folder_;
  OpenOptions options_;
  std::vector<std::shared_ptr<const class ImageFile>> files_;
  std::unique_ptr<struct FileStamp> last_;  ///< stamp of the next image at the last look
  std::string next_;
};

/// The flats or darks of an image or a folder of images. With `lines`, each line of an image is a frame of
/// one row.
FrameSources image_frames(const std::filesystem::path& path, FrameKind kind, bool lines,
                          const std::optional<RawFrames>& raw);

/// A unit of angle in rad: "deg", "degrees", "rad", "radians" or "" (degrees). @throws FileError for any
/// other unit
double radians_per(const std::string& unit, const std::string& where);
/// Takes angles without a unit, which were read as degrees, for radians if they can be nothing else. Returns
/// what the user should know then; else nothing.
std::string heed_radians(std::vector<double>& angles, const std::string& where);
/// A unit of length in mm: "m", "mm", "um", "micron", ... Empty if the unit is not known.
std::optional<double> mm_per(const std::string& unit);

}  // namespace tandem::io
