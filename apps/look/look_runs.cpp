#include "look_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "../../core/error.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../options/command_line.hpp"
#include "../runs/batch.hpp"
#include "../runs/failure.hpp"
#include "../runs/lines.hpp"
#include "../runs/signals.hpp"
#include "look_command.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& name) {
  std::error_code fault;
  return fs::symlink_status(name, fault).type() != fs::file_type::not_found;
}

/// Whether nothing is there that a volume of this name would replace: no slice either.
bool is_free(const std::string& name) { return std::ranges::none_of(io::files_of_output(name), is_there); }

/// @throws UsageError unless it is the name of a new file in this folder
void require_new_name(const std::string& name) {
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
    throw UsageError("name: the name of a new volume in the folder of this run is needed, such as volume.h5");
  require_volume_name({"name", name});
  if (!is_free(name)) throw UsageError(name + " is there already; give another name");
}

/// Whether a file or a folder of this folder is of the kind of a scan, by its name.
bool is_of_the_kind(const fs::path& path, const fs::path& scan) {
  std::error_code fault;
  if (path.filename().string().front() == '.') return false;
  if (fs::is_directory(scan, fault)) return fs::is_directory(path, fault);
  return fs::is_regular_file(path, fault) && path.extension() == scan.extension();
}

bool holds_a_volume(const std::string& path) {
  try {
    ScanOptions scan;
    scan.path = path;
    return io::is_volume_alone(path) || volume_in(scan) != nullptr;
  } catch (const std::exception&) {
    return false;  // it is listed, and its run says what is wrong
  }
}

/// A message about an output, without the option that names it on a command line.
std::string without_option(const std::string& text) { return text.substr(text.starts_with("-o ") ? 3 : 0); }

std::vector<std::string> texts_of(const json& list, const char* name) {
  if (!list.is_array() || list.empty() || list.size() > 1000 ||
      !std::ranges::all_of(list, [](const json& one) { return one.is_string(); }))
    throw UsageError(std::string(name) + ": a list of names is needed");
  return list.get<std::vector<std::string>>();
}

}  // namespace

LookRuns::LookRuns(const LookOptions& options, std::function<void()> news)
    : ToldOf(std::move(news)), options_(options) {}

LookRuns::~LookRuns() {
  end();
  if (thread_.joinable()) thread_.join();
}

void LookRuns::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
}

void LookRuns::end() {
  const std::lock_guard lock(mutex_);
  stop_ = over_ = true;
}

json LookRuns::scans() const {
  constexpr std::size_t most = 500;
  std::set<std::string> names(options_.scans().begin(), options_.scans().end());
  std::error_code fault;
  for (fs::directory_iterator at(".", fault), end; !fault && at != end && names.size() < most;
       at.increment(fault)) {
    const std::string name = at->path().filename().string();
    if (is_of_the_kind(name, options_.scans().front()) && !holds_a_volume(name)) names.insert(name);
  }
  std::erase_if(names, [](const std::string& name) { return !is_plain(name); });  // no command can name it
  return names;
}

std::string LookRuns::free_name(const std::string& wished) {
  if (is_free(wished)) return wished;
  const fs::path path = wished;
  std::string stem = path.stem().string();
  if (const std::size_t mark = stem.find_last_not_of("0123456789");
      mark != std::string::npos && mark > 0 && stem[mark] == '_')
    stem.resize(mark);
  for (Index number = 2;; ++number)
    if (std::string name = stem + '_' + std::to_string(number) + path.extension().string(); is_free(name))
      return name;
}

