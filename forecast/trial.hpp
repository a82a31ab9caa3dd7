#pragma once

#include <filesystem>

#include "../io/volumes/volume_file.hpp"
#include "forecast.hpp"

namespace tandem::pipeline {

/// The rates that a small part of a plan tells: some slices are made from some views for a few tenths of a
/// second, and written as a volume into a hidden folder, which is removed again. `works`: the work of the
/// whole, whose kinds name what is measured; `volume`: the file of the whole. @throws Error
Rates try_part(io::ScanReader& reader, const Plan& plan, const std::vector<StationWork>& works,
               const std::filesystem::path& volume, io::VolumeFormat format);

}  // namespace tandem::pipeline
