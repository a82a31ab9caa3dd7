#pragma once

#include <nlohmann/json.hpp>

#include "../../pipeline/plan/plan.hpp"
#include "../command.hpp"

namespace tandem::apps {

/// Machines that need not be here, as options of `info`.
struct RankOptions {
  int ranks = 0;  ///< 0: nobody asked
  double device_gib = 80;
  std::vector<double> kernels{};  ///< forward and back, 10^9 voxels times views a second; empty: as measured
  double link = 25;               ///< 10^9 bytes a second each way
};
void add_rank_options(CLI::App& command, RankOptions& options);

/// What a step of CGLS would take over these ranks (forecast/cluster.hpp). Slices of a parallel beam send
/// nothing, so of these it says how many a rank has. If the share of a rank does not fit, it says why.
nlohmann::json rank_forecast(const Scan& scan, const VolumeGrid& grid, const RankOptions& options);

void print_rank_forecast(const nlohmann::json& report);

/// All ranks: what each sent to others in a reconstruction over ranks, what it received, and what the solver
/// sends by plan before its first step and in each. For the report of the first rank, and for people.
nlohmann::json rank_traffic_json(const pipeline::Plan& plan);
void print_rank_traffic(const nlohmann::json& traffic);

}  // namespace tandem::apps
