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
#include "../../core/range.hpp"
#include "../../geometry/free_views.hpp"
#include "orientation.hpp"

namespace tandem::io {

using tandem::bytes_of;
using tandem::name_of;
using tandem::PixelType;

/// Takes host memory (core/host_memory.hpp), and leaves it unset, so that large memory is first touched by
/// who fills it.
struct UnsetAllocator {
  using value_type = std::byte;
  template <class>
  struct rebind {
    using other = UnsetAllocator;
  };
  std::byte* allocate(std::size_t bytes) {
    void* data = take_host_memory(bytes).data;
    if (!data) throw std::bad_alloc();  // the reader knows the file that it is for
    return static_cast<std::byte*>(data);
  }
  void deallocate(std::byte* data, std::size_t bytes) noexcept { give_host_memory(data, bytes); }
  bool operator==(const UnsetAllocator&) const = default;
  void construct(std::byte*) {}
  template <class... Values>
  void construct(std::byte* at, Values&&... values) {
    std::construct_at(at, std::forward<Values>(values)...);
  }
};

using PixelBytes = std::vector<std::byte, UnsetAllocator>;

/// Raw frames (frame, row, bin) that lie in the memory of another object. Bins lie one behind the other.
struct FramesView {
  PixelType type = PixelType::uint16;
  Shape shape{};
  const std::byte* data = nullptr;
  Index frame_step = 0, row_step = 0;  ///< pixels from one to the next
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

/// What a file or a user says of the field that a scan sees: that of the detector, or twice as much, by a
/// half acquisition.
enum class FieldOfView { standard, doubled };

/// An option that may be wanted for a scan, and why; of no use to who gives that option.
struct Advice {
  std::string option, text;
};

/// What a file says about a scan, before any pixel is read.
struct ScanInfo {
  std::string format;  ///< "DXchange", "NXtomo", "TIFF stack", "TIFF sinogram"
  Scan scan;           ///< the pitch is 1 if it is not known; the axis is in the middle unless recorded
  std::optional<double> pixel_size_mm;  ///< detector pitch
  std::optional<double> axis_bin;       ///< if recorded in the file
  std::string axis_note;                ///< what the user should know who takes that axis; may be empty
  /// By how much detector and axis lean, if recorded: as the options --detector-roll and --axis-tilt have it.
  std::optional<double> roll_deg, tilt_deg;
  std::optional<FieldOfView> field_of_view;  ///< if recorded, or if the user says so
  std::optional<double> energy_kev;          ///< of the photons, if recorded
  std::optional<double> propagation_mm;  ///< from the sample to the detector of a parallel beam, if recorded
  PixelType type = PixelType::uint16;
  std::string packing;  ///< of the projections: filters of HDF5, "compressed" TIFF, or "by libhdf5"; or empty
  Index flats = 0, darks = 0;
  Index views_stored = 0;               ///< more than the scan has if OpenOptions::view_step is above 1
  Index first_view = 0, view_step = 1;  ///< which of them the scan has
  Index scans_stored = 1;               ///< one after another, along an axis of times; this is one of them
  /// How many rows of the file the image of each view lies towards higher rows; empty: none.
  std::vector<double> row_shifts;
  /// How the views stand beside the circle of `scan`, for methods that take them as they stand: shifts of a
  /// cone beam, and where the sample moved. Roll, tilt and `row_shifts` are apart.
  OffCircle off_circle;
  /// The same with `row_shifts`.
  OffCircle beside_circle() const {
    OffCircle off = off_circle;
    if (off.row_shifts.empty()) off.row_shifts = row_shifts;
    return off;
  }
  /// Whether no method may take the circle: the user gives these shifts, or the sample climbs, as in a helix.
  bool is_no_circle = false;
  PerFrame times;  ///< when the frames were taken: numbers that rise with time, such as those of all frames
  /// Times of exposure by which counts are to be divided, in any unit; empty if they are all the same.
  PerFrame exposures;
  PerFrame monitor;  ///< monitor counts or ring current, proportional to the beam
  std::size_t decoded_bytes =
      0;  ///< bytes that a reading holds beside its result, for a compressed piece of the file
  std::vector<std::string> notes;  ///< what was left out and why: for example invalid frames
  std::vector<Advice> advice;
};

/// What the user says about a scan beside its file.
struct OpenOptions {
  std::vector<std::filesystem::path> flats = {},
                                     darks = {};  ///< beside the file's own: TIFF images or folders, or HDF5
  std::string_view kind = {};           ///< of beam, in the place of the file's own; empty: none is asked for
  std::filesystem::path geometry = {};  ///< where each view is taken from (read_geometry_file)
  std::filesystem::path angles = {};    ///< one number per line, degrees; empty: the scan's own angles
  std::vector<Index> flat_views = {};   ///< all flats are sets of equal size, taken before these views
  std::optional<Range> angle_lines = {};  ///< lines A to B of that file, from 0, half open
  std::optional<double> arc_deg =
      {};                      ///< equal steps from 0 over this arc, in the place of the scan's own angles
  bool arc_inclusive = false;  ///< whether the last view lies at the end of the arc
  std::filesystem::path view_shifts = {};         ///< one number per line: ParallelBeam::view_shift_bins
  std::filesystem::path row_shifts = {};          ///< one number per line: ScanInfo::row_shifts
  bool curved_detector = false;                   ///< of a cone beam, on a cylinder about the source
  bool reverse_rotation = false;                  ///< all angles change their sign
  std::optional<FieldOfView> field_of_view = {};  ///< in the place of the file's own
  std::optional<double> pixel_size_mm = {};       ///< of bins and rows, in the place of the file's own
  std::optional<double> sod_mm = {}, sdd_mm = {},
                        midplane_row = {};  ///< in the place of the file's own; sod and sdd make a cone beam
  std::string variable = {};                ///< of MATLAB: the one that holds the sinogram
  std::optional<Index> time = {};       ///< which of the scans that follow one another in a file of four axes
  Index first_view = 0, view_step = 1;  ///< only views first, first + step, ... of the scan
  Orientation orientation = {};
  bool allow_external_files =
      false;  ///< raw files that an HDF5 file names as its data may lie outside its folder
};

/// An open acquisition. It reads metadata when it is opened, and pixels on request. Only one thread may use
/// it at a time.
class ScanReader {
 public:
  virtual ~ScanReader() = default;
  const ScanInfo& info() const { return info_; }

