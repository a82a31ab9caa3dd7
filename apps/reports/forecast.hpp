#pragma once

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
  std::filesystem::path volume;  ///< name of the volume; empty: HDF5 in the present folder
  io::VolumeFormat format;
};

/// The forecast of a run of `recon`, from the rates that are kept for this user.
class RunForecast {
 public:
  /// `done`: slices that need not be made.
  RunForecast(const pipeline::Plan& plan, const io::ScanInfo& info, const RunFiles& files,
              const std::vector<Range>& done);

  /// Measures missing rates, each in well below a second, and keeps them. A rate that cannot be measured
  /// stays missing. Then the forecast is without reading or writing, or empty if it lacks computing.
  void measure(io::ScanReader& reader, ProgressLine& progress);

  const std::optional<pipeline::Forecast>& forecast() const { return forecast_; }

  /// The bytes of the volume on its file system, if it is not packed.
  double disk_bytes() const { return disk_bytes_; }
  /// A warning if the file system has no room for it; else empty.
  std::string lack_of_disk() const;

  /// Keeps what a finished run tells of the rates.
  void learn(const pipeline::Outcome& outcome) const;

  /// The parts "forecast" and "stations" of the report: before the run, and after it.
  nlohmann::json planned() const;
  nlohmann::json stations(const pipeline::Outcome& outcome) const;

  /// Print the same for people.
  void print(std::ostream& to) const;
  /// Prints how a run went that took these seconds, from its first file to its last.
  void print_outcome(std::ostream& to, const pipeline::Outcome& outcome, double seconds) const;

 private:
  void foretell();

  const pipeline::Plan& plan_;
  RunFiles files_;
  std::vector<Range> chunks_;
  std::vector<pipeline::StationWork> works_;
  double disk_bytes_;
  pipeline::Rates rates_;
  std::optional<pipeline::Forecast> forecast_;
};

}  // namespace tandem::apps
