#include "cluster.hpp"

#include <algorithm>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../core/units.hpp"
#include "../operators/distributed/rank_projector.hpp"
#include "../operators/projector.hpp"

namespace tandem::pipeline {

namespace {

constexpr double float_bytes = 4;

double product(Index a, Index b, Index c) { return 1.0 * a * b * c; }

/// The seconds of an application in which every rank works on the strips one after the other, while the next
/// one travels.
double of_application(int ranks, double computing, double sending) {
  const double part = computing / ranks, way = ranks > 1 ? sending / (ranks - 1) : 0;
  return part + (ranks - 1) * std::max(part, way);
}

double bytes_of(const Applications& some, const LinesSent& lines, const VolumeGrid& grid) {
  return float_bytes *
         product(grid.size[0], some.forward * lines.forward + some.adjoint * lines.backward, grid.size[2]);
}

}  // namespace

double bytes_sent(const Applications& some, const VolumeGrid& grid, int rank, int ranks, Index together) {
  return bytes_of(some, lines_sent(grid.size[1], rank, ranks, together), grid);
}

double bytes_sent_by_gradients(const Applications& some, const VolumeGrid& grid, int rank, int ranks,
                               Index together) {
  return bytes_of(some, lines_sent_by_gradient(grid.size[1], rank, ranks, together), grid);
}

RankForecast forecast_of_rank(const Scan& scan, const VolumeGrid& grid, const SolverCost& cost,
                              const Cluster& cluster, const TileMemory& kernels) {
  require<GeometryError>(cluster.ranks > 0, spelled("ranks") + " ", cluster.ranks, ": give 1 or more");
  require<GeometryError>(cluster.forward > 0 && cluster.backward > 0 && cluster.link > 0,
                         "rates of kernels and links: one is zero or below; give numbers above zero");
  const Index nx = grid.size[0], ny = grid.size[1], nz = grid.size[2];
  const Index all_views = views_of(scan), together = lines_together(scan);
  RankForecast found;
  found.lines = portion_of_rank(ny, 0, cluster.ranks, together).size();
  found.views = portion_of_rank(all_views, 0, cluster.ranks).size();
  const auto part = [&](Index lines) { return float_bytes * product(nz, lines, nx); };
  const Shape projections{found.views, detector_of(scan).rows, detector_of(scan).bins};
  found.vectors = cost.volumes * part(found.lines) +
                  cost.projections * float_bytes * product(projections[0], projections[1], projections[2]);
  const auto bytes = [&](Index lines) {
    const WorkingMemory beside = working_memory_of_rank(kernels({nz, lines, nx}, projections), part(lines));
    return found.vectors + std::max(beside.forward, beside.backward);
  };
  for (Index passes = 1; found.lines_at_once == 0; passes *= 2) {
    const Index lines = std::min(found.lines, ceil_div(ceil_div(found.lines, passes), together) * together);
    if (bytes(lines) <= cluster.device_bytes) found.lines_at_once = lines;
    require<DeviceError>(lines > together || found.lines_at_once > 0, "ranks: ", cluster.ranks,
                         " devices need ", bytes(lines) / bytes_per_gib, " GiB each, the limit is ",
                         cluster.device_bytes / bytes_per_gib, " GiB; give more " + spelled("ranks"));
  }
  found.bytes = bytes(found.lines_at_once);
  const auto sent = [&](int forward, int adjoint) {
    return bytes_sent({forward, adjoint}, grid, 0, cluster.ranks, together);
  };
  found.sent = bytes_sent(cost.step, grid, 0, cluster.ranks, together);
  const double updates = product(nx, ny, nz) * found.views;
  const double forward = updates / cluster.forward, backward = updates / cluster.backward;
  found.computing = cost.step.forward * forward + cost.step.adjoint * backward;
  found.sending = found.sent / cluster.link;
  found.seconds = cost.step.forward * of_application(cluster.ranks, forward, sent(1, 0) / cluster.link) +
                  cost.step.adjoint * of_application(cluster.ranks, backward, sent(0, 1) / cluster.link);
  return found;
}

PlannedTraffic planned_traffic(const Method& method, const Recipe& options, const VolumeGrid& grid, int rank,
                               int ranks, Index together) {
  const auto subsets = static_cast<int>(method.subsets ? options.subsets.value_or(1) : 1);
  const int of_fbp = options.initial == Initial::fbp ? (options.stop_by_gcv ? 2 : 1) : 0;
  const auto strips = [&](const Applications& some) { return bytes_sent(some, grid, rank, ranks, together); };
  return {strips(subsets * method.preparation_with(options) + Applications{0, of_fbp}),
          strips(subsets * method.step_with(options)) +
              bytes_sent_by_gradients(method.kind.cost.of_regulariser, grid, rank, ranks, together)};
}

}  // namespace tandem::pipeline
