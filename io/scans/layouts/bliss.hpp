#pragma once

// The parts of the reader of BLISS files. Used only within io/.

#include <string>
#include <vector>

#include "../frame_source.hpp"

namespace tandem::io {

/// What `technique/tomoconfig` says: names of motors and of the camera, each perhaps with an alias. Letters
/// are those of the ESRF: x along the beam, y across it, z up.
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

/// Adds what an entry says of the scan.
void read_bliss_config(const hdf5::File& file, const std::string& entry, BlissConfig& config);

/// Angles and translations of the views, and times of exposure of all frames. @throws FileError if it is not
/// clear which motor turns, or if the sample moves along the axis
void read_bliss_frames(const hdf5::File& file, const BlissConfig& config,
                       const std::vector<BlissFrames>& views, const OpenOptions& options, Acquisition& found);

/// How long each frame of some entries was exposed, in s; empty unless all of them say it.
std::vector<double> bliss_exposures(const hdf5::File& file, const std::vector<BlissFrames>& entries,
                                    std::vector<std::string>& notes);

}  // namespace tandem::io
