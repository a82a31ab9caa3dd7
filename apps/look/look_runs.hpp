#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "look_options.hpp"
#include "told_of.hpp"

namespace tandem::apps {

/// Runs of `tandem recon` that a page has asked for, within this process, one after the other. Any thread may
/// call it.
class LookRuns : ToldOf {
 public:
  /// `news`: is called when `state` has changed.
  LookRuns(const LookOptions& options, std::function<void()> news);
  ~LookRuns();

  /// Scans that the command line has named, and files or folders of the same kind in the folder where it was
  /// given, without volumes, by their names.
  nlohmann::json scans() const;
  /// The name of a new volume in this folder: that which is wished, or volume_2.h5 and so on.
  static std::string free_name(const std::string& wished);
  /// {options, solver, name} for the scan that is looked at; with {scans: names, each_axis: whether each
  /// scan tells its own} for others, where `name` has {name} for theirs. @throws UsageError before the first
  /// one begins: for a scan that `scans` would not list, and for a file that is there or would come twice
  void begin(const nlohmann::json& asked);
  void stop();  ///< ends the run and those behind it
  void end();   ///< and all that would be asked for
  /// {state: "none", "runs", "done" or "failed", name, stage, done, total, ...; of several scans also rows,
  /// and of one, when it has ended, `next`: a name for the next one}
  using ToldOf::state;

 private:
  using Json = nlohmann::json;
  struct One {
    std::string scan, output;
    Json options;
    bool finds_axis;
  };

  std::vector<One> asked_for(const Json& asked) const;
  void run_each(std::vector<One> all);
  void run(const One& one);

  const LookOptions& options_;
  // the mutex guards all members below
  bool stop_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace tandem::apps
