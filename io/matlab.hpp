#pragma once

// Arrays of numbers in MATLAB files. Used only within io/.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

/// An array, as MATLAB has it: the first axis is the fastest in memory.
struct MatArray {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// The arrays of a file by their names. The fields of a structure have names such as
/// "CtData.parameters.angles".
using MatVariables = std::map<std::string, MatArray>;

/// Reads a file of level 5 (save -v6 and -v7). What holds no numbers is left out. @throws FileError
MatVariables read_mat5(const std::filesystem::path& path);

/// The sinogram of one plane among variables: `sinogram` of views x bins, and beside it, or in a structure
/// `parameters` beside it, `angles` in degrees, distanceSourceOrigin, distanceSourceDetector and
/// pixelSizePost or pixelSize in mm, as the University of Helsinki publishes them. Its angles are those of
/// ASTRA and of tandem. Empty if there is no such variable. @throws FileError
std::optional<Acquisition> sinogram_in(const MatVariables& variables, const std::string& where);

}  // namespace tandem::io
