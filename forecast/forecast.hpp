#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../pipeline/plan/plan.hpp"
#include "../pipeline/watch/outcome.hpp"

namespace tandem::pipeline {

/// The source of a scan and the target of a volume, in words that name all that makes reading and writing
/// fast or slow: "DXchange uint16, /data".
struct Ends {
  std::string from, to;
  double voxel_bytes = 4;
};

/// The work of one station in a run.
struct StationWork {
  std::string_view name;     ///< name in reports
  double Seconds::*seconds;  ///< where an outcome has its seconds
  std::string kind;          ///< work of the same kind has the same rate
  double amount = 0;         ///< bytes, or updates
  bool computes = false;     ///< whether the amount counts updates
};

/// The stations of a plan that have work to do for these chunks of slices, in the order in which a chunk
/// passes them. A method that iterates is assumed to make all its iterations.
std::vector<StationWork> work_of(const Plan& plan, const io::ScanInfo& info, const Ends& ends,
                                 const std::vector<Range>& chunks);
/// The work that was done in a run, with the iterations that were made.
std::vector<StationWork> work_done(std::vector<StationWork> planned, const Outcome& outcome);

/// Rates of stations on this machine, bytes or updates per second, by the kind of their work.
using Rates = std::map<std::string, double>;

/// Corrects rates that are kept by those of another run. A kept rate goes half the way, or if the forecast
/// missed, all of it.
void correct(Rates& kept, const Rates& newer, bool missed);

/// A station and its seconds, while all its workers work.
struct StationTime {
  StationWork work;
  double seconds;
};
/// The seconds that stations took in a run.
std::vector<StationTime> times_of(const Plan& plan, const std::vector<StationWork>& done,
                                  const Seconds& seconds);
/// The station that took longest; empty if there is none.
std::string_view slowest_of(const std::vector<StationTime>& times);
/// The rates that a run tells. Stations that share cores slow each other down, so each gets its share of the
/// time of the run, and the seconds by these rates add up to that time.
Rates rates_of(const Plan& plan, const std::vector<StationWork>& done, const Seconds& seconds);

/// How long a run will take, before it begins.
struct Forecast {
  std::vector<StationTime> times;
  double seconds = 0;  ///< seconds of the whole run
};
/// The forecast for the work on so many chunks of a plan; empty if a rate is not known. If all stations share
/// the cores of the CPU, their seconds add up. Beside a GPU, reading, computing and writing pass chunks on,
/// so all but the longest take only their share of one chunk.
std::optional<Forecast> forecast(const Plan& plan, std::size_t chunks, const std::vector<StationWork>& works,
                                 const Rates& rates);

}  // namespace tandem::pipeline
