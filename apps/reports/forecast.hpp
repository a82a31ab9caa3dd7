#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "../../forecast/forecast.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// The files that `recon` reads and writes.
struct RunFiles {
  std::filesystem::path scan;
  std::filesystem::path volume = "volume.h5";
  io::VolumeFormat format = {};
};

/// The forecast of a run of `recon`, from the rates that are kept for this user.
class RunForecast {
 public:
  /// `done`: slices that need not be made.
  RunForecast(const pipeline::Plan& plan, const io::ScanInfo& info, const RunFiles& files,
              const std::vector<Range>& done);

  /// If there is no forecast, tries a part of the run, and keeps the rates that it lacked. If the part fails,
  /// a note says why, and there is no forecast.
  void measure(io::ScanReader& reader, ProgressLine& progress);

  /// The seconds of the run once the weight is found; none if there is no forecast.
  std::optional<double> seconds_after_search() const;

  /// The bytes of the volume on its file system, if it is not packed.
  double disk_bytes() const;
  /// A warning if the file system has no room for it; else empty.
  std::string lack_of_disk() const;

  /// Corrects the rates that are kept by those of a finished run. A run that was too short to tell rates only
  /// replaces those by which it would have taken more than twice as long.
  void learn(const pipeline::Outcome& outcome) const;

  /// The parts "forecast" and "stations" of the report: before the run, and after it.
  nlohmann::json planned() const;
  nlohmann::json stations(const pipeline::Outcome& outcome) const;

  /// Print the same for people.
  void print(std::ostream& to) const;
  /// Prints how a run went that took these seconds, from its first file to its last. The parts of a run of
  /// less than 0.3 s, which tell nothing of a longer one, are left out.
  void print_outcome(std::ostream& to, const pipeline::Outcome& outcome, double seconds) const;

 private:
  const pipeline::Plan& plan_;
  RunFiles files_;
  std::vector<Range> chunks_;
  std::vector<pipeline::StationWork> works_;
  pipeline::Rates rates_;
  std::optional<pipeline::Forecast> forecast_;
};

}  // namespace tandem::apps
