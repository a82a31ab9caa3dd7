#pragma once

// The layouts of scans in HDF5 files. Used only within io/.

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "../fields.hpp"
#include "../frame_source.hpp"

namespace tandem::io {

/// A layout of HDF5 files. Each layout has its own file and a line in table.cpp.
struct Layout {
  std::string_view name;  ///< "NXtomo", as in ScanInfo
  /// What messages say that a file of this layout must have for each FrameKind; empty: they do not list it.
  std::array<std::string_view, 3> needed;
  std::span<const Field> fields;
  /// The scan of a file; empty if the file has another layout. @throws FileError
  std::optional<Acquisition> (*find)(const hdf5::File& file, const OpenOptions& options);
  /// The flats or darks of a file, which may have no views; empty if there are none. Null if such files are
  /// not read.
  FrameSources (*frames)(const hdf5::File& file, FrameKind kind) = nullptr;
  bool has_variables = false;  ///< whether OpenOptions::variable may name the scan
};

/// All layouts, in the order in which files are tried.
std::span<const Layout> layouts();

/// The scan in a file of any layout. @throws FileError
Acquisition acquisition_in(const hdf5::File& file, const OpenOptions& options);

/// The flats or darks in a file of any layout. @throws FileError, also if there are none
FrameSources frames_in(const hdf5::File& file, FrameKind kind);

/// A data set of the user. @throws FileError that lists those of the file, if it is not there
hdf5::DataSet data_set_named(const hdf5::File& file, const std::string& path);

/// The axes of a data set as DXchange names them, such as "theta:y:x", by its attribute or its
/// group's, also a list; empty if there is none.
std::optional<std::string> axes_named(const hdf5::File& file, const std::string& path);

/// The flats or darks in a data set of the user. With `lines`, each line of two axes is a frame, unless its
/// axes say otherwise. @throws FileError
std::unique_ptr<FrameSource> frames_named(const hdf5::File& file, const std::string& name, bool lines);

}  // namespace tandem::io
