#pragma once

// The parts of the reader of NXtomo. Used only within io/.

#include <string>
#include <vector>

#include "../frame_source.hpp"

namespace tandem::io {

/// The paths of an NXtomo file.
struct NXtomoPlaces {
  std::string entry;               ///< "/entry1/tomo_entry"
  std::string data, keys, angles;  ///< data sets; keys and angles may be empty
  std::string detector;            ///< the group with the pixel sizes
};

/// The meaning of the letters of coordinates. NeXus has x across the beam, y up and z along the beam. The
/// ESRF had x along the beam, y across and z up, and changed to NeXus with version 2 of its files.
enum class NXtomoFrame { nexus, esrf };
NXtomoFrame nxtomo_frame_of(const hdf5::File& file, const NXtomoPlaces& places);

/// Reads pitches, axis, distances, energy and flips. @pre the views are found
void read_nxtomo_geometry(const hdf5::File& file, const NXtomoPlaces& places, Acquisition& found);

/// Reads what there is for each frame: angles, times, monitor, exposure and translations. `keys` has the kind
/// of each frame. @pre the geometry has been read. @throws FileError for a sample that moves along the axis
void read_nxtomo_frames(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                        const OpenOptions& options, Acquisition& found);

}  // namespace tandem::io
