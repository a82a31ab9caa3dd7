#pragma once

#include <string_view>

namespace tandem {

/// How values come from the device of one rank to that of another.
enum class RankWay { none, host, through_host, gpu_to_gpu };
/// "MPI", "MPI, through the host's memory", "NCCL"; empty if nothing went any way.
std::string_view name_of(RankWay way);

/// What this process has exchanged with other ranks since it began, by its operators: strips and sums of
/// `rank_projector`, planes of gradients.
struct RankTraffic {
  double sent = 0, received = 0;  ///< bytes
  RankWay way = RankWay::none;    ///< of the last exchange
};
RankTraffic rank_traffic();

}  // namespace tandem
