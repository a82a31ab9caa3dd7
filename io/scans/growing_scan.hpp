#pragma once

#include <memory>
#include <optional>
#include <string>

#include "scan_reader.hpp"

namespace tandem::io {

/// A scan that another program is writing, so that each look may find more views. `info` describes the whole
/// scan, with an angle for each planned view. Angles that are not known yet go on in equal steps. Flats and
/// darks are those of the beginning.
class GrowingScan : public ScanReader {
 public:
  /// Looks again. Returns how many views are there with their angles. @throws FileError if there are fewer
  /// than before, if it is gone, or if another file or folder has the name now
  virtual Index look() = 0;
  virtual Index planned() const = 0;             ///< how many views the scan will have
  virtual Index angles_known() const = 0;        ///< how many views, from the first one, have known angles
  virtual Index unplanned() const { return 0; }  ///< how many views more than planned are there
  virtual std::string next() const = 0;          ///< why the next view does not count; may be empty
};

/// Opens a scan that is being written, with one view or more. It may be an HDF5 file that a program writes in
/// SWMR mode, or one that a program closes after some views. Its views are in chunks, and a view is there if
/// the data set is long enough and its chunks are stored. Or it is a folder that fills with TIFF images in
/// the order of their names.
///
/// `planned` is the number of views that there will be. If it is empty, the number comes from the angles that
/// the user gives, or from the largest size that the data sets of angles or of views can have. @throws
/// FileError if the path is no such scan, or not yet; GeometryError
std::unique_ptr<GrowingScan> open_growing_scan(const std::filesystem::path& path, const OpenOptions& options,
                                               std::optional<Index> planned = {});

}  // namespace tandem::io
