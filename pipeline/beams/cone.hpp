#pragma once

#include "placement.hpp"

namespace tandem::pipeline {

constexpr Model cone_model = Model::separable_footprint;

/// The voxels of a grid as the projector of a cone or fan beam sees them, and as FDK does.
VolumeGrid seen_by_projector(const Scan& scan, const VolumeGrid& grid);
VolumeGrid seen_by_fdk(const Scan& scan, const VolumeGrid& grid);

/// The operator F of vectors that are whole.
std::optional<LinearOperator> cone_ramp(const Flow& flow, const Filter& how, const Problem& problem);

/// Placements of cone and fan beams, which share a problem out in several ways.
extern const Placement cone_on_devices, cone_in_tiles, cone_over_ranks;
/// @throws DeviceError if the tiles of the plan do not fit its devices
void require_cone_tiles(const Plan& plan);

}  // namespace tandem::pipeline
