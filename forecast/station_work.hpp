#pragma once

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
  std::string_view name;  ///< name as in `stations()`
  std::string kind;       ///< work of the same kind has the same rate
  double amount = 0;      ///< bytes, or updates
  bool computes = false;  ///< whether the amount counts updates
};

/// A station by its name in reports, and where its seconds are.
struct Station {
  std::string_view name;
  double Seconds::*seconds;
};
/// All stations, in the order in which a chunk passes them.
const std::vector<Station>& stations();
double seconds_of(const Seconds& seconds, std::string_view station);

/// The stations of a plan that have work to do for these chunks of slices. A method that iterates is assumed
/// to make all its iterations.
std::vector<StationWork> work_of(const Plan& plan, const io::ScanInfo& info, const Ends& ends,
                                 const std::vector<Range>& chunks);

/// The work that was done in a run, with the iterations that were made.
std::vector<StationWork> work_done(std::vector<StationWork> planned, double updates);

/// Whether all stations compute on the cores of the CPU, so that their seconds add up.
bool shares_cores(const Plan& plan);

}  // namespace tandem::pipeline
