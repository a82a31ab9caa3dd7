#pragma once

#include <filesystem>

#include "../io/volumes/volume_file.hpp"
#include "rates.hpp"
#include "station_work.hpp"

namespace tandem::pipeline {

// Each trial runs a small part of the work for a few tenths of a second, by the code that does the whole
// work. `works` is the work of the whole run, and its kinds name what is measured.

/// Reads a part of the first chunk. @throws FileError
Rates try_reading(io::ScanReader& reader, const Plan& plan, const std::vector<StationWork>& works);

/// Makes some slices from some views of invented counts, beginning with preprocessing. @throws Error
Rates try_computing(const io::ScanInfo& info, const Plan& plan, const std::vector<StationWork>& works);

/// Writes some slices of noise as a volume into a hidden folder in `folder`, and removes it again. `ending`:
/// the ending of the volume's name. @throws FileError
Rates try_writing(const std::filesystem::path& folder, const std::string& ending, io::VolumeFormat format,
                  const Plan& plan, const std::vector<StationWork>& works);

}  // namespace tandem::pipeline
