#pragma once

#include <filesystem>
#include <memory>

#include "../../io/volumes/volume_file.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// Opens a complete volume that lies on the grid of the plan, as far as its file says where it lies. `what`
/// is the option that names it; for `any_external` see io::VolumeReader. @throws FileError
std::unique_ptr<io::VolumeReader> open_on_grid(const Job& job, const std::filesystem::path& path,
                                               const char* what, bool any_external);

}  // namespace tandem::pipeline
