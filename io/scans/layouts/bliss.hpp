#pragma once

// The parts of the reader of BLISS files. Used only within io/.

#include <string>
#include <vector>

#include "../frame_source.hpp"

namespace tandem::io {

/// The contents of `technique/tomoconfig`: names of motors and of the camera, each perhaps with an alias.
/// Letters are those of the ESRF: x along the beam, y across it, z up.
struct BlissConfig {
  std::vector<std::string> rotation, camera;
  std::vector<std::string> along, across, up;            ///< motors of the stage below the axis
  std::vector<std::string> sample_along, sample_across;  ///< motors above the axis
  bool clockwise = false;                                ///< whether the angles count the other way
};

/// One entry with frames.
struct BlissFrames {
  std::string path;    ///< "/4.1"
  std::string camera;  ///< the name of the data set of frames
  Index count = 0;
};

/// Adds what an entry says about the scan.
void read_bliss_config(const hdf5::File& file, const std::string& entry, BlissConfig& config);

/// The numbers of entries whose views a later entry has again, at the same angles and within the same height,
/// as after a first try; a note tells each. @throws FileError if the later one has only some of these angles
std::vector<std::size_t> repeated_bliss_entries(const hdf5::File& file, const BlissConfig& config,
                                                const std::vector<BlissFrames>& views, double same_height_mm,
                                                std::vector<std::string>& notes);

/// Reads angles and translations of the views, and times of exposure of all frames. @throws FileError if it
/// is not clear which motor turns, or if the sample moves along the axis
void read_bliss_frames(const hdf5::File& file, const BlissConfig& config,
                       const std::vector<BlissFrames>& views, const OpenOptions& options, Acquisition& found);

/// The time of exposure, s, of each frame of some entries; empty unless all of them have it.
std::vector<double> bliss_exposures(const hdf5::File& file, const std::vector<BlissFrames>& entries,
                                    std::vector<std::string>& notes);

}  // namespace tandem::io
