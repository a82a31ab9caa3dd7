// The report of a run: --json FILE.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../command.hpp"
#include "../runs/log_file.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;

/// A device or a pipe, /dev/null or a shell's >(command): written to as it is.
bool is_no_file(const fs::path& path) {
  std::error_code fault;
  const fs::file_status found = fs::status(path, fault);
  return fs::exists(found) && !fs::is_regular_file(found) && !fs::is_directory(found);
}

/// Opens a device or a pipe before the work, since a pipe that nobody reads would wait for ever after it.
std::shared_ptr<const int> opened(const std::string& path) {
  constexpr int patience_ms = 5'000, pause_ms = 50;
  int to = -1, fault = ENXIO;  // what the system says of a pipe without a reader
  for (int waited = 0; to < 0 && fault == ENXIO && waited <= patience_ms; waited += pause_ms) {
    if (waited > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    to = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    fault = errno;
  }
  require<FileError>(
      to >= 0, path, ": the report cannot be written: ",
      fault == ENXIO ? "nobody reads from there; start its reader first" : std::strerror(fault));
  ::fcntl(to, F_SETFL, O_WRONLY);  // a reader may take its time
  return {new int(to), [](const int* open) {
            ::close(*open);
            delete open;
          }};
}

void write_through(const Common& common, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = ::write(*common.pipe, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    require<FileError>(bytes > 0, common.json, ": the report cannot be written: ", std::strerror(errno));
    text.remove_prefix(bytes);
  }
}

}  // namespace

void open_report(Common& common) {
  begin_log(common.log, common.replace());
  if (common.json == "/dev/stdout") common.json = "-";
  if (common.json.empty() || common.json == "-") return;
  if (is_no_file(common.json)) return static_cast<void>(common.pipe = opened(common.json));
  common.report = std::make_shared<io::Output>(common.json, io::Content::report, common.replace());
}

void write_report(Common& common, nlohmann::json report) {
  report["version"] = TANDEM_VERSION;
  if (common.listener) common.listener->report(report);
  const bool on_terminal = common.json == "-";
  if (common.json.empty() || (on_terminal && common.listener)) return;
  if (on_terminal && common.together) return common.together->push_back(report);
  const std::string text = text_of(report, 1) + '\n';
  if (on_terminal)
    std::cout << text;
  else if (common.report)
    common.report->write(text);
  else
    write_through(common, text);
}

}  // namespace tandem::apps
