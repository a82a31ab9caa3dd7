// The report of a run: --json FILE.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "../../core/error.hpp"
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

void write_through(const std::string& path, const std::string& text) {
  const int to = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  const bool written = to >= 0 && ::write(to, text.data(), text.size()) == std::ssize(text);
  const int fault = errno;
  if (to >= 0) ::close(to);
  require<FileError>(written, path, ": the report cannot be written: ", std::strerror(fault));
}

}  // namespace

void open_report(Common& common) {
  begin_log(common.log, common.replace());
  if (common.json == "/dev/stdout") common.json = "-";
  if (common.json.empty() || common.json == "-" || is_no_file(common.json)) return;
  common.report = std::make_shared<io::Output>(common.json, io::Content::report, common.replace());
}

void write_report(Common& common, const nlohmann::json& report) {
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
    write_through(common.json, text);
}

}  // namespace tandem::apps
