#include "log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "../core/error.hpp"
#include "../core/version.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

struct Log {
  std::timed_mutex mutex;  // the thread that ends the program must not wait for a disk
  int file = -1;
  std::string name;
  std::set<std::string> begun;
  std::string command = "tandem";
};

Log& log() {
  static Log& one = *new Log;  // never destroyed: a thread may write to it at any time
  return one;
}

std::string now() {
  using namespace std::chrono;
  const auto time = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(time);
  const auto milliseconds = duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 24> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s.%03dZ", day.data(), static_cast<int>(milliseconds));
  return text.data();
}

bool write_all(int file, const std::string& text) {
  return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

void begin_log(const std::string& file, io::Replace replace) {
  if (file.empty()) return;
  Log& l = log();
  const std::lock_guard lock(l.mutex);
  if (l.file >= 0 && l.name == file) return;
  const bool again = !l.begun.insert(file).second;
  if (!again) io::require_replaceable(file, replace);
  const int opened = ::open(
      file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC | (again ? 0 : O_TRUNC), 0666);
  const int fault = errno;
  require<FileError>(opened >= 0, "--log ", file, ": cannot be written: ", std::strerror(fault));
  if (l.file >= 0) ::close(l.file);
  l.file = opened;
  l.name = file;
  const std::string head = std::string("tandem ") + TANDEM_VERSION + ": log of " + l.command + "\n";
  require<FileError>(again || write_all(l.file, head), "--log ", file,
                     ": cannot be written: ", std::strerror(errno));
}

void log_line(std::string_view line) {
  Log& l = log();
  const std::unique_lock lock(l.mutex, std::chrono::milliseconds(200));
  if (!lock.owns_lock() || l.file < 0) return;
  if (write_all(l.file, now() + ' ' + std::string(line) + '\n')) return;
  const std::string said =
      "tandem: warning: --log " + l.name + ": cannot be written further: " + std::strerror(errno) + "\n";
  ::close(l.file);
  l.file = -1;
  static_cast<void>(write_all(STDERR_FILENO, said));
}

void remember_command_line(int argc, char** argv) {
  std::string text = "tandem";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  log().command = one_line("", text);
}

}  // namespace tandem::apps
