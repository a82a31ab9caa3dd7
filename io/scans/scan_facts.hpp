#pragma once

// What several layouts of HDF5 say in the same way, and what is made of it. Used only within io/.

#include <optional>
#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

/// Times of exposure, in one unit; each is empty if it is not known.
struct ExposureTimes {
  std::string where;  ///< what notes call them
  std::vector<double> views, flats, darks;
};

/// Counts grow with the time of exposure, and are divided by it where it differs. A dark is mostly the offset
/// of the camera, which does not grow: it is taken as it is, with a note.
void take_exposures(const ExposureTimes& times, ScanInfo& info);

/// Where the sample is in each view, in mm along one direction; empty if it is not known.
struct Motion {
  std::string where;  ///< what notes call it
  std::vector<double> positions_mm;
  double span_mm() const;
};

/// Across the beam, towards higher bins; along the axis; and along the beam.
struct Motions {
  Motion across, up, along;
};

/// A sample that moves by more than half a pixel while views are taken, with notes. Across parallel rays the
/// views are moved back; along them nothing is seen. Else views stand where the sample was, for methods that
/// take them so. Needs the pitch, the axis and the kind of beam.
void take_motions(Motions recorded, const OpenOptions& options, Acquisition& found);

/// Distances and pitches, in mm; each may be unknown.
struct Distances {
  std::optional<double> sod, to_detector;
  std::optional<double> bin, row, bin_at_sample, row_at_sample;
};

/// Only a source that is near enough to be seen makes a cone beam, which has the pitch of the detector. A
/// parallel beam has that at the sample, where it is known: behind an objective they differ. @pre the views
/// are found
void take_distances(const Distances& distances, Acquisition& found);

}  // namespace tandem::io
