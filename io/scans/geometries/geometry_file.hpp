#pragma once

// Files that give the geometry of a scan view by view. Used only within io/, except read_geometry_file and
// write_geometry_file.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../geometry/scan.hpp"

namespace tandem::io {

/// The contents of such a file. Lengths are in the unit of the file, which is mm unless the pitch of bins
/// shows another one. The frame is that of the volume.
struct ViewGeometry {
  std::string where;  ///< its name in messages
  std::vector<FlexibleView> views{};
  bool parallel = false;    ///< whether rays are parallel in each view
  bool says_rays = true;    ///< whether it is known which, by the file or by the user
  bool curved = false;      ///< whether the detector is curved (`is_curved`)
  bool unit_steps = false;  ///< whether steps have the length 1, because only the scan knows the pitch
  std::optional<Index> rows{}, bins{};  ///< size of the detector, if the file gives it
  std::vector<std::string> notes{};
};

/// A format of such files. Each format has a file in this folder and a line in table.cpp.
struct GeometryFormat {
  std::string_view name;                                    ///< "ASTRA"
  std::string_view files;                                   ///< names of files in messages: "*.npy"
  bool (*recognises)(const std::filesystem::path& path);    ///< by the name, and if needed by the text
  ViewGeometry (*read)(const std::filesystem::path& path);  ///< @throws FileError
  std::string (*text)(const Scan& scan);                    ///< the text of a file. @throws GeometryError
  bool knows_curved = false;                                ///< whether it can have curved detectors
};

std::span<const GeometryFormat> geometry_formats();

/// The names of files of all formats in messages: "*.npy, *.geom or *.txt", and so on.
std::string geometry_files();

/// A file and what the user says of its rays: "FILE", "FILE:parallel" or "FILE:cone".
struct GeometryName {
  std::filesystem::path path;
  std::optional<bool> parallel{};  ///< empty: as the file says
};
GeometryName geometry_named(const std::string& text);

/// Reads a file of any format. @throws FileError, also for rays that are others than the file says
ViewGeometry read_geometry_file(const GeometryName& name);

/// Decides whether rays are parallel, where the file does not say so: they are, if all first vectors have the
/// length 1 and no cone has its sources there. @throws FileError if both may be
void decide_rays(ViewGeometry& given, const std::optional<bool>& parallel = {});

/// Reads the vectors of ASTRA from a text with 12 numbers in each line. @throws FileError
ViewGeometry vectors_in_text(const std::filesystem::path& path);

/// The scan of these views on a detector; a circle, if the views lie on one (`as_circle`). `pitch_mm` is the
/// pitch of its bins, if it is known. Steps of the length 1 get the pitches of bins and rows. If `is_unit`,
/// all lengths are scaled so that bins of view 0 have this pitch. @throws FileError for another detector,
/// GeometryError
Scan scan_of_views(ViewGeometry given, const Detector& detector, const std::optional<double>& pitch_mm,
                   bool is_unit);

/// The text of a file of this name for a scan, in the format of its ending. @throws GeometryError if the
/// format cannot hold the scan; FileError if no format has this ending
std::string geometry_text(const std::filesystem::path& path, const Scan& scan);

/// The 12 numbers of each view of any scan, as in ASTRA: source or direction, middle of the detector, steps.
std::vector<double> numbers_of(const Scan& scan);
std::vector<FlexibleView> views_of_numbers(std::span<const double> numbers);

}  // namespace tandem::io
