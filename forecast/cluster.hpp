#pragma once

#include "../geometry/scan.hpp"
#include "../geometry/volume_grid.hpp"
#include "../operators/tiling.hpp"
#include "../pipeline/methods/method.hpp"
#include "../solvers/solver.hpp"

namespace tandem::pipeline {

/// Machines that need not exist here: a number of ranks with one device each, and their speed.
struct Cluster {
  int ranks = 1;
  double device_bytes = 0;           ///< memory of each device
  double forward = 0, backward = 0;  ///< speed of the kernels of one device: voxels times views per second
  double link = 0;                   ///< bytes per second that a rank sends while it receives as many
};

/// What a solver of a cone or flexible beam needs on each rank, in the layout of
/// operators/distributed/rank_projector. Shares are those of the first rank, which has the most.
struct RankForecast {
  Index lines = 0, views = 0;         ///< lines of the volume along y, and views of the scan
  Index lines_at_once = 0;            ///< lines that travel together
  double vectors = 0;                 ///< bytes of the solver's vectors on a device
  double bytes = 0;                   ///< bytes of all on a device, also of parts that travel and of kernels
  double sent = 0;                    ///< bytes that are sent in each step
  double computing = 0, sending = 0;  ///< seconds of a step if the other one took no time
  double seconds = 0;                 ///< seconds of a step, in which both go on at the same time
};

/// The bytes that a rank sends to others in these applications of the pair
/// (operators/distributed/rank_projector). `together`: the lines of the beam that stay together
/// (operators/projector.hpp).
double bytes_sent(const Applications& some, const VolumeGrid& grid, int rank, int ranks, Index together = 1);
/// The bytes that a rank sends in applications of the gradient (operators/gradient).
double bytes_sent_by_gradients(const Applications& some, const VolumeGrid& grid, int rank, int ranks,
                               Index together = 1);

/// The forecast for a rank, by pure arithmetic. It leaves out passes over vectors, inner products, reading
/// and writing. `kernels`: the memory of kernels beside a part of the volume and views. @throws DeviceError
/// if not even the fewest lines at a time fit a device; GeometryError unless there are ranks, and rates are
/// above zero
RankForecast forecast_of_rank(const Scan& scan, const VolumeGrid& grid, const SolverCost& cost,
                              const Cluster& cluster, const TileMemory& kernels);

/// The bytes that a rank sends to others, as planned.
struct PlannedTraffic {
  double before_steps = 0, a_step = 0;
};

/// The bytes that a solver over ranks sends for its strips, sums and planes of gradients
/// (operators/distributed/rank_projector), by pure arithmetic. For each subset of views the whole volume goes
/// round. It leaves out work that depends on the data: the search for a weight, gaps, and an objective for
/// the report.
PlannedTraffic planned_traffic(const Method& method, const Recipe& options, const VolumeGrid& grid, int rank,
                               int ranks, Index together = 1);

}  // namespace tandem::pipeline
