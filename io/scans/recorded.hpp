#pragma once

// What an HDF5 file says beside its frames. Each single fact may be missing, or of another kind. A fact that
// is there and cannot be used is left out with a note. Used only within io/.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../hdf5/hdf5.hpp"

namespace tandem::io {

/// One finite number, or several that are all the same.
std::optional<double> recorded_number(const hdf5::File& file, const std::string& path,
                                      std::vector<std::string>& notes);

/// All numbers of a data set of at most one axis, if they are finite; else empty.
std::vector<double> recorded_numbers(const hdf5::File& file, const std::string& path,
                                     std::vector<std::string>& notes);

/// A number for each frame; a single number stands for all `frames`. Empty if there is none, or another
/// count.
std::vector<double> recorded_of_frames(const hdf5::File& file, const std::string& path, Index frames,
                                       std::vector<std::string>& notes);

/// A length in mm, from its @units or from `default_unit` if there are none. Lengths that no scanner has,
/// below 0.01 nm or above 10 km, are left out.
std::optional<double> length_mm(const hdf5::File& file, const std::string& path,
                                const std::string& default_unit, std::vector<std::string>& notes);

/// The pitch of a detector or of voxels, in mm, read in the same way. It is at most 100 mm.
std::optional<double> pitch_mm(const hdf5::File& file, const std::string& path,
                               const std::string& default_unit, std::vector<std::string>& notes);

/// An energy in keV, from its @units or in keV.
std::optional<double> energy_kev(const hdf5::File& file, const std::string& path,
                                 std::vector<std::string>& notes);

/// The values of the keys below a group as text, for `heed`: numbers that are all the same as one, a
/// boolean as 0 or 1.
std::function<std::optional<std::string>(std::string_view key)> values_in(const hdf5::File& file,
                                                                          const std::string& group);

/// Notes where the frames lie if an absolute link leads there, because the file cannot be moved then.
void note_absolute_link(const hdf5::File& file, const std::string& path, std::vector<std::string>& notes);

}  // namespace tandem::io
