#pragma once

#include <span>

#include "../frame_source.hpp"

namespace tandem::io {

constexpr std::string_view fan_kind = "fan";  ///< the name, for users, of a cone beam of one row

/// What files say about a kind of beam. Each kind has a file in this folder and a line in table.cpp.
struct BeamFields {
  std::string_view kind;
  bool has_angles;  ///< whether its views need angles
  bool takes_tilt;  ///< whether an axis that leans along the beam can be corrected

  /// Whether the user's options give a scan this kind, even if its file says another kind.
  bool (*is_asked_for)(const OpenOptions& options);

  /// Reads the fields of this kind from the group `instrument/tandem` of a file that tandem wrote.
  void (*read)(const hdf5::File& file, const std::string& group, Acquisition& found);

  /// Makes the scan from what was found and what the user gives, which has precedence. @throws GeometryError
  Scan (*scan)(Acquisition& found, const OpenOptions& options, Detector detector,
               std::vector<double>&& angles);

  /// Takes the fields from an existing scan, in the place of a file.
  void (*take)(const Scan& scan, Acquisition& found);

  /// Writes the fields of this kind.
  void (*write)(hdf5::File& file, const std::string& group, const Scan& scan);
};

/// All kinds. A file that does not name a kind has the first one.
std::span<const BeamFields> beam_fields();

/// The fields of a kind; null if the kind is not known.
const BeamFields* find_beam_fields(std::string_view kind);

/// The fields of the kind that the user's options give a scan, else of its own.
const BeamFields& fields_of(const Acquisition& found, const OpenOptions& options);

/// The shift of each view that is taken, in bins or rows. It comes from the user's file, which has one number
/// for each view, or else from the scan. @throws FileError for another count
std::vector<double> shifts_of_views(const Acquisition& found, const OpenOptions& options,
                                    const std::filesystem::path& given, const std::vector<double>& recorded);

/// @throws GeometryError if a view is shifted by as many rows as the detector has
void require_rows_left(const std::vector<double>& row_shifts, const Detector& detector);

/// Whether a recorded position of the axis is at most a detector's width outside the detector. False for NaN.
bool near_detector(double axis, Index bins);

}  // namespace tandem::io
