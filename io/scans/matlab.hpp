#pragma once

// Arrays of numbers in MATLAB files. Used only within io/.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frame_source.hpp"

namespace tandem::io {

/// An array of MATLAB, whose first axis is the fastest in memory.
struct MatArray {
  std::vector<Index> shape;
  std::vector<double> values;
};

constexpr Index most_numbers_of_arrays = Index{1} << 28;  ///< numbers of all arrays of a file: 2 GiB

/// The arrays of a file by their names. The fields of a structure have names such as
/// "CtData.parameters.angles".
using MatVariables = std::map<std::string, MatArray>;

/// Opens a file of level 5, which `is_mat5` recognises by its head. @throws FileError
bool is_mat5(const std::filesystem::path& path);
Acquisition open_mat5(const std::filesystem::path& path, const OpenOptions& options);
/// Its flats or darks: the variable `wanted`, or the only one of two axes, as an image or as lines. @throws
/// FileError
FrameSources mat5_frames(const std::filesystem::path& path, const std::string& wanted, bool lines);

/// Flats or darks of a v7.3 file: a variable of two axes, as an image or as lines. @throws FileError
FrameSources matlab_frames(const hdf5::File& file, const std::string& name, bool lines);

/// A variable of a file of level 5, STRUCTURE/FIELD too. @throws FileError
MatArray mat5_array(const std::filesystem::path& path, const std::string& name);

/// Reads a file of level 5 (save -v6 and -v7). Variables without numbers are left out, and arrays beyond
/// `most_numbers_of_arrays` have extents alone. @throws FileError
MatVariables read_mat5(const std::filesystem::path& path);

/// The sinogram of one plane among variables: the variable `wanted`, else `sinogram`, views x bins. Beside
/// it, or in a structure `parameters` beside it, are `angles` in degrees, and distanceSourceOrigin,
/// distanceSourceDetector and pixelSizePost or pixelSize in mm, as the University of Helsinki publishes them.
/// Its angles are those of ASTRA and of tandem. Empty if no variable is wanted and none is called `sinogram`.
/// @throws FileError, also if the wanted variable is not there
std::optional<Acquisition> sinogram_in(const MatVariables& variables, const std::string& where,
                                       const std::string& wanted);

/// The first few variables that may be sinograms, with their extents; "none" if there are none.
std::string planes_in(const MatVariables& variables);

}  // namespace tandem::io
