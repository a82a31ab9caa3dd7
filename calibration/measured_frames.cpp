#include "measured_frames.hpp"

#include <algorithm>

#include "../geometry/free_views.hpp"
#include "slices.hpp"

namespace tandem::calibration {

namespace {

/// Means of cells of a frame, (row, bin).
void bin_cells(std::span<const float> frame, Index bins, Index rows_joined, Index bins_joined,
               const FrameStack& stack, float* to) {
  const auto weight = 1 / static_cast<float>(rows_joined * bins_joined);
  std::fill_n(to, stack.rows * stack.bins, 0.0F);
  for (Index row = 0; row < stack.rows * rows_joined; ++row) {
    const float* from = frame.data() + row * bins;
    float* line = to + row / rows_joined * stack.bins;
    for (Index bin = 0; bin < stack.bins; ++bin)
      for (Index k = 0; k < bins_joined; ++k) line[bin] += weight * *from++;
  }
}

/// The grid of the slices of some scans: with an axis aside one of them may reach farther.
VolumeGrid widest_grid(std::initializer_list<const Scan*> scans) {
  std::vector<VolumeGrid> grids;
  for (const Scan* scan : scans) grids.push_back(fitting_grid(*scan));
  return *std::ranges::max_element(grids, {}, [](const VolumeGrid& grid) { return grid.size[0]; });
}

Scan with_own_slices(const Scan& scan) { return rows_are_slices(scan) ? Scan(as_free_views(scan)) : scan; }

}  // namespace

double row_of_axis(const Scan& scan) {
  const Detector& d = detector_of(scan);
  return rows_are_slices(scan) || d.rows == 1 ? 0.5 * (d.rows - 1) : point_source_of(scan).midplane_row;
}

Part part_of(const MeasuredFrames& measured, const Scan& scan, Index cells, Index most) {
  int level = 0;
  while ((cells >> level) > most) ++level;
  const auto& [whole, views, rows, bins, each, axis_known] = measured;
  Part part{measured, level, bin_down(crop(scan, views, rows, bins), level, true)};
  const Detector& d = detector_of(part.scan);
  const bool has_axis = axis_of(scan).has_value();
  part.frames = {{},     d.rows,
                 d.bins, has_axis ? angles_of(part.scan) : std::vector<double>(views.size(), 0),
                 0,      d.row_pitch / d.bin_pitch};
  FrameStack& frames = part.frames;
  if (has_axis && !rows_are_slices(scan)) frames.bin_angle = d.bin_pitch / point_source_of(part.scan).sdd;
  part.row = has_axis ? row_of_axis(part.scan) : 0.5 * (d.rows - 1);
  frames.values.resize(views.size() * d.rows * d.bins);
  each([&, rows_joined = rows_together(rows.size(), level), count = bins.size()](
           std::size_t view, std::span<const float> frame) {
    bin_cells(frame, count, rows_joined, Index{1} << level, frames,
              frames.values.data() + view * frames.rows * frames.bins);
  });
  part.laps.end("read");
  return part;
}

void show_slices(Found& found, Part& part, const Scan& before, const Scan& after, const How& how,
                 const std::string& caption) {
  found.facts.push_back({"device", how.device.name()});
  found.laps = part.laps;
  if (!how.slices) return;
  how.watch("make slices", 0, 1, "slices");
  const std::array scans{with_own_slices(before), with_own_slices(after)};
  const std::array captions{std::string("as the scan says"), caption};
  const VolumeGrid grid = widest_grid({&part.scan, &scans[0], &scans[1]});
  std::vector<double> heights{grid.centre[2]};
  if (!few_rows(part.frames)) heights.push_back(grid.centre[2] + grid.size[2] * grid.pitch[2] / 3);
  const std::size_t pixels = grid.size[0] * grid.size[1];
  found.slices.resize(2 * heights.size());
  for (const std::size_t k : {0, 1}) {
    const std::vector<float> all = slices_of(part.frames, scans[k], grid, heights, how.device);
    for (std::size_t slice = 0; slice < heights.size(); ++slice) {
      const auto first = all.begin() + slice * pixels;
      found.slices[2 * slice + k] = {grid.size[0],
                                     grid.size[1],
                                     {first, first + pixels},
                                     captions[k] + (slice == 0 ? "" : ", higher up")};
    }
  }
  found.laps.end("pictures");
}

}  // namespace tandem::calibration
