#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "../../io/volumes/volume_file.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// The range that is asked for, or [0, count).
Range whole_or(const std::optional<Range>& asked, Index count);

/// Decides which voxels are written, on which voxels the method works, and which rows are read for them.
/// `whole` is the scan of the file, before views, rows and bins are selected. @throws GeometryError if the
/// recipe makes no sense for this scan
void choose_grids(Job& job, const Recipe& recipe, std::optional<io::FieldOfView> field, const Scan& whole);

/// The rows of the job's scan that some slices of a grid need; none if no ray meets these.
Range rows_needed(const Job& job, const VolumeGrid& grid, Range slices);

/// Whether rays see points below, and above, the slices of a solver, within the width of its grid.
std::array<bool, 2> sees_beyond_slices(const Job& job);

/// The slices of `Job::solved` on which a method works to make these slices of `Job::grid`.
Range solved_slices(const Job& job, Range slices);

/// The first one of these slices in the volume that a method makes for them.
Index first_written(const Job& job, Range slices);

/// Some slices of a volume, from `first` on, cut from the lines of `Job::solved` to those of `Job::grid`.
/// The volume is (slice, y, x) on one device.
Array cut_out(const Job& job, Index first, Index slices, Array solved);

/// Makes zeros of those of some slices that no ray meets: a filter has rows beyond the detector, too.
void clear_unmet(const Job& job, Range slices, Array& volume);

/// Does the reverse on the host: puts slices of `Job::grid` into a volume on `Job::solved`.
void put_in(const Job& job, Index first, const Array& written, Array& solved);

/// Opens a complete volume, and checks that it lies on this grid if its file says where it lies. `what` is
/// the option that names the volume; for `any_external` see io::VolumeReader. @throws FileError
std::unique_ptr<io::VolumeReader> open_on_grid(const io::VolumePlace& wanted,
                                               const std::filesystem::path& path, const std::string& what,
                                               bool any_external);

}  // namespace tandem::pipeline
