#include "progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "command.hpp"
#include "lines.hpp"

namespace tandem::apps {

ProgressLine::ProgressLine(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (terminal_ && shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

void ProgressLine::operator()(const std::string& stage, double done, double total, const char* what) {
  throw_if_interrupted();
  const Clock::time_point now = Clock::now();
  if (done < done_ || total != total_) start_ = now;  // a new task: its own rate
  done_ = done;
  total_ = total;
  const double since = std::chrono::duration<double>(now - last_).count();
  if (quiet_ || since < (terminal_ ? 0.1 : 2.0)) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double rate = elapsed > 0 ? done / elapsed : 0;
  char left[48] = "";
  if (done > 0 && done < total) std::snprintf(left, sizeof left, ", %.0f s left", (total - done) / rate);
  std::fprintf(stderr, "%s%-12s %6.0f/%.0f %s, %.3g a second%s%s", terminal_ ? "\r\033[K" : "", stage.c_str(),
               done, total, what, rate, left, terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::note(const std::string& text) {
  clear();
  if (!quiet_) std::cerr << one_line("tandem: ", text) << '\n';
}

void ProgressLine::warn(const std::string& text) {
  note("warning: " + text);
  warnings_.push_back(text);
}

}  // namespace tandem::apps
