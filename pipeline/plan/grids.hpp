#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "../../io/volumes/volume_file.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// What is asked for, or all of them.
Range whole_or(const std::optional<Range>& asked, Index count);

/// Decides which voxels are written, on which voxels the method works, and which rows are read for them.
/// `whole`: the scan of the file, of which the plan has the selected views, rows and bins. @throws
/// GeometryError if the recipe makes no sense for this scan
void choose_grids(Job& job, const Recipe& recipe, std::optional<io::FieldOfView> field, const Scan& whole);

/// Whether the lowest and the highest row see more, beside the axis, than a solver has slices for.
std::array<bool, 2> sees_beyond_slices(const Job& job);

/// The slices of `Job::solved` on which a method works to make these slices of `Job::grid`.
Range solved_slices(const Job& job, Range slices);

/// The first one of these slices in the volume that a method makes for them.
Index first_written(const Job& job, Range slices);

/// So many slices of a volume, (slice, y, x) with lines of `Job::solved`, from `first` on, with the lines of
/// `Job::grid`; on one device.
Array cut_out(const Job& job, Index first, Index slices, Array solved);

/// The other way round, on the host: puts slices that are written into a volume on the solved grid.
void put_in(const Job& job, Index first, const Array& written, Array& solved);

/// Opens a complete volume that lies on this grid, as far as its file says where it lies. `what`
/// is the option that names it; for `any_external` see io::VolumeReader. @throws FileError
std::unique_ptr<io::VolumeReader> open_on_grid(const io::VolumePlace& wanted,
                                               const std::filesystem::path& path, const char* what,
                                               bool any_external);

}  // namespace tandem::pipeline
