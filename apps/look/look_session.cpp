#include "look_session.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include "../../core/error.hpp"
#include "../options/command_line.hpp"
#include "../runs/failure.hpp"
#include "../runs/lines.hpp"
#include "sweep.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

constexpr const char* json_type = "application/json";

Content json_content(const json& all, int status = 200) { return {json_type, text_of(all), status}; }

Content refusal(const char* why, int status) { return json_content({{"error", one_line("", why)}}, status); }

/// The name of a new file in this folder. @throws UsageError for any other
std::string new_name(const json& asked) {
  std::string name = asked.value("name", "");
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
    throw UsageError("name: the name of a new volume in the folder of this run is needed, such as volume.h5");
  require_volume_name({"name", name});
  std::error_code fault;
  const auto status = std::filesystem::symlink_status(name, fault);
  if (status.type() != std::filesystem::file_type::not_found)
    throw UsageError(name + " is there already; give another name");
  return name;
}

}  // namespace

LookSession::LookSession(const ReconOptions& start) : options_(start), scan_(options_) {
  scan_.report();
  if (options_.follows()) scan_.grown();
  if (!start.axis_auto) return;
  const json found = scan_.axis({{"options", options_.start()}});
  options_.begin_with("rotation-axis", text_of(found["axis_bin"]));
}

LookSession::~LookSession() {
  end();
  if (runner_.joinable()) runner_.join();
}

void LookSession::end() {
  const std::lock_guard lock(mutex_);
  over_ = stop_ = true;
  told_.notify_all();
}

std::optional<Content> LookSession::answer(const std::string& path) {
  constexpr std::array views{"/geometry-0.png", "/geometry-1.png", "/geometry-2.png"};
  if (path == "/events") return events();
  const std::lock_guard lock(making_);
  if (path == "/grown.json") return grown();
  if (path == "/about.json") return json_content(scan_.report());
  for (std::size_t k = 0; k < views.size(); ++k)
    if (path == views[k])
      if (std::string png = scan_.geometry_png(k); !png.empty()) return Content{"image/png", std::move(png)};
  return {};
}

Content LookSession::grown() {
  try {
    return json_content(scan_.grown());
  } catch (const Error& fault) {
    return refusal(fault.what(), 422);
  } catch (const UsageError& fault) {
    return refusal(fault.what(), 422);
  }
}

std::optional<Content> LookSession::obey(const std::string& path, const std::string& body) {
  const json asked = parsed(body);
  if (!asked.is_object()) return refusal("a command is an object of JSON", 400);
  try {
    return obeyed(path, asked);
  } catch (const Superseded&) {
    return refusal("a newer command has come", 409);
  } catch (const UsageError& fault) {
    return refusal(fault.what(), 422);
  } catch (const Error& fault) {
    return refusal(fault.what(), 422);
  } catch (const json::exception&) {
    return refusal("a value of the command is of another kind", 422);
  } catch (const std::bad_alloc&) {
    return refusal("memory does not suffice", 422);
  }
}

Content LookSession::obeyed(const std::string& path, const json& asked) {
  if (path == "/slice" || path == "/sinogram" || path == "/frame" || path == "/sweep")
    return picture(path, asked);
  if (path == "/run") return begin_run(asked), json_content({{"begun", true}});
  if (path == "/stop") {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    return json_content({{"stopped", true}});
  }
  if (path == "/axis" || path == "/recipe") return at_once(path, asked);
  return refusal("no such command", 404);
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
  return json_content(path == "/axis" ? scan_.axis(asked) : scan_.recipe(asked));
}

/// Waits for its turn, if nothing newer comes before.
Content LookSession::picture(const std::string& path, const json& asked) {
  const std::string pane = asked.value("pane", path);
  Index number = 0;
  {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t most = 16;
    if (newest_.size() >= most && !newest_.contains(pane)) newest_.clear();
    number = ++newest_[pane];
  }
  const auto go_on = [&] {
    const std::lock_guard lock(mutex_);
    if (over_ || newest_[pane] != number || (waiting_ > 0 && path == "/slice")) throw Superseded{};
  };
  const std::lock_guard lock(making_);
  go_on();
  const Pictured some = path == "/frame"   ? scan_.frame(asked)
                        : path == "/sweep" ? sheet_of_sweep(scan_, asked, go_on)
                                           : scan_.slice(asked, path == "/sinogram", go_on);
  return {"application/octet-stream", bytes_of(some)};
}

void LookSession::begin_run(const json& asked) {
  const std::string name = new_name(asked);
  const json options = asked.value("options", json::object());
  std::vector<std::string> words = options_.words(options, {"--output=" + name});
  options_.parsed(options, {"--output=" + name});  // refused here rather than there
  const std::lock_guard lock(mutex_);
  if (run_["state"] == "runs") throw UsageError("a run is at work; wait for its end, or stop it");
  if (runner_.joinable()) runner_.join();
  stop_ = over_;
  run_ = {{"state", "runs"}, {"name", name}, {"stage", "begins"}, {"notes", json::array()}};
  ++news_;
  told_.notify_all();
  runner_ = std::thread([this, words = std::move(words)]() mutable { run(std::move(words)); });
}

/// `tandem recon` itself, within this process.
void LookSession::run(std::vector<std::string> words) {
  const Listening listening({.stage =
                                 [this](const std::string& stage, double done, double total,
                                        const std::string& what, const std::string& detail) {
                                   const std::lock_guard lock(mutex_);
                                   require<Error>(!stop_, "stopped");
                                   run_["stage"] = stage, run_["done"] = done, run_["total"] = total;
                                   run_["what"] = what, run_["detail"] = detail;
                                   ++news_;
                                   told_.notify_all();
                                 },
                             .note =
                                 [this](const std::string& line) {
                                   const std::lock_guard lock(mutex_);
                                   if (run_["notes"].size() < 100) run_["notes"].push_back(line);
                                 },
                             .report =
                                 [this](const json& report) {
                                   const std::lock_guard lock(mutex_);
                                   run_["seconds"] =
                                       report.value("seconds", json::object()).value("run", 0.0);
                                 }});
  const std::optional<Failure> failure = failure_of([&] {
    CLI::App program("", "tandem");
    Action chosen;
    add_recon(program, chosen);
    program.require_subcommand(1);
    prepare(program);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    if (parse(program, static_cast<int>(arguments.size()), arguments.data())) chosen();
  });
  const std::lock_guard lock(mutex_);
  run_["state"] = failure ? "failed" : "done";
  if (failure) run_["error"] = one_line("", failure->text);
  ++news_;
  told_.notify_all();
}

/// Each piece of the stream is the newest state of the run, or a comment, by which a page that is gone is
/// noticed.
Content LookSession::events() {
  constexpr int most = 3;
  const std::lock_guard begun(mutex_);
  if (streams_ >= most) return refusal("three pages look at this scan already; close one", 503);
  ++streams_;
  const std::shared_ptr<void> counted(nullptr, [this](void*) {
    const std::lock_guard lock(mutex_);
    --streams_;
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
    return "data: " + text_of({{"run", run_}}) + "\n\n";
  };
  return stream;
}

}  // namespace tandem::apps
