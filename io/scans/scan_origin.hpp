#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::io {

/// What the file of a scan says about sample and beam, for the volumes that are made from it. A text is empty
/// if the file does not say it.
struct ScanOrigin {
  std::string file = {};  ///< the name of the scan
  std::string title = {}, sample = {}, instrument = {}, source = {}, probe = {};
  std::optional<double> energy_kev = {};  ///< energy of photons, if the file gives it with a unit

  /// The texts that are there, by their names.
  std::vector<std::pair<std::string, std::string>> texts() const;
};

/// Looks into an HDF5 file where DXchange and NeXus keep these facts. For other files it knows only the name.
/// Facts that cannot be read are left out.
ScanOrigin origin_of(const std::filesystem::path& scan);

}  // namespace tandem::io
