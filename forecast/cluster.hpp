#pragma once

#include "../geometry/scan.hpp"
#include "../geometry/volume_grid.hpp"
#include "../operators/tiling.hpp"
#include "../pipeline/methods/method.hpp"
#include "../solvers/cost.hpp"

namespace tandem::pipeline {

/// Machines that need not be here: so many ranks with one device each, and what these do.
struct Cluster {
  int ranks = 1;
  double device_bytes = 0;           ///< memory of each device
  double forward = 0, backward = 0;  ///< kernels of one device: voxels times views a second
  double link = 0;                   ///< bytes a second that a rank sends, while it receives as many
};

/// What a solver of a cone or flexible beam takes on each rank, in the layout of
/// operators/distributed/rank_projector. Shares are those of the first rank, which has the most.
struct RankForecast {
  Index lines = 0, views = 0;         ///< of the volume along y, and of the scan
  Index lines_at_once = 0;            ///< that travel together
  double vectors = 0;                 ///< bytes of a device: those of the solver
  double bytes = 0;                   ///< and with parts that travel, and what kernels take
  double sent = 0;                    ///< bytes in each step
  double computing = 0, sending = 0;  ///< seconds of a step, if the other one took no time
  double seconds = 0;                 ///< of a step: parts travel while others are worked on
};

/// What a rank sends to others in so many applications of the pair (operators/distributed/rank_projector),
/// bytes. `together`: the lines of the beam that stay together (operators/projector.hpp).
double bytes_sent(const Applications& some, const VolumeGrid& grid, int rank, int ranks, Index together = 1);
/// The same of the gradient (operators/gradient).
double bytes_sent_by_gradients(const Applications& some, const VolumeGrid& grid, int rank, int ranks,
                               Index together = 1);

/// Pure arithmetic. It leaves out passes over vectors, inner products, reading and writing. `kernels`: what
/// they take beside a part of the volume and views. @throws DeviceError if not even the fewest lines at a
/// time fit a device; GeometryError unless there are ranks, and rates are above zero
RankForecast forecast_of_rank(const Scan& scan, const VolumeGrid& grid, const SolverCost& cost,
                              const Cluster& cluster, const TileMemory& kernels);

/// Bytes that a rank sends to others, by plan.
struct PlannedTraffic {
  double before_steps = 0, a_step = 0;
};

/// What a solver over ranks sends for its strips, sums and planes of gradients
/// (operators/distributed/rank_projector): for each subset of views the whole volume goes round. Pure
/// arithmetic. It leaves out what depends on the data: the search of a weight, gaps, and an objective for the
/// report.
PlannedTraffic planned_traffic(const Method& method, const MethodOptions& options, const VolumeGrid& grid,
                               int rank, int ranks, Index together = 1);

}  // namespace tandem::pipeline
