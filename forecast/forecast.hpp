#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rates.hpp"
#include "station_work.hpp"

namespace tandem::pipeline {

/// How long a run will take, before it begins.
struct Forecast {
  struct Part {
    StationWork work;
    double seconds;  ///< seconds of the station, added up over workers
  };
  std::vector<Part> parts;
  double seconds = 0;        ///< seconds of the whole run
  std::string_view slowest;  ///< the station that the others wait for
};

/// The seconds of one chunk in the three parts of the conveyor.
struct ChunkSeconds {
  double read, work, write;
};

/// The seconds of the conveyor for these chunks, if no part slows down another one, see `conveyor`.
double conveyor_seconds(std::span<const ChunkSeconds> chunks, Index workers);

/// The forecast for chunks of a plan; empty if a rate is not known. If all stations share the cores of the
/// CPU, their seconds add up. Else the three parts of the conveyor work at the same time. A search comes
/// before, at the rate of the solver. The seconds at the end of the file (`finish`) are left out if their
/// rate is not known.
std::optional<Forecast> forecast(const Plan& plan, const std::vector<Range>& chunks,
                                 const std::vector<StationWork>& works, const Rates& rates);

/// The stations whose rates are not known, without `finish`.
std::vector<std::string_view> without_rate(const std::vector<StationWork>& works, const Rates& rates);

/// The station that took longest, with the time of one worker.
std::string_view slowest_of(const Plan& plan, const Seconds& seconds);

/// The rates that a run tells. Stations that share cores slow each other down, so each gets its share of the
/// time of the run, and the seconds by these rates add up to that time.
Rates rates_of(const Plan& plan, const std::vector<StationWork>& done, const Seconds& seconds,
               Rates::From from);

}  // namespace tandem::pipeline
