#include "same_grid.hpp"

#include <string>

#include "../../core/error.hpp"

namespace tandem::pipeline {

std::unique_ptr<io::VolumeReader> open_on_grid(const Job& job, const std::filesystem::path& path,
                                               const char* what, bool any_external) {
  auto volume = std::make_unique<io::VolumeReader>(path, any_external);
  volume->require_complete();
  const Shape n = volume->shape(), shape = job.grid.shape();
  require<FileError>(n == shape, path.string(), ": ", what, " has ", n[0], " x ", n[1], " x ", n[2],
                     " voxels (z, y, x); the reconstruction has ", shape[0], " x ", shape[1], " x ",
                     shape[2]);
  if (const auto place = volume->place())
    if (const std::string amiss = io::difference(*place, job.place()); !amiss.empty())
      throw FileError(path.string() + ": " + what + " is on another grid than the reconstruction: " + amiss);
  return volume;
}

}  // namespace tandem::pipeline
