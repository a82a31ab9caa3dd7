#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../core/host_memory.hpp"
#include "../../core/pixel_type.hpp"
#include "../../geometry/free_views.hpp"
#include "orientation.hpp"
#include "raw_frames.hpp"

namespace tandem::io {

using tandem::bytes_of;
using tandem::name_of;
using tandem::PixelType;

using PixelBytes = UnsetVector<std::byte>;

/// Raw frames (frame, row, bin) that lie in the memory of another object. The bins of a row lie side by side.
struct FramesView {
  PixelType type = PixelType::uint16;
  Shape shape{};
  const std::byte* data = nullptr;
  Index frame_step = 0, row_step = 0;  ///< pixels from one frame or row to the next
  Index first = 0;                     ///< the number of the first frame, within its kind
};

/// Raw frames (frame, row, bin), in C order and in the type of the file.
struct Frames {
  PixelType type = PixelType::uint16;
  Shape shape{};
  PixelBytes bytes;
  Index first = 0;  ///< the number of the first frame, within its kind
  operator FramesView() const { return {type, shape, bytes.data(), shape[1] * shape[2], shape[2], first}; }
};

enum class FrameKind { projection, flat, dark };

/// A number for each view and for each flat; both are empty if they are not known.
struct PerFrame {
  std::vector<double> views, flats;
};

/// The field of view of a scan, as a file or a user says it: that of the detector, or twice as wide in a half
/// acquisition.
enum class FieldOfView { standard, doubled };

/// An option that may be useful for a scan, and why. It is not shown to a user who gives that option.
struct Advice {
  std::string option, text;
};

/// What a file says about a scan, before any pixel is read.
struct ScanInfo {
  std::string format;  ///< "DXchange", "NXtomo", "TIFF stack", "TIFF sinogram"
  Scan scan;           ///< its pitch is 1 if it is not known; its axis is in the middle unless recorded
  std::optional<double> pixel_size_mm;  ///< detector pitch
  std::optional<double> axis_bin;       ///< position of the axis, if recorded in the file
  std::string axis_note;                ///< what a user who takes that axis should know; may be empty
  /// The roll of the detector and the tilt of the axis, if recorded, as in --detector-roll and --axis-tilt.
  std::optional<double> roll_deg, tilt_deg;
  std::optional<FieldOfView> field_of_view;  ///< set if recorded, or if the user gives it
  std::optional<double> energy_kev;          ///< energy of the photons, if recorded
  std::optional<double> propagation_mm;      ///< sample to detector in a parallel beam, if recorded
  PixelType type = PixelType::uint16;
  std::string packing;  ///< filters of HDF5, or "by libhdf5"; "compressed" for TIFF; or empty
  Index flats = 0, darks = 0;
  Index views_stored = 0;               ///< more than the scan has if OpenOptions::view_step is above 1
  Index first_view = 0, view_step = 1;  ///< which of the stored views the scan has
  Index scans_stored = 1;               ///< scans along an axis of times; this scan is one of them
  /// The shift of the image of each view towards higher rows, in rows of the file; empty: none.
  std::vector<double> row_shifts;
  /// How the views deviate from the circle of `scan`, for methods that take them as they were measured:
  /// shifts of a cone beam, and moves of the sample. Roll, tilt and `row_shifts` are not in it.
  OffCircle off_circle;
  /// How the views deviate from the circle, with `row_shifts`.
  OffCircle beside_circle() const {
    OffCircle off = off_circle;
    if (off.row_shifts.empty()) off.row_shifts = row_shifts;
    return off;
  }
  /// Whether no method may use the circle, since the user gives these shifts, or the sample climbs, as in a
  /// helix.
  bool is_no_circle = false;
  bool line_integrals = false;  ///< whether the file says that frames are line integrals already
  PerFrame times;  ///< when the frames were taken, as numbers that rise with time, such as frame numbers
  /// Times of exposure by which counts are to be divided, in any unit; empty if all are the same.
  PerFrame exposures;
  PerFrame monitor;                ///< monitor counts or ring current, proportional to the beam
  std::size_t decoded_bytes = 0;   ///< bytes of a compressed piece that a reading holds beside its result
  std::vector<std::string> notes;  ///< what was left out and why: for example invalid frames
  std::vector<Advice> advice;
};

/// Which ways of the sample the file counts the other way: across the beam, up along the axis, and along the
/// beam.
struct ReversedMotion {
  bool across = false, up = false, along = false;
  bool any() const { return across || up || along; }
};

/// What the user says about a scan beside its file.
struct OpenOptions {
  /// Flats and darks beside those of the file: TIFF images or folders, or HDF5.
  std::vector<std::filesystem::path> flats = {}, darks = {};
  std::string_view kind = {};              ///< kind of beam in the place of the file's; empty: the file's
  std::filesystem::path geometry = {};     ///< file with the geometry of each view (read_geometry_file)
  std::optional<bool> parallel_rays = {};  ///< what its rays are, if it does not say so
  std::filesystem::path angles = {};       ///< list of angles; empty: the scan's own angles
  std::vector<Index> flat_views = {};      ///< views before which the flats were taken, in sets of equal size
  std::optional<Range> angle_lines = {};   ///< lines A to B of the file of angles, from 0, half open
  std::string angles_unit = {};            ///< "deg" or "rad", of the file of angles; empty: what it says
  std::optional<double> arc_deg = {};  ///< arc of equal steps from 0, in the place of the scan's own angles
  bool arc_inclusive = false;          ///< whether the last view lies at the end of the arc
  std::filesystem::path view_shifts = {};  ///< one number per line: ParallelBeam::view_shift_bins
  std::filesystem::path row_shifts = {};   ///< one number per line: ScanInfo::row_shifts
  bool curved_detector = false;   ///< whether the detector of a cone beam is a cylinder about the source
  bool reverse_rotation = false;  ///< whether all angles change their sign
  std::optional<FieldOfView> field_of_view = {};  ///< in the place of the file's own
  std::optional<double> pixel_size_mm = {};       ///< pitch of bins and rows, in the place of the file's own
  /// Geometry in the place of the file's own. With sod and sdd the scan is a cone beam.
  std::optional<double> sod_mm = {}, sdd_mm = {}, midplane_row = {};
  std::optional<RawFrames> raw = {};    ///< how files that have no known format are stored
  std::string variable = {};            ///< variable of MATLAB that holds the sinogram
  std::optional<Index> time = {};       ///< number of the scan, if several follow one another in the file
  Index first_view = 0, view_step = 1;  ///< only views first, first + step, ... of the scan are taken
  Orientation orientation = {};
  ReversedMotion reversed_motion = {};  ///< recorded motions of the sample, before `orientation` turns them
  bool allow_external_files = false;    ///< whether raw external files of HDF5 may lie outside its folder
};

/// An open acquisition. It reads metadata when it is opened, and pixels on request. Only one thread may use
/// it at a time.
class ScanReader {
 public:
  virtual ~ScanReader() = default;
  const ScanInfo& info() const { return info_; }

