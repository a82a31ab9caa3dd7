#pragma once

// Used only within io/.

#include "../hdf5/hdf5.hpp"
#include "volume_file.hpp"

namespace tandem::io {

/// Adds the entry of NXtomoproc (manual.nexusformat.org) to an HDF5 volume: its data are those of
/// /exchange/data, by a link, so that one file is both. What is known of sample and beam is that of the scan.
void add_nexus_entry(hdf5::File& file, Shape shape, const VolumeFormat& format);

/// Says when the volume was complete, and what its numbers stand for: offset + scaling times a number.
void complete_nexus_entry(hdf5::File& file, const VolumeFormat& format);

}  // namespace tandem::io