std::vector<LookRuns::One> LookRuns::asked_for(const json& asked) const {
  json options = options_.by_solver(options_in(asked), asked.value("solver", json()));
  const std::string pattern = asked.value("name", "");
  const bool several = asked.contains("scans");
  bool finds_axis = false;
  const std::vector<std::string> scans =
      several ? texts_of(asked["scans"], "scans") : std::vector{options_.scans().front()};
  if (several && asked.value("each_axis", false)) {
    options.erase("rotation-axis");
    finds_axis = true;
  }
  std::vector<One> all;
  std::set<std::string> outputs;
  for (const std::string& scan : scans) {
    const bool named = std::ranges::find(options_.scans(), scan) != options_.scans().end();
    if (!named && (scan.empty() || scan.find('/') != std::string::npos || !is_there(scan) ||
                   !is_of_the_kind(scan, options_.scans().front())))
      throw UsageError("scans: " + scan +
                       " is no scan of this folder, and the command line has not named it");
    One one{scan, name_for(pattern, scan, ""), options, finds_axis};
    require_new_name(one.output);
    if (!outputs.insert(one.output).second)
      throw UsageError("name: " + one.output + " would be written twice; put {name} into it");
    all.push_back(std::move(one));
  }
  options_.parsed(options, {{"output", {all.front().output}}});  // refused here rather than there
  return all;
}

void LookRuns::begin(const json& asked) {
  std::vector<One> all = asked_for(asked);
  change([&] {
    if (state_["state"] == "runs") throw UsageError("a run is at work; wait for its end, or stop it");
    if (thread_.joinable()) thread_.join();
    stop_ = over_;
    state_ = {{"state", "runs"}, {"name", all.front().output}, {"stage", "begins"}, {"notes", json::array()}};
    if (asked.contains("scans")) {
      state_["rows"] = json::array();
      for (const One& one : all)
        state_["rows"].push_back({{"scan", one.scan}, {"output", one.output}, {"state", "waits"}});
    }
    thread_ = std::thread([this, all = std::move(all)]() mutable { run_each(std::move(all)); });
  });
}

/// A failure is said, and the others go on.
void LookRuns::run_each(std::vector<One> all) {
  std::vector<std::string> failures;
  for (std::size_t k = 0; k < all.size(); ++k) {
    One& one = all[k];
    const auto row = [&](const char* name, const json& value) {
      if (state_.contains("rows")) state_["rows"][k][name] = value;
    };
    change([&] {
      state_["name"] = one.output, state_["stage"] = "begins", state_["done"] = state_["total"] = 0;
      state_.erase("seconds");  // the seconds belong to the scan before
      row("state", "runs");
    });
    const std::optional<Failure> failure = failure_of([&] { run(one); });
    change([&] {
      row("state", failure ? "failed" : "done");
      row("seconds", state_.value("seconds", 0.0));
      if (!failure) return;
      failures.push_back(stop_ ? "stopped" : one_line("", without_option(failure->text)));
      row("error", failures.back());
    });
    const std::lock_guard lock(mutex_);
    if (stop_) break;
  }
  change([&] {
    state_["state"] = failures.empty() ? "done" : "failed";
    if (!state_.contains("rows")) state_["next"] = free_name(all.front().output);
    if (failures.empty()) return;
    state_["error"] = all.size() == 1
                          ? failures.front()
                          : std::to_string(failures.size()) + " of " + std::to_string(all.size()) +
                                " scans failed, the first: " + failures.front();
  });
}

/// `tandem recon` itself.
void LookRuns::run(const One& one) {
  const Listening listening({.stage =
                                 [this](const std::string& stage, double done, double total,
                                        const std::string& what, const std::string& detail) {
                                   change([&] {
                                     require<Error>(!stop_, "stopped");
                                     state_["stage"] = stage, state_["done"] = done, state_["total"] = total;
                                     state_["what"] = what, state_["detail"] = detail;
                                   });
                                 },
                             .note =
                                 [this](const std::string& line) {
                                   const std::lock_guard lock(mutex_);
                                   if (state_["notes"].size() < 100) state_["notes"].push_back(line);
                                 },
                             .report =
                                 [this](const json& report) {
                                   const std::lock_guard lock(mutex_);
                                   state_["seconds"] =
                                       report.value("seconds", json::object()).value("run", 0.0);
                                 }});
  expect_outputs(true);
  require_new_name(one.output);  // again, since others write here, too
  GivenOptions more{{"output", {one.output}}};
  if (one.finds_axis) more.push_back({"rotation-axis", {"auto"}});
  const auto recon = table_of(command_named("recon"));
  options_.give(*recon, one.options, more, one.scan);
  recon->work();
}

}  // namespace tandem::apps
