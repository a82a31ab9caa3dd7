#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::io {

/// What the file of a scan says of sample and beam, for the volumes that are made from it. Texts are empty
/// where it says nothing.
struct ScanOrigin {
  std::string file = {};  ///< the name of the scan
  std::string title = {}, sample = {}, instrument = {}, source = {}, probe = {};
  std::optional<double> energy_kev = {};  ///< of photons, if the file gives it with a unit

  /// The texts that are there, by their names.
  std::vector<std::pair<std::string, std::string>> texts() const;
};

/// Looks into an HDF5 file where DXchange and NeXus keep these; of other files it knows the name alone.
/// Whatever cannot be read is left out.
ScanOrigin origin_of(const std::filesystem::path& scan);

}  // namespace tandem::io
