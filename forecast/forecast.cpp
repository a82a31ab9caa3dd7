#include "forecast.hpp"

#include <algorithm>
#include <set>

#include "../core/parallel.hpp"
#include "../pipeline/plan/route.hpp"

namespace tandem::pipeline {

namespace {

constexpr std::string_view at_the_start = "search", at_the_end = "finish";

/// Whether a station works while no other one does.
bool is_apart(std::string_view station) { return station == at_the_start || station == at_the_end; }

bool is_of_worker(std::string_view station) {
  return station != "read" && station != "write" && !is_apart(station);
}

/// The number of devices at work, since workers on one device share its speed. A helper is not counted: it
/// only makes the others faster.
Index devices_at_work(const Plan& plan) {
  std::set<Device> devices;
  for (const Worker& worker : plan.flow.workers)
    if (worker.threads == 0) devices.insert(worker.device);
  return devices.size();
}
double workers_a_device(const Plan& plan) {
  const auto workers = std::ranges::count(plan.flow.workers, 0, &Worker::threads);
  return 1.0 * workers / devices_at_work(plan);
}

/// The seconds of a station on one device, if other devices work at the same time.
double alone(const Plan& plan, std::string_view station, double seconds) {
  return is_of_worker(station) ? seconds / devices_at_work(plan) : seconds;
}

/// Whether all data pass a station with the first chunk, if slices share their rows.
bool comes_first(std::string_view station) {
  return station == "read" || station == "preprocess" || station == "filter";
}

/// The seconds of stations, shared out among the chunks.
std::vector<ChunkSeconds> by_chunks(const Plan& plan, const std::vector<Range>& chunks,
                                    const std::vector<Forecast::Part>& parts) {
  double slices = 0;
  for (const Range chunk : chunks) slices += chunk.size();
  const bool own_rows = route_of(plan.flow).own_rows;
  std::vector<ChunkSeconds> all(chunks.size(), ChunkSeconds{});
  for (std::size_t k = 0; k < chunks.size(); ++k)
    for (const auto& [work, seconds] : parts) {
      const bool at_once = !own_rows && comes_first(work.name);
      const double share = at_once ? (k == 0 ? 1 : 0) : chunks[k].size() / slices;
      if (is_of_worker(work.name)) all[k].work += share * seconds;
      if (work.name == "read") all[k].read += share * seconds;
      if (work.name == "write") all[k].write += share * seconds;
    }
  return all;
}

}  // namespace

double conveyor_seconds(std::span<const ChunkSeconds> chunks, Index workers) {
  std::vector<double> free(workers, 0.0), written;
  const std::size_t places = conveyor_places(workers);
  double read = 0, wrote = 0;
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    if (k >= places) read = std::max(read, written[k - places]);
    read += chunks[k].read;
    double& worker = *std::min_element(free.begin(), free.end());
    worker = std::max(worker, read) + chunks[k].work;
    wrote = std::max(wrote, worker) + chunks[k].write;
    written.push_back(wrote);
  }
  return wrote;
}

std::optional<Forecast> forecast(const Plan& plan, const std::vector<Range>& chunks,
                                 const std::vector<StationWork>& works, const Rates& rates) {
  Forecast all;
  if (!without_rate(works, rates).empty()) return {};
  double slowest = -1, apart = 0, sum = 0;
  for (const StationWork& work : works) {
    const std::optional<double> rate = rates.rate(work.kind);
    if (!rate) continue;
    const double seconds = work.amount / *rate;
    all.parts.push_back({work, seconds});
    (is_apart(work.name) ? apart : sum) += seconds;
    if (const double mine = alone(plan, work.name, seconds); mine > slowest)
      slowest = mine, all.slowest = work.name;
  }
  all.seconds = apart + (shares_cores(plan)
                             ? sum
                             : conveyor_seconds(by_chunks(plan, chunks, all.parts), devices_at_work(plan)));
  return all;
}

std::vector<std::string_view> without_rate(const std::vector<StationWork>& works, const Rates& rates) {
  std::vector<std::string_view> names;
  for (const StationWork& work : works)
    if (work.name != at_the_end && !rates.rate(work.kind)) names.push_back(work.name);
  return names;
}

std::string_view slowest_of(const Plan& plan, const Seconds& seconds) {
  const auto seconds_at = [&](const Station& station) {
    const double shared = is_of_worker(station.name) ? workers_a_device(plan) : 1;
    return alone(plan, station.name, seconds.*(station.seconds)) / shared;
  };
  return std::max_element(stations().begin(), stations().end(),
                          [&](const Station& a, const Station& b) { return seconds_at(a) < seconds_at(b); })
      ->name;
}

Rates rates_of(const Plan& plan, const std::vector<StationWork>& done, const Seconds& seconds,
               Rates::From from) {
  double sum = 0;
  const double total = seconds.total - seconds.search;
  for (const StationWork& work : done)
    if (!is_apart(work.name)) sum += seconds_of(seconds, work.name);
  const double share = shares_cores(plan) && sum > total ? total / sum : 1;
  Rates rates;
  for (const StationWork& work : done)
    if (const double own =
            work.name == at_the_start
                ? 0
                : seconds_of(seconds, work.name) / (is_of_worker(work.name) ? workers_a_device(plan) : 1);
        own > 0)
      rates.add(work.kind, work.amount / (work.name == at_the_end ? own : share * own), from);
  return rates;
}

}  // namespace tandem::pipeline
