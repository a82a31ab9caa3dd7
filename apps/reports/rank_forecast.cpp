#include "rank_forecast.hpp"

#include <algorithm>
#include <iostream>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../forecast/cluster.hpp"
#include "../../operators/distributed/rank_traffic.hpp"
#include "../../operators/projector.hpp"
#include "../../solvers/cgls.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

constexpr double giga = 1e9;

/// The measured rates of a cone beam on an H200, and of a flexible beam on an H100 (docs/performance.md).
/// Upright views use the kernels of a cone beam.
std::vector<double> measured_rates(const Scan& scan) {
  return has_upright_views(scan) ? std::vector<double>{574, 830} : std::vector<double>{275, 423};
}

/// The memory of kernels on a GPU; on the CPU, if this machine has no GPU.
TileMemory memory_of_kernels(const Scan& scan) {
  const std::vector<Device> here = devices();
  return [device = here.back(), scan](Shape volume, Shape projections) {
    return working_memory(scan, volume, projections, device);
  };
}

/// @throws UsageError unless the text is two positive numbers
std::vector<double> rates_in(const std::string& text) {
  std::vector<double> rates;
  for (const std::string& part : parts_of(text, ',')) rates.push_back(number_in(part).value_or(0));
  if (rates.size() != 2 || rates[0] <= 0 || rates[1] <= 0)
    throw UsageError("--kernel-rates '" + text + "' is not X,X with numbers above 0");
  return rates;
}

}  // namespace

void add_rank_options(Table& c, RankOptions& o) {
  c.heading("Machines that are not here (a step of CGLS of a cone or flexible beam)");
  c.add("--ranks", On::result, o.ranks, "processes of `mpirun -n`, one device each")
      .check(count(1, 1'000'000));
  c.add("--device-memory", On::result, o.device_gib, "memory of each device, GiB")
      .in("GiB")
      .check(positive())
      .only_with("--ranks");
  c.add_parsed(
       "--kernel-rates", On::result, [&o](const std::string& text) { o.kernels = rates_in(text); },
       "projection and back-projection of a device, 10^9 voxels times views a second; default: an "
       "H200, for a flexible beam an H100")
      .of_kind("X,X")
      .only_with("--ranks");
  c.add("--link-rate", On::result, o.link,
        "what a device sends while it receives as much, 10^9 bytes a second")
      .check(positive())
      .only_with("--ranks");
}

json rank_forecast(const Scan& scan, const VolumeGrid& grid, const RankOptions& o) {
  json report = {{"ranks", o.ranks}};
  if (rows_are_slices(scan)) {
    report["slices"] = ceil_div<Index>(grid.size[2], o.ranks);
    return report;
  }
  const std::vector<double> rates = o.kernels.empty() ? measured_rates(scan) : o.kernels;
  const pipeline::Cluster cluster{o.ranks, o.device_gib * bytes_per_gib, rates[0] * giga, rates[1] * giga,
                                  o.link * giga};
  pipeline::RankForecast found;
  try {
    found = forecast_of_rank(scan, grid, Cgls::cost, cluster, memory_of_kernels(scan));
  } catch (const DeviceError& fault) {
    report["does_not_fit"] = fault.what();
    return report;
  }
  report.update({{"lines", found.lines},
                 {"views", found.views},
                 {"lines_at_once", found.lines_at_once},
                 {"vector_bytes", found.vectors},
                 {"device_bytes", found.bytes},
                 {"sent_bytes_a_step", found.sent},
                 {"computing_seconds", found.computing},
                 {"sending_seconds", found.sending},
                 {"seconds_a_step", found.seconds}});
  return report;
}

void print_rank_forecast(const json& r) {
  const auto number = [&](const char* key, double unit = 1) { return r[key].get<double>() / unit; };
  const auto digits = std::cout.precision(3);
  std::cout << "ranks     " << r["ranks"] << ": ";
  if (r.contains("does_not_fit"))
    std::cout << "does not fit: " << r["does_not_fit"].get<std::string>() << '\n';
  else if (r.contains("slices"))
    std::cout << "at most " << r["slices"] << " slices each, and nothing is sent\n";
  else
    std::cout << r["lines"] << " lines and " << r["views"] << " views each, "
              << number("device_bytes", bytes_per_gib) << " GiB of each device; a step of CGLS "
              << number("seconds_a_step") << " s: computing " << number("computing_seconds") << " s, sending "
              << number("sent_bytes_a_step", giga) << " GB " << number("sending_seconds")
              << " s at the same time\n";
  std::cout.precision(digits);
}

json rank_traffic_json(const pipeline::Plan& plan) {
  const Comm& ranks = plan.flow.shared.ranks;
  const RankTraffic own = rank_traffic();
  const std::size_t count = ranks.size(), rank = ranks.rank();
  const auto of_all = [&](double value) {
    std::vector<double> values(count, 0);
    values[rank] = value;
    ranks.all_reduce(values);
    return values;
  };
  const pipeline::PlannedTraffic planned =
      planned_traffic(*plan.job.method, plan.job.options, plan.job.solved, ranks.rank(), ranks.size(),
                      lines_together(plan.job.scan));
  return {{"way", name_of(own.way)},
          {"sent_bytes", of_all(own.sent)},
          {"received_bytes", of_all(own.received)},
          {"planned_bytes_before_steps", of_all(planned.before_steps)},
          {"planned_bytes_a_step", of_all(planned.a_step)}};
}

void print_rank_traffic(const json& traffic) {
  const auto most = [&](const char* key) {
    return std::ranges::max(traffic[key].get<std::vector<double>>()) / giga;
  };
  std::cout << "traffic   " << most("sent_bytes") << " GB sent by a rank at most, by plan "
            << most("planned_bytes_before_steps") << " GB before the first step and "
            << most("planned_bytes_a_step") << " GB in each; " << traffic["way"].get<std::string>() << '\n';
}

}  // namespace tandem::apps
