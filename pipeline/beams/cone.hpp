#pragma once

#include "placement.hpp"

namespace tandem::pipeline {

constexpr Model cone_model = Model::separable_footprint;

/// The grid as the projector of a cone or fan beam takes it; and as FDK takes it.
VolumeGrid seen_by_projector(const Scan& scan, const VolumeGrid& grid);
VolumeGrid seen_by_fdk(const Scan& scan, const VolumeGrid& grid);

/// The operator F for vectors that are not split.
std::optional<LinearOperator> cone_ramp(const Flow& flow, const Filter& how, const Problem& problem);

/// The placements of cone and fan beams.
extern const Placement cone_on_devices, cone_in_tiles, cone_over_ranks;
/// @throws DeviceError if the tiles of the plan do not fit its devices
void require_cone_tiles(const Plan& plan);

}  // namespace tandem::pipeline
