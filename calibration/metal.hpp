#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "../operators/mend.hpp"

namespace tandem::calibration {

/// Whether a scan has metal, and what becomes of the line integrals behind it.
enum class MetalVerdict {
  none,        ///< no voxel is that dense
  mended,      ///< line integrals behind metal are replaced
  left,        ///< with them replaced, projections would agree less, so nothing is changed
  too_much,    ///< more than half of all rays meet metal
  no_material  ///< nothing in the volume stands out from its noise
};
std::string_view name_of(MetalVerdict verdict);

/// How metal was looked for, and what was found.
struct MetalSearch {
  MetalVerdict verdict = MetalVerdict::none;
  double main = 0;       ///< attenuation of the main material, in the unit of the volume
  double threshold = 0;  ///< attenuation from which on a voxel is metal
  double voxel = 0;      ///< width of the voxels, in the unit of length
  Index voxels = 0;      ///< voxels of metal
  double share = 0;      ///< share of the rays that meet metal
  /// `ViewMoments::misfit` with the best curve, as measured and mended, if rows could tell.
  std::optional<double> before{}, after{};
};

/// How a first volume is looked at.
struct FirstLook {
  double finest = 1;  ///< pitch of the bins that will be mended, where they appear at the axis
  bool at_metal = true;
  std::optional<double> threshold{};  ///< attenuation of metal; none: five times that of the main material
};

/// What a first volume has.
struct FirstVolume {
  MetalSearch search{};
  std::optional<MetalFound> metal{};  ///< none unless the verdict is `mended`
  std::optional<Array>
      dense{};  ///< denser parts of the sample, without metal, 0 elsewhere; none: there are none
};

/// Looks for metal in line integrals (view, row, bin) of wide cells, and finds what the volume would be
/// without it, by two rounds of normalised metal artefact reduction; and which parts are denser than 1.5
/// times the main material. Method and limits: docs/preprocessing.md.
FirstVolume look_at_first_volume(Array lines, const Scan& scan, const VolumeGrid& grid, const FirstLook& how,
                                 Device device);

/// The attenuation of the main material, from smoothed voxels: the median of all that is
/// more than half of it, found step by step. 0: nothing stands out from noise.
double main_attenuation(std::vector<float> smooth);

}  // namespace tandem::calibration
