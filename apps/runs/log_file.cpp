#include "log_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <tuple>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

struct Log {
  std::timed_mutex mutex;  // the thread that ends the program must not wait for a disk
  int file = -1;
  std::string name;
  std::set<std::string> begun;
  std::string command = "tandem", hidden;
};

Log& log() {
  static Log& one = *new Log;  // never destroyed, since a thread may write to it at any time
  return one;
}

bool write_all(int file, const std::string& text) {
  return ::write(file, text.data(), text.size()) == std::ssize(text);
}

/// Opens the file of a log: a new one, or the log that is there, emptied unless it goes on. No link is
/// followed, and a file that has come under the name since the check is refused.
int opened_log(const std::string& file, bool again, io::Replace replace) {
  constexpr int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int made = ::open(file.c_str(), flags | O_CREAT | O_EXCL, 0666);
  if (made >= 0) return made;
  const auto require_log = [&](bool holds) {
    const int fault = errno;
    require<FileError>(holds, "--log ", file,
                       fault == ELOOP ? ": is a link, which a log does not follow; give another name"
                                      : std::string(": cannot be written: ") + std::strerror(fault));
  };
  require_log(errno == EEXIST);
  const int there = ::open(file.c_str(), flags);
  require_log(there >= 0);
  try {
    if (!again)
      io::require_content("/proc/self/fd/" + std::to_string(there), file, io::Content::log, replace);
    require_log(again || ::ftruncate(there, 0) == 0);
  } catch (...) {
    ::close(there);
    throw;
  }
  return there;
}

}  // namespace

void begin_log(const std::string& file, io::Replace replace) {
  if (file.empty()) return;
  Log& l = log();
  const std::lock_guard lock(l.mutex);
  if (l.file >= 0 && l.name == file) return;
  const bool again = !l.begun.insert(file).second;
  const int opened = opened_log(file, again, replace);
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
  std::string shown(line);
  if (const std::size_t at = shown.find(l.hidden); !l.hidden.empty() && at != std::string::npos)
    shown.replace(at, l.hidden.size(), "...");
  if (write_all(l.file, time_now() + ' ' + shown + '\n')) return;
  const std::string said =
      "tandem: warning: --log " + l.name + ": cannot be written further: " + std::strerror(errno) + "\n";
  ::close(l.file);
  l.file = -1;
  std::ignore = write_all(STDERR_FILENO, said);
}

void keep_out_of_log(const std::string& word) {
  const std::lock_guard lock(log().mutex);
  log().hidden = word;
}

void remember_command_line(int argc, char** argv) {
  std::string text = "tandem";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  log().command = one_line("", text);
}

std::string command_line() { return log().command; }

std::string time_now() {
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

}  // namespace tandem::apps
