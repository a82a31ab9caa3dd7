#pragma once

// Files that say where each view of a scan was taken from, view by view. Used only within io/, but for
// read_geometry_file and write_geometry_file.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../geometry/scan.hpp"

namespace tandem::io {

/// What such a file says. Lengths are in the unit of the file, which is mm unless the pitch of bins says
/// another one. The frame is that of the volume.
struct ViewGeometry {
  std::string where;  ///< what messages call it
  std::vector<FlexibleView> views{};
  bool parallel = false;    ///< whether rays are parallel in each view
  bool curved = false;      ///< whether the detector is (`FlexibleBeam::curved`)
  bool unit_steps = false;  ///< steps have the length 1, because the file knows no pitch: the scan does
  std::optional<Index> rows{}, bins{};  ///< of the detector, if it says so
  std::vector<std::string> notes{};
};

/// A format of such files. Each has a file in this folder and a line in table.cpp.
struct GeometryFormat {
  std::string_view name;                                  ///< "ASTRA"
  std::string_view files;                                 ///< "*.npy", as messages list them
  bool (*recognises)(const std::filesystem::path& path);  ///< by its name, and its text where that is needed
  ViewGeometry (*read)(const std::filesystem::path& path);  ///< @throws FileError
  std::string (*text)(const FlexibleBeam& scan);            ///< as a file. @throws GeometryError
  bool knows_curved = false;                                ///< whether it has curved detectors
};

std::span<const GeometryFormat> geometry_formats();

/// "*.npy, *.geom or *.txt", and so on, of all formats.
std::string geometry_files();

/// Reads a file of any format. @throws FileError
ViewGeometry read_geometry_file(const std::filesystem::path& path);

/// The vectors of ASTRA as text, 12 numbers a line. @throws FileError
ViewGeometry vectors_in_text(const std::filesystem::path& path);

/// The scan of these views on a detector, as a circle if it is one (`as_circle`). `pitch_mm` is that of its
/// bins, if it is known: steps of the length 1 get it and that of its rows. Where it `is_unit`, all lengths
/// are scaled so that bins of view 0 have it. @throws FileError for another detector, GeometryError
Scan scan_of_views(ViewGeometry given, const Detector& detector, const std::optional<double>& pitch_mm,
                   bool is_unit);

/// What a file of this name says of a scan, in the format of its ending. @throws GeometryError if the format
/// cannot say it; FileError for an ending of no format
std::string geometry_text(const std::filesystem::path& path, const Scan& scan);

/// The 12 numbers of a view, as ASTRA has them: source or direction, middle of the detector, steps.
std::vector<double> numbers_of(const FlexibleBeam& scan);
std::vector<FlexibleView> views_of_numbers(std::span<const double> numbers);

/// Whether all first vectors have the length 1, as directions of parallel rays have that ASTRA makes.
bool are_directions(std::span<const FlexibleView> views);

}  // namespace tandem::io
