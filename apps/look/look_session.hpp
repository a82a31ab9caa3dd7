#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "../../core/interrupts.hpp"
#include "look_answers.hpp"
#include "look_picture.hpp"
#include "look_runs.hpp"
#include "look_scan.hpp"
#include "look_solver.hpp"

namespace tandem::apps {

/// What a page and the scan say to each other: it answers and obeys, for a `LocalServer`. Pictures are made
/// one at a time; one that the same pane of the page does not want any more is given up.
class LookSession {
 public:
  /// `start`: as for `LookOptions`. @throws what opening the scan throws
  explicit LookSession(const ReconOptions& start);
  ~LookSession();  ///< ends runs and the solver

  /// about.json, scans.json, grown.json, geometry-0.png to geometry-2.png, and `events`: a stream of what
  /// runs and the solver do.
  std::optional<Content> answer(const std::string& path);
  /// slice, sinogram, frame, sweep, calibrate, axis, recipe, run, stop, solve, enough, iterate: an object
  /// each; see `obeyed_or_refused`.
  std::optional<Content> obey(const std::string& path, const std::string& body);
  void end();  ///< gives up what is being made, and ends streams

 private:
  using Json = nlohmann::json;
  Content obeyed(const std::string& path, const Json& asked);
  Content at_once(const std::string& path, const Json& asked);
  Content picture(const std::string& path, const Json& asked);
  Pictured geometry(const Json& asked, const LookScan::GoOn& go_on);
  Content events();
  void tell();
  bool is_watched();
  Interrupts until_end(const LookScan::GoOn& go_on = {});
  Content grown();

  LookOptions options_;
  LookScan scan_;
  NewestCommands newest_{16};
  PictureAnswers answers_;
  std::mutex making_;  ///< held by whoever uses `scan_`
  std::mutex mutex_;   ///< guards all members below
  std::condition_variable told_;
  Index news_ = 1;
  int waiting_ = 0;  ///< commands that no slice may keep waiting
  bool over_ = false;
  Json geometry_ = nullptr;  ///< {stage, share} of a search for the geometry; null: none is at work
  int streams_ = 0;
  std::optional<std::chrono::steady_clock::time_point> left_;  ///< when the last page that looked went away
  LookRuns runs_;  ///< these two call back, and end before what stands above
  LookSolver solver_;
};

}  // namespace tandem::apps
