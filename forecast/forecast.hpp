#pragma once

#include <array>
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
    double seconds;  ///< of the station, added up over workers
  };
  std::vector<Part> parts;
  double seconds = 0;        ///< of the whole run
  std::string_view slowest;  ///< the station that the others wait for
};

/// Seconds of one chunk in the three parts of the conveyor.
struct ChunkSeconds {
  double read, work, write;
};

/// What the conveyor takes for these chunks if no part slows down another one, see `conveyor`.
double conveyor_seconds(std::span<const ChunkSeconds> chunks, Index workers);

/// The forecast for chunks of a plan; empty if a rate is not known. Where all stations share the cores of the
/// CPU, their seconds add up. Elsewhere the three parts of the conveyor work beside each other. A search
/// comes before, at the rate of the solver. What the end of the file takes (`finish`) is left out if its rate
/// is not known.
std::optional<Forecast> forecast(const Plan& plan, const std::vector<Range>& chunks,
                                 const std::vector<StationWork>& works, const Rates& rates);

/// Stations whose rates are not known, without `finish`.
std::vector<std::string_view> without_rate(const std::vector<StationWork>& works, const Rates& rates);

/// The station that took the longest, a worker counted alone.
std::string_view slowest_of(const Plan& plan, const Seconds& seconds);

/// What a run tells of the rates. Where stations share cores, they slow each other down: each gets its share
/// of the time of the run, so that seconds by these rates add up to it.
Rates rates_of(const Plan& plan, const std::vector<StationWork>& done, const Seconds& seconds,
               Rates::From from);

}  // namespace tandem::pipeline
