#pragma once

#include <nlohmann/json.hpp>

#include "../../pipeline/plan/plan.hpp"
#include "../command.hpp"

namespace tandem::apps {

/// Machines that need not exist here, as options of `info`.
struct RankOptions {
  int ranks = 0;  ///< number of ranks; 0: not asked for
  double device_gib = 80;
  std::vector<double> kernels{};  ///< forward and back, 10^9 updates per second; empty: as measured
  double link = 25;               ///< 10^9 bytes per second in each direction
};
void add_rank_options(Table& command, RankOptions& options);

/// The forecast of a step of CGLS over these ranks (forecast/cluster.hpp). Slices of a parallel beam need no
/// exchange, so it says only how many of them a rank has. If the share of a rank does not fit, it says why.
nlohmann::json rank_forecast(const Scan& scan, const VolumeGrid& grid, const RankOptions& options);

void print_rank_forecast(const nlohmann::json& report);

/// Collective. What each rank sent to others and received in a reconstruction over ranks, and what the solver
/// planned to send before its first step and in each step. It is for the report of the first rank, and for
/// people.
nlohmann::json rank_traffic_json(const pipeline::Plan& plan);
void print_rank_traffic(const nlohmann::json& traffic);

}  // namespace tandem::apps
