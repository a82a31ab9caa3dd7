#pragma once

#include <string_view>

namespace tandem {

/// The way of values from the device of one rank to that of another.
enum class RankWay { none, host, through_host, gpu_to_gpu };
/// The way in words: "MPI", "MPI, through the host's memory", "NCCL"; empty if nothing was sent.
std::string_view name_of(RankWay way);

/// What the operators of this process have exchanged with other ranks since it began: strips and sums of
/// `rank_projector`, and planes of gradients.
struct RankTraffic {
  double sent = 0, received = 0;  ///< bytes
  RankWay way = RankWay::none;    ///< way of the last exchange
};
RankTraffic rank_traffic();

}  // namespace tandem
