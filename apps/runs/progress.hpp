#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../pipeline/watch/progress.hpp"

namespace tandem::apps {

class LivePage;
struct Common;
struct Listener;

/// A progress line for long tasks, on standard error. On a terminal it is rewritten in place, and is never
/// wider than the terminal; else there is a new line every few seconds. There is none if `--quiet` is given.
/// Begins with the notes about options. If there is a listener, it gets all this instead.
class ProgressLine {
 public:
  /// `page` shows all of it too, also with `--quiet`; it may be null.
  explicit ProgressLine(const Common& common, LivePage* page = nullptr);
  ~ProgressLine();
  /// Shows stage, done of total in units of `what`, detail, and the time left of this stage and, if `later`
  /// is known, of what follows, seconds. @throws Interrupted after Ctrl-C
  void operator()(const std::string& stage, double done, double total, const char* what = "slices",
                  const std::string& detail = "", std::optional<double> later = 0);
  void clear();                        ///< removes the line, before results are printed
  void note(const std::string& text);  ///< prints a separate line, unless `--quiet` is given
  /// Prints a warning that the result may be wrong, and keeps it for the report.
  void warn(const std::string& text);
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// A listener of the library that tells this line, as long as it lives.
  pipeline::Listener listener();

 private:
  void tell(const std::string& text, bool shows);

  using Clock = std::chrono::steady_clock;
  bool quiet_, silent_, terminal_;
  std::shared_ptr<const Listener> listener_;
  LivePage* page_;
  bool shown_ = false;
  std::string stage_;
  double first_ = 0;             ///< `done` when the present task began
  double done_ = 0, total_ = 0;  ///< values of the last call
  Clock::time_point start_, last_, logged_;
  std::vector<std::string> warnings_;
};

}  // namespace tandem::apps
