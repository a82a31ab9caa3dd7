#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include "../command.hpp"
#include "../pages/live_page.hpp"
#include "lines.hpp"
#include "log_file.hpp"
#include "signals.hpp"
#include "stage_words.hpp"

namespace tandem::apps {

namespace {

constexpr double pause_s = 2;  // between two lines that stay

struct Step {
  const std::string& stage;
  double done, total;
  const char* what;
  const std::string& detail;
  std::optional<double> later;
};

/// The columns that a line may take: one less than the terminal has; any number where there is none.
std::size_t columns_of_terminal() {
  winsize size{};
  if (!isatty(STDERR_FILENO)) return std::string::npos;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

/// The three parts as one line. If it is too wide, the last details are left out, then `rest`, then its end.
std::string fitted(const std::string& head, std::string detail, const std::string& rest,
                   std::size_t columns) {
  const auto is_wide = [&] { return head.size() + detail.size() + rest.size() > columns; };
  for (std::size_t comma = 0; is_wide() && (comma = detail.rfind(", ")) != std::string::npos;)
    detail.erase(comma);
  return (head + detail + (is_wide() ? "" : rest)).substr(0, columns);
}

/// "back-projecting: 24 of 64 slices, 3 s left"; "solving: iteration 10 of 60, residual 0.3 of the first, 12
/// s left". What a solver has done is said by its iterations: no slice is done before the last of them.
std::string words_of_progress(const Step& at, double rate) {
  std::ostringstream head, rest;
  for (std::ostream* text : {&head, &rest}) *text << std::fixed << std::setprecision(0);
  head << words_of_stage(at.stage) << ": ";
  std::string detail = at.detail;
  if (!at.stage.ends_with("iterate") || at.detail.empty()) {
    head << std::floor(at.done) << " of " << at.total << ' ' << at.what;
    if (!detail.empty()) detail.insert(0, ", ");
  }
  if (rate > 0 && at.done < at.total)
    rest << ", " << std::ceil((at.total - at.done) / rate + at.later.value_or(0))
         << (at.later ? " s left" : " s left for it");
  return fitted(head.str(), detail, rest.str(), columns_of_terminal());
}

}  // namespace

ProgressLine::ProgressLine(const Common& common, LivePage* page)
    : quiet_(common.quiet),
      silent_(common.silent),
      terminal_(isatty(STDERR_FILENO) != 0),
      listener_(common.listener),
      page_(page),
      start_(Clock::now()),
      last_(start_),
      logged_(start_) {
  for (const std::string& text : std::exchange(*common.notes, {})) note(text);
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (terminal_ && shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

void ProgressLine::operator()(const std::string& stage, double done, double total, const char* what,
                              const std::string& detail, std::optional<double> later) {
  throw_if_interrupted();
  if (page_) page_->tell_stage({stage, done, total, detail});
  if (listener_) return listener_->stage(stage, done, total, what, detail);
  const Clock::time_point now = Clock::now();
  if (done < done_ || total != total_) start_ = now, first_ = done;  // a new task has its own rate
  const bool turns = stage != stage_;
  stage_ = stage, done_ = done, total_ = total;
  const auto since = [&](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  // the first step of a new stage may be long, so the stage is shown at once
  const bool shows = !quiet_ && (since(last_) >= (terminal_ ? 0.1 : pause_s) || (terminal_ && turns));
  const bool logs = since(logged_) >= pause_s;
  if (!shows && !logs) return;
  const std::string line =
      words_of_progress({stage, done, total, what, detail, later}, (done - first_) / since(start_));
  if (logs) log_line(line), logged_ = now;
  if (!shows) return;
  last_ = now;
  std::fprintf(stderr, "%s%s%s", terminal_ ? "\r\033[K" : "", line.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::note(const std::string& text) { tell(text, !quiet_); }

void ProgressLine::warn(const std::string& text) {
  tell("warning: " + text, !silent_);
  warnings_.push_back(text);
}

void ProgressLine::tell(const std::string& text, bool shows) {
  clear();
  if (page_) page_->log(one_line("", text));
  if (listener_) return listener_->note(text);
  const std::string line = one_line("tandem: ", text);
  if (shows)
    std::cerr << line << '\n';
  else
    log_line(line);
}

pipeline::Listener ProgressLine::listener() {
  return {.stage = [this](const pipeline::Stage& s) { (*this)(s.name, s.done, s.total, s.what, s.detail); },
          .note = [this](const std::string& text) { note(text); },
          .warn = [this](const std::string& text) { warn(text); }};
}

}  // namespace tandem::apps
