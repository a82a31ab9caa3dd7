#include "look_session.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "../../core/error.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "look_calibrate.hpp"
#include "look_command.hpp"
#include "sweep.hpp"

namespace tandem::apps {

using nlohmann::json;

LookSession::LookSession(const ReconOptions& start)
    : options_(start),
      scan_(options_),
      runs_(options_, [this] { tell(); }),
      solver_(
          options_, [this] { tell(); }, [this] { return is_watched(); }) {
  scan_.report();
  if (options_.follows()) scan_.grown();
  ProgressLine progress(start.common);
  scan_.find_for(options_, start, progress);
}

LookSession::~LookSession() { end(); }

void LookSession::end() {
  runs_.end();
  solver_.end();
  newest_.end();
  const std::lock_guard lock(mutex_);
  over_ = true;
  told_.notify_all();
}

/// There is news for streams.
void LookSession::tell() {
  const std::lock_guard lock(mutex_);
  ++news_;
  told_.notify_all();
}

/// A page that went away may come again at once.
bool LookSession::is_watched() {
  constexpr std::chrono::seconds patience{3};
  const std::lock_guard lock(mutex_);
  return streams_ > 0 || !left_ || std::chrono::steady_clock::now() - *left_ < patience;
}

std::optional<Content> LookSession::answer(const std::string& path) {
  constexpr std::array views{"/geometry-0.png", "/geometry-1.png", "/geometry-2.png"};
  if (path == "/events") return events();
  if (path == "/scans.json") return json_content(runs_.scans());
  const std::lock_guard lock(making_);
  if (path == "/grown.json") return grown();
  if (path == "/about.json") {
    json about = scan_.report();
    about["solvers"] = options_.solvers();
    about["volume"] = LookRuns::free_name("volume.h5");
    return json_content(about);
  }
  for (std::size_t k = 0; k < views.size(); ++k)
    if (path == views[k])
      if (std::string png = scan_.geometry_png(k); !png.empty()) return Content{"image/png", std::move(png)};
  return {};
}

Content LookSession::grown() {
  try {
    return json_content(scan_.grown());
  } catch (const Error& fault) {
    return refusal(fault.what());
  } catch (const UsageError& fault) {
    return refusal(fault.what());
  }
}

std::optional<Content> LookSession::obey(const std::string& path, const std::string& body) {
  return obeyed_or_refused(body, [&](const json& asked) { return obeyed(path, asked); });
}

Content LookSession::obeyed(const std::string& path, const json& asked) {
  for (const char* one : {"/slice", "/sinogram", "/frame", "/sweep", "/calibrate"})
    if (path == one) return picture(path, asked);
  if (path == "/run") return runs_.begin(asked), json_content({{"begun", true}});
  if (path == "/stop") return runs_.stop(), json_content({{"stopped", true}});
  if (path == "/solve") return solver_.begin(asked), json_content({{"begun", true}});
  if (path == "/enough") return solver_.enough(), json_content({{"stopped", true}});
  if (path == "/iterate") return answers_.answer(solver_.iterate(asked));
  if (path == "/axis" || path == "/recipe") return at_once(path, asked);
  return refusal("no such command", 404);
}

/// Ends the work of this thread when the session ends, or when `go_on` throws; it may be empty.
Interrupts LookSession::until_end(const LookScan::GoOn& go_on) {
  return Interrupts([this, go_on] {
    {
      const std::lock_guard lock(mutex_);
      if (over_) throw LookEnds{};
    }
    if (go_on) go_on();
  });
}

/// A slice in the making is given up, and the page asks for it again.
Content LookSession::at_once(const std::string& path, const json& asked) {
  const auto wait = [this](int change) {
    const std::lock_guard lock(mutex_);
    waiting_ += change;
  };
  wait(1);
  const std::lock_guard lock(making_);
  wait(-1);
  const Interrupts ends = until_end();
  if (path == "/axis") return json_content(scan_.axis(asked));
  return json_content(
      scan_.recipe({{"options", options_.by_solver(options_in(asked), asked.value("solver", json()))}}));
}

/// Waits for its turn, if nothing newer comes before.
Content LookSession::picture(const std::string& path, const json& asked) {
  const std::string pane = asked.value("pane", path);
  const Index number = newest_.begin(pane);
  const auto go_on = [&] {
    newest_.require_newest(pane, number);
    const std::lock_guard lock(mutex_);
    if (waiting_ > 0 && path == "/slice") throw NewestCommands::Superseded{};
  };
  const std::lock_guard lock(making_);
  go_on();
  const Interrupts ends = path == "/calibrate" ? until_end(go_on) : until_end();
  const int bits = bits_in(asked);
  const Pictured some = path == "/frame"       ? scan_.frame(asked)
                        : path == "/sweep"     ? sheet_of_sweep(scan_, asked, go_on)
                        : path == "/calibrate" ? geometry(asked, go_on)
                                               : scan_.slice(asked, path == "/sinogram", go_on);
  return answers_.answer(some, bits);
}

/// Tells streams meanwhile what is done.
Pictured LookSession::geometry(const json& asked, const LookScan::GoOn& go_on) {
  const auto tell_now = [this](json now) {
    {
      const std::lock_guard lock(mutex_);
      geometry_ = std::move(now);
    }
    tell();
  };
  const std::shared_ptr<void> at_work(nullptr, [&](void*) { tell_now(nullptr); });
  return sheet_of_calibration(scan_, asked, go_on, [&](const std::string& stage, double share) {
    tell_now({{"stage", stage}, {"share", share}});
  });
}

/// Each piece of the stream is the newest state of runs and of the solver, or a comment, by which a page that
/// is gone is noticed.
Content LookSession::events() {
  constexpr int most = 3;
  const std::lock_guard begun(mutex_);
  if (streams_ >= most) return refusal("three pages look at this scan already; close one", 503);
  ++streams_, left_.reset();
  const std::shared_ptr<void> counted(nullptr, [this](void*) {
    const std::lock_guard lock(mutex_);
    if (--streams_ == 0) left_ = std::chrono::steady_clock::now();
  });
  Content stream{"text/event-stream", "", 200, {}};
  stream.next = [this, counted, seen = Index{0}]() mutable -> std::optional<std::string> {
    constexpr std::chrono::milliseconds silence{450}, pause{50};
    std::unique_lock lock(mutex_);
    if (seen > 0) told_.wait_for(lock, pause, [this] { return over_; });
    told_.wait_for(lock, silence, [&] { return over_ || news_ != seen; });
    if (over_) return std::nullopt;
    if (news_ == seen) return ":\n\n";
    seen = news_;
    const json geometry = geometry_;
    lock.unlock();
    return "data: " + text_of({{"run", runs_.state()}, {"solve", solver_.state()}, {"geometry", geometry}}) +
           "\n\n";
  };
  return stream;
}

}  // namespace tandem::apps
