#include "rank_traffic.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "../../operators/distributed/rank_traffic.hpp"

namespace tandem::apps {

nlohmann::json rank_traffic_json(const Comm& ranks) {
  const RankTraffic own = rank_traffic();
  const auto of_all = [&](double value) {
    std::vector<double> values(ranks.size(), 0);
    values[ranks.rank()] = value;
    ranks.all_reduce(values);
    return values;
  };
  return {
      {"way", name_of(own.way)}, {"sent_bytes", of_all(own.sent)}, {"received_bytes", of_all(own.received)}};
}

void print_rank_traffic(const nlohmann::json& traffic) {
  std::cout << "traffic   " << std::ranges::max(traffic["sent_bytes"].get<std::vector<double>>()) * 1e-9
            << " GB sent by a rank at most; " << traffic["way"].get<std::string>() << '\n';
}

}  // namespace tandem::apps