  /// Reads a range of frames of one kind, counted within that kind, and ranges of rows and bins. The memory
  /// of `into` is used again. @throws FileError naming file, data set and range.
  virtual void read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) = 0;
  Frames read(FrameKind kind, Range frames, Range rows, Range bins) {
    Frames into;
    read(kind, frames, rows, bins, into);
    return into;
  }
  /// The same frames where they lie, if the reader has all of them in memory for as long as it lives; else
  /// empty.
  virtual std::optional<FramesView> in_memory(FrameKind, Range /*frames*/, Range /*rows*/, Range /*bins*/) {
    return {};
  }

 protected:
  ScanInfo info_;
};

/// Reads angles from a file with one number per line, in degrees, and returns them in rad. Blank lines and
/// lines that begin with # count as lines, but hold no angle. @throws FileError
std::vector<double> read_angles(const std::filesystem::path& path, const std::optional<Range>& lines = {});
/// The same for other numbers, which stay as they are. `what` and `unit` are for messages.
std::vector<double> read_numbers(const std::filesystem::path& path, const std::string& what,
                                 const std::string& unit, const std::optional<Range>& lines = {});

/// Reads two numbers a line, with a blank, tab, comma or semicolon between them; blank lines and lines that
/// begin with # are passed over. `what` is for messages: "a length in mm and a line integral". @throws
/// FileError
std::vector<std::array<double, 2>> read_pairs(const std::filesystem::path& path, const std::string& what);

/// Opens a file or a folder. Each known layout is asked whether it recognises it, so the user need not name
/// the layout. @throws FileError naming the file and what was expected in it.
std::unique_ptr<ScanReader> open_scan(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace tandem::io
