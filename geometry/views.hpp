#pragma once

#include <vector>

#include "../core/public.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// How a voxel's shadow is drawn on the detector (maths: docs/kernels.md).
enum class Model { pixel_driven, joseph, separable_footprint };

/// One view of a parallel beam in grid units: pixel (ix, iy) falls on bin h = origin + step_x ix + step_y iy,
/// and its coefficient with bin b is a hat, max(0, height - slope |h - b|), times `ParallelViews::scale`.
struct ParallelView {
  double origin, step_x, step_y;
  float height, slope;
};

struct ParallelViews {
  std::vector<ParallelView> views;
  float scale;     ///< mm: coefficients of A are scale times the hat
  int half_width;  ///< bins on each side that a hat can reach: 1 where its radius is at most one bin
};

/// Plain data for the kernels. Both models have hats of the same area, pitch^2 / bin_pitch:
/// pixel-driven has radius one bin (Chilingaryan et al. 2018, section II), Joseph's radius is
/// max(|cos|, |sin|) pitch (Joseph 1982, written as a gather). @throws GeometryError unless the grid has one
/// slice a row, and for the separable footprint, a model of cone beams.
ParallelViews pack(const ParallelBeam& scan, const VolumeGrid& grid, Model model);

/// A cone beam and a grid as kernels want them: plain numbers, mm and bins.
struct ConeFrame {
  double sod, sdd, axis_bin, midplane_row, bin_pitch, row_pitch;
  double x0, y0, z0;      ///< of voxel (0, 0, 0)
  double pitch, pitch_z;  ///< of voxels
};

/// Of its angle.
struct ConeView {
  double cos, sin;
};

struct ConeViews : ConeFrame {
  std::vector<ConeView> views;
};

/// @throws GeometryError unless all voxels are on the detector's side of the source; for the models that
/// interpolate, with their neighbours.
ConeViews pack(const ConeBeam& scan, const VolumeGrid& grid, Model model = Model::separable_footprint);

}  // namespace tandem
