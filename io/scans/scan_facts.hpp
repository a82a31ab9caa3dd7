#pragma once

// Facts that several layouts of HDF5 give in the same way, and what follows from them. Used only within io/.

#include <optional>
#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

/// Times of exposure, all in the same unit; each list is empty if it is not known.
struct ExposureTimes {
  std::string where;  ///< name in notes
  std::vector<double> views, flats, darks;
};

/// Takes times of exposure. Counts grow with the time of exposure, and are divided by it if it differs. A
/// dark is mostly the offset of the camera, which does not grow, so it is taken as it is, with a note.
void take_exposures(const ExposureTimes& times, ScanInfo& info);

/// The positions of the sample in each view, in mm along one direction; empty if they are not known.
struct Motion {
  std::string where;  ///< name in notes
  std::vector<double> positions_mm;
  double span_mm() const;
};

/// The motions across the beam, towards higher bins; along the axis; and along the beam.
struct Motions {
  Motion across, up, along;
};

/// Takes the motions of a sample that moves by more than half a pixel while views are taken, with notes. In a
/// parallel beam, views are moved back by the motion across the rays; the motion along the rays has no
/// effect. In other beams, views stand where the sample was, for methods that take them so. Needs the pitch,
/// the axis and the kind of beam.
void take_motions(Motions recorded, const OpenOptions& options, Acquisition& found);

/// Distances and pitches, in mm; each may be unknown.
struct Distances {
  std::optional<double> sod, to_detector;
  std::optional<double> bin, row, bin_at_sample, row_at_sample;
};

/// Takes distances and pitches. A scan is a cone beam only if its source is so near that the divergence
/// shows; it has the pitch of the detector. A parallel beam has the pitch at the sample, if this is known,
/// since behind an objective they differ. @pre the views are found
void take_distances(const Distances& distances, Acquisition& found);

}  // namespace tandem::io
