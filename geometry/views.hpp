#pragma once

#include <vector>

#include "../core/execution.hpp"
#include "../core/kept_on_devices.hpp"
#include "beams/cone.hpp"
#include "beams/parallel.hpp"

namespace tandem {

/// How Model::hierarchical interpolates views along the rows of a cone beam, which no filter touches: as
/// exactly as it can, or for FDK as footprints do on average, so that pictures by both are alike.
enum class AlongRows { exactly, as_footprints };

/// One view of a parallel beam in units of the grid. Pixel (ix, iy) falls on bin h = origin + step_x ix +
/// step_y iy. Its coefficient with bin b is a hat, max(0, height - slope |h - b|), times
/// `ParallelViews::scale`.
struct ParallelView {
  double origin, step_x, step_y;
  float height, slope;
};

struct ParallelViews {
  std::vector<ParallelView> views;
  float scale;     ///< mm; coefficients of A are scale times the hat
  int half_width;  ///< how many bins a hat can reach on each side: 1 if its radius is at most one bin
  KeptOnDevices kept{};
};

/// The views of a scan as plain data for the kernels. Both models have hats of the same area, pitch^2 /
/// bin_pitch. The pixel-driven hat has a radius of one bin (Chilingaryan et al. 2018, section II), the hat of
/// Joseph a radius of max(|cos|, |sin|) pitch (Joseph 1982, written as a gather). @throws GeometryError
/// unless the grid has one slice per row, and for models without hats.
ParallelViews pack(const ParallelBeam& scan, const VolumeGrid& grid, Model model);

/// A cone beam and a grid as plain numbers for the kernels, in mm and bins.
struct ConeFrame {
  double sod, sdd, axis_bin, midplane_row, bin_pitch, row_pitch;
  double x0, y0, z0;      ///< place of voxel (0, 0, 0)
  double pitch, pitch_z;  ///< pitches of voxels
};

/// One view of a cone beam whose columns of cells are parallel to z, as seen from a frame in which its source
/// lies at (sod sin, -sod cos, 0) and bins run along (cos, sin, 0). The pitches are those of all views.
struct ConeView : ConeFrame {
  double cos, sin;
};

struct ConeViews : ConeFrame {
  std::vector<ConeView> views;
  bool circular = true;  ///< whether all views have this frame; else it is that of the first one
  KeptOnDevices kept{};
};

/// @throws GeometryError unless all voxels are on the detector's side of the source. For the models that
/// interpolate, the neighbours of the voxels must be there too.
ConeViews pack(const ConeBeam& scan, const VolumeGrid& grid, Model model = Model::separable_footprint);

}  // namespace tandem
