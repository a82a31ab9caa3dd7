#pragma once

#include <span>

#include "../frame_source.hpp"

namespace tandem::io {

/// What files say of a kind of beam. Each kind has a file in this folder, and a line in table.cpp.
struct BeamFields {
  std::string_view kind;

  /// Whether the user's options make a scan one of this kind, whatever its file says.
  bool (*is_asked_for)(const OpenOptions& options);

  /// Reads the kind's own fields from a group of a file that tandem wrote, `instrument/tandem`.
  void (*read)(const hdf5::File& file, const std::string& group, Acquisition& found);

  /// Makes the scan of what was found and what the user gives, who comes first. @throws GeometryError
  Scan (*scan)(Acquisition& found, const OpenOptions& options, Detector detector, std::vector<double> angles);

  /// Writes the kind's own fields.
  void (*write)(hdf5::File& file, const std::string& group, const Scan& scan);
};

/// All kinds; the first one is what a file without a word of it holds.
std::span<const BeamFields> beam_fields();

/// Null for a kind that is not known.
const BeamFields* find_beam_fields(std::string_view kind);

/// Recorded positions of the axis may be up to a detector's width outside it. False for nan.
bool near_detector(double axis, Index bins);

}  // namespace tandem::io
