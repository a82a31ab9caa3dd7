#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tandem::apps {

/// One progress line for every long task, on standard error: rewritten in place on a terminal, a line every
/// few seconds elsewhere, nothing when quiet.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  /// stage, done/total in `what`, detail, rate, time left. @throws Interrupted after Ctrl-C.
  void operator()(const std::string& stage, double done, double total, const char* what = "slices",
                  const std::string& detail = "");
  void clear();                        ///< takes the line away, for results that come next
  void note(const std::string& text);  ///< a line of its own
  /// The same for what may make the result wrong; kept for the report, quiet or not.
  void warn(const std::string& text);
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_;
  bool shown_ = false;
  std::string stage_;
  double first_ = 0;             ///< done when the present task began
  double done_ = 0, total_ = 0;  ///< of the last call
  Clock::time_point start_, last_;
  std::vector<std::string> warnings_;
};

}  // namespace tandem::apps
