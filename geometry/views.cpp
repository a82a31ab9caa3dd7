#include "views.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/rounding.hpp"

namespace tandem {

ParallelViews pack(const ParallelBeam& scan, const VolumeGrid& grid, Model model) {
  validate(scan);
  validate(grid);
  const Detector& d = scan.detector;
  require<GeometryError>(grid.size[2] == d.rows, "VolumeGrid: ", grid.size[2], " slices for ", d.rows,
                         " detector rows; a parallel beam has one slice per row");
  require<GeometryError>(model == Model::pixel_driven || model == Model::joseph,
                         "ParallelBeam: only pixel_driven and joseph have hats; ", name_of(model),
                         " is a model of cone beams");
  const double pixels_per_bin = d.bin_pitch / grid.pitch[0];
  ParallelViews packed{{}, static_cast<float>(grid.pitch[0] / pixels_per_bin), 1};
  for (std::size_t v = 0; v < scan.angles.size(); ++v) {
    const double c = std::cos(scan.angles[v]), s = std::sin(scan.angles[v]);
    const double middle = d.axis_bin + scan.shift_of(v);
    // radius of the hat in bins; its area is one bin, times the scale
    const double radius =
        model == Model::pixel_driven ? 1.0 : std::max(std::abs(c), std::abs(s)) / pixels_per_bin;
    packed.views.push_back({middle + (grid.x(0) * c + grid.y(0) * s) / d.bin_pitch, c / pixels_per_bin,
                            s / pixels_per_bin, static_cast<float>(1 / radius),
                            static_cast<float>(1 / (radius * radius))});
    packed.half_width = std::max(packed.half_width, ceil_int(radius));
  }
  return packed;
}

ConeViews pack(const ConeBeam& scan, const VolumeGrid& grid, Model model) {
  validate(scan);
  validate(grid);
  // models that interpolate reach to the neighbours of the last voxels
  require_source_outside(scan, grid, model == Model::separable_footprint ? 0.5 : 1);
  const Detector& d = scan.detector;
  ConeViews packed{{scan.sod, scan.sdd, d.axis_bin, scan.midplane_row, d.bin_pitch, d.row_pitch, grid.x(0),
                    grid.y(0), grid.z(0), grid.pitch[0], grid.pitch[2]},
                   {}};
  for (double angle : scan.angles)
    packed.views.push_back({static_cast<const ConeFrame&>(packed), std::cos(angle), std::sin(angle)});
  return packed;
}

}  // namespace tandem
