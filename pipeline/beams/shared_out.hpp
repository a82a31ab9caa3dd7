#pragma once

// How several devices or ranks share one problem whose slices rays cross, for all kinds of beam that have
// such problems. Used only within this folder.

#include <algorithm>
#include <functional>
#include <string>

#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../plan/plan.hpp"

namespace tandem::pipeline {

/// The memory of the kernels of one device, with what a team needs to add up its copies of a volume.
inline WorkingMemory with_sums_of_team(WorkingMemory memory, Device device, Shape volume) {
  if (const int members = device.members(); members > 1)  // see `add_copies`
    memory.backward = std::max(memory.backward, 4.0 * (volume[0] * volume[1] * volume[2]) / members);
  return memory;
}

// Vectors lie on the host, and the devices of a flow get tiles of them.

std::string words_of_tiles(const Flow& flow);
/// No memory beside the vectors: tiles on devices keep within their own budget.
WorkingMemory tiles_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections);

template <class Beam>
LinearOperator tiled(const Flow& flow, const Beam& scan, const VolumeGrid& grid,
                     const std::function<void()>& on_tile) {
  const auto before_each = [on_tile](Device) {
    if (on_tile) on_tile();
  };
  return tiled_projector(scan, grid, flow.active_devices, flow.memory.device,
                         {std::get<WholeSizes>(flow.sizes).tiles, before_each});
}

// Vectors are split over ranks. Each rank projects onto its own views.

std::string words_of_ranks(const Flow& flow);

/// The space of the projections of this rank's views.
template <class Beam>
Space portion_of(const Beam& scan, Range own, Device device) {
  return projection_space(scan, device).portion(0, own.first, own.last);
}

/// The projector of vectors that are split over ranks. A rank without views makes no part.
template <class Beam>
LinearOperator split(const Flow& flow, Device device, const Beam& scan, Range own, const VolumeGrid& grid) {
  const auto of_part = [scan, own, device](const VolumeGrid& lines) {
    return projector(crop(scan, own), lines, Model::separable_footprint, device);
  };
  return rank_projector(flow.shared.vectors, {.grid = grid,
                                              .projections = portion_of(scan, own, device),
                                              .lines_at_once = std::get<RankSizes>(flow.sizes).part_lines,
                                              .of_part = of_part,
                                              .lines_together = lines_together(scan)});
}

}  // namespace tandem::pipeline
