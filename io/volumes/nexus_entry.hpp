#pragma once

// Used only within io/.

#include "../hdf5/hdf5.hpp"
#include "volume_file.hpp"

namespace tandem::io {

/// Adds the entry of NXtomoproc (manual.nexusformat.org) to an HDF5 volume. Its data are a link to
/// /exchange/data, so that one file has both forms. Facts about sample and beam are those of the scan.
void add_nexus_entry(hdf5::File& file, Shape shape, const VolumeFormat& format);

/// Writes when the volume was completed, and what its numbers stand for: offset + scaling times a number.
void complete_nexus_entry(hdf5::File& file, const VolumeFormat& format);

}  // namespace tandem::io