  /// Reads ranges of frames, rows and bins. Frames are counted within their kind. The memory of `into` is
  /// used again. @throws FileError naming file, data set and range
  virtual void read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) = 0;
  Frames read(FrameKind kind, Range frames, Range rows, Range bins) {
    Frames into;
    read(kind, frames, rows, bins, into);
    return into;
  }
  /// The same frames where they lie, if the reader has all of them in memory as long as it lives; else empty.
  virtual std::optional<FramesView> in_memory(FrameKind, Range /*frames*/, Range /*rows*/, Range /*bins*/) {
    return {};
  }

 protected:
  ScanInfo info_;
};

/// Angles in rad, and what the user should know about their unit; mostly nothing.
struct GivenAngles {
  std::vector<double> radians;
  std::string note = {};
};
/// Reads `options.angles`: a text with one number per line or with a column of angles that a header names,
/// FILE:/NAME, or an array of NumPy. Without a unit, angles are degrees, unless they can only be radians.
/// Blank lines and lines that begin with # count as lines, but hold no angle. @throws FileError
GivenAngles read_angles(const OpenOptions& options);
/// Reads other numbers in the same way, and returns them as they are. `what` and `unit` are for messages.
/// `any_external`: whether raw external files may lie outside the folder of an HDF5 file
std::vector<double> read_numbers(const std::filesystem::path& path, const std::string& what,
                                 const std::string& unit, bool any_external = false);

/// Reads two numbers from each line, with a blank, tab, comma or semicolon between them. Blank lines, and
/// lines that begin with #, are skipped. `what` is for messages: "a length in mm and a line integral".
/// @throws FileError
std::vector<std::array<double, 2>> read_pairs(const std::filesystem::path& path, const std::string& what);

/// Opens a file or a folder. Each known layout is asked whether it recognises it, so the user need not name
/// the layout. @throws FileError naming the file and what was expected in it.
std::unique_ptr<ScanReader> open_scan(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace tandem::io
