#pragma once

// The parts of the reader of NXtomo. Used only within io/.

#include <string>
#include <vector>

#include "../frame_source.hpp"

namespace tandem::io {

/// Where an NXtomo file has what.
struct NXtomoPlaces {
  std::string entry;               ///< "/entry1/tomo_entry"
  std::string data, keys, angles;  ///< data sets; keys and angles may be empty
  std::string detector;            ///< the group with the pixel sizes
};

/// Which way the letters of coordinates go. NeXus has x across the beam, y up and z along the beam; the ESRF
/// had x along the beam, y across and z up, and changed to NeXus with version 2 of its files.
enum class NXtomoFrame { nexus, esrf };
NXtomoFrame nxtomo_frame_of(const hdf5::File& file, const NXtomoPlaces& places);

/// Pitches, axis, distances, energy and flips. @pre the views are found
void read_nxtomo_geometry(const hdf5::File& file, const NXtomoPlaces& places, Acquisition& found);

/// What there is for each frame: angles, times, monitor, exposure and, after the geometry is known,
/// translations. `keys` has the kind of each frame. @throws FileError for a sample that moves along the axis
void read_nxtomo_frames(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                        const OpenOptions& options, Acquisition& found);

}  // namespace tandem::io
