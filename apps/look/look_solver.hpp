#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../pipeline/slice_solver.hpp"
#include "look_scan.hpp"
#include "told_of.hpp"

namespace tandem::apps {

/// Runs solvers for a page, and the filter on all slices: one at a time, on a thread and with a reader of its
/// own, so that slices can be looked at meanwhile. A newer wish ends the one at work, whose volume stays for
/// a warm start. Any thread may call it.
class LookSolver : ToldOf {
 public:
  /// `news`: is called when `state` has changed. `watched`: whether somebody still looks; a solver ends if
  /// nobody does.
  LookSolver(const LookOptions& options, std::function<void()> news, std::function<bool()> watched);
  ~LookSolver();

  /// {options, solver: its options, z, binning: default as is quick, warm}. It returns at once; what is wrong
  /// with the scan is found later and stands in `state`. @throws UsageError
  void begin(const nlohmann::json& asked);
  void enough();  ///< ends the one at work: the volume is what there is
  void end();     ///< for good
  /// {state: "none", "runs", "done" or "failed", iteration, residual, picture: number of the newest one, ...}
  using ToldOf::state;
  /// {z, y or x; side}: the newest iterate, with the curve of residuals; if the solver is done with a whole
  /// volume, any plane of it. @throws UsageError if there is none
  Pictured iterate(const nlohmann::json& asked) const;

 private:
  using Json = nlohmann::json;
  struct Wish {
    Json options;
    Index slice = 0;
    std::optional<int> binning;
    bool warm = false, enough = false;
  };

  void work();
  void run(const Wish& wish);
  pipeline::SolveSeen seen();
  void keep(pipeline::Solved made, int binning);
  bool goes_on(int iteration, double residual);

  const LookOptions& options_;
  std::function<bool()> watched_;
  std::string how_;  ///< the reader was opened
  std::unique_ptr<io::ScanReader> reader_;
  std::unique_ptr<pipeline::SliceSolver> solver_;  ///< is left alone by others while a wish is at work

  // the mutex guards all members below
  std::condition_variable told_;
  std::optional<Wish> wish_;
  bool at_work_ = false, steps_ = false, enough_ = false, over_ = false;
  std::vector<std::pair<int, double>> residuals_;
  io::Picture newest_;
  Index pictures_ = 0;
  Json about_ = Json::object();  ///< what stands beside a picture
  std::thread thread_;
};

}  // namespace tandem::apps
