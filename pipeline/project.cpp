#include "project.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../operators/algebra.hpp"
#include "beams/row_axes.hpp"

namespace tandem::pipeline {

namespace {

/// Rows, and the slices that fall on them. There may be none, if the volume ends before the detector.
struct Part {
  Range rows, slices;
};

/// All rows, in parts that fit into memory. If rays cross slices, the only part has all slices and all rows.
std::vector<Part> parts_of(const ProjectedScan& projection) {
  const Index rows = detector_of(projection.scan).rows, slices = projection.grid.size[2];
  if (!rows_are_slices(projection.scan)) return {{{0, rows}, {0, slices}}};
  const Index low = std::max<Index>(0, projection.first_row),
              high = std::min(rows, projection.first_row + slices);
  std::vector<Part> parts;
  for (const Range range : {Range{0, low}, Range{low, high}, Range{high, rows}})
    for (Index row = range.first; row < range.last; row += 64) {
      const Range some{row, std::min(range.last, row + 64)};
      const bool met = range.first == low && low < high;
      parts.push_back({some, met ? Range{some.first - projection.first_row, some.last - projection.first_row}
                                 : Range{0, 0}});
    }
  return parts;
}

Scan scan_of(const ProjectedScan& projection, const Part& part) {
  if (!rows_are_slices(projection.scan)) return projection.scan;
  const Index views = views_of(projection.scan);
  return crop(projection.scan, {0, views}, part.rows, {0, detector_of(projection.scan).bins});
}

/// Frames of transmissions exp(-y), as a noise-free simulation writes them; or of a constant, for flats (1)
/// and darks (0).
io::Frames frames_of(const Array* lines, Shape shape, float constant) {
  io::Frames frames{io::PixelType::float32, shape, {}};
  frames.bytes.resize(shape[0] * shape[1] * shape[2] * sizeof(float));
  std::vector<float> values(frames.bytes.size() / sizeof(float), constant);
  if (lines)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::exp(-lines->data()[i]);
  std::memcpy(frames.bytes.data(), values.data(), frames.bytes.size());
  return frames;
}

/// The line integrals of a part; empty if no slice falls on its rows.
std::optional<Array> lines_of(const ProjectedScan& projection, const Part& part, std::optional<Model> model,
                              io::VolumeReader& volume) {
  if (part.slices.size() == 0) return std::nullopt;
  const VolumeGrid& grid = projection.grid;
  const VolumeGrid slab = region(grid, {0, grid.size[0]}, {0, grid.size[1]}, part.slices);
  const LinearOperator A = projector_onto_rows(scan_of(projection, part), slab, model);
  Array x(A.domain());
  volume.read(part.slices, x.data());
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(projection.attenuation * x.data()[i]);
  return A * x;
}

}  // namespace

void place_slices(ProjectedScan& projection, bool placed) {
  const Detector& d = detector_of(projection.scan);
  const VolumeGrid& g = projection.grid;
  require<GeometryError>(placed || d.rows == g.size[2], "project: ", d.rows, " rows for ", g.size[2],
                         " slices; a parallel beam has one row per slice");
  if (!placed) return;
  constexpr double exact = 1e-3;  // rows
  const double pitches = g.pitch[2] / d.row_pitch;
  require<GeometryError>(
      std::abs(pitches - 1) * g.size[2] <= exact, "project: slices are ", pitches,
      " rows apart; in a parallel beam each slice is a row, so give a scan with their pitch");
  const double row = g.z(0) / d.row_pitch + 0.5 * (d.rows - 1);
  const double last = row + g.size[2] - 1;
  require<GeometryError>(last > -0.5 && row < d.rows - 0.5, "project: the slices fall on rows ", row, " to ",
                         last, ", the detector has 0 to ", d.rows - 1,
                         "; leave out " + spelled("rows") + " to have one row per slice");
  require<GeometryError>(std::abs(row - std::round(row)) <= exact, "project: slice 0 falls on row ", row,
                         ", between two rows; a parallel beam needs slices on rows");
  projection.first_row = std::lround(row);
}

void project(const ProjectedScan& projection, std::optional<Model> model, io::VolumeReader& volume,
             io::ScanWriter& writer, const OnProgress& progress) {
  const Detector& d = detector_of(projection.scan);
  const Index views = views_of(projection.scan);
  const auto tell = [&](Index rows) {
    if (progress) progress({"project", 1.0 * rows, 1.0 * d.rows, ""});
  };
  for (const Part& part : parts_of(projection)) {
    const Range rows = part.rows;
    tell(rows.first);
    const std::optional<Array> y = lines_of(projection, part, model, volume);
    writer.write(io::FrameKind::projection, rows,
                 frames_of(y ? &*y : nullptr, {views, rows.size(), d.bins}, 1));
    writer.write(io::FrameKind::flat, rows, frames_of(nullptr, {1, rows.size(), d.bins}, 1));
    writer.write(io::FrameKind::dark, rows, frames_of(nullptr, {1, rows.size(), d.bins}, 0));
    tell(rows.last);
  }
}

}  // namespace tandem::pipeline
