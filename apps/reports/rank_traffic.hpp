#pragma once

#include <nlohmann/json.hpp>

#include "../../core/comm.hpp"

namespace tandem::apps {

/// Collective. What each rank sent to others and received in a reconstruction over ranks, for the report of
/// the first rank, and for people.
nlohmann::json rank_traffic_json(const Comm& ranks);
void print_rank_traffic(const nlohmann::json& traffic);

}  // namespace tandem::apps
