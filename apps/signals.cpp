#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "../io/output.hpp"
#include "log_file.hpp"

namespace tandem::apps {

namespace {

volatile std::sig_atomic_t caught = 0;
std::array<int, 2> alarm_pipe{-1, -1};  // wakes the thread; a handler may do no more than write to it

void on_signal(int signal) {
  const int before = errno;
  caught = signal;
  const char byte = 0;
  static_cast<void>(!::write(alarm_pipe[1], &byte, 1));
  errno = before;
}

std::string name_of(int signal) { return std::string("SIG") + ::sigabbrev_np(signal); }

/// Ends the program if it has not ended itself.
void end_in_time() {
  char byte = 0;
  do
    while (::read(alarm_pipe[0], &byte, 1) < 0 && errno == EINTR)
      ;
  while (caught == 0);  // a signal to a child process is none to this one
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  take_last_word();  // before the lock, which the owner of the last word may need to end
  const std::lock_guard no_file_gets_its_name(io::publishing());
  io::abandon_outputs();
  const std::string text = std::string("tandem: error: ") + Interrupted().what(), line = text + '\n';
  log_line(text);
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(128 + caught);
}

}  // namespace

Interrupted::Interrupted()
    : std::runtime_error("interrupted by " + name_of(caught) +
                         (io::published().empty() ? "; nothing stands under the final name" : "")) {}

void catch_signals() {
  try {
    if (::pipe2(alarm_pipe.data(), O_CLOEXEC) == 0) std::thread(end_in_time).detach();
  } catch (const std::system_error&) {  // no more threads: loops that ask still end in order
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int caught_signal() { return caught; }

void throw_if_interrupted() {
  if (caught != 0) throw Interrupted();
}

void take_last_word() {
  static std::atomic<std::thread::id> owner{};
  std::thread::id nobody{};
  if (owner.compare_exchange_strong(nobody, std::this_thread::get_id()) ||
      nobody == std::this_thread::get_id())  // who has it
    return;
  for (;;) ::pause();
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", O_RDWR) == stream);  // takes the lowest free number
}

std::string words_on_published(std::size_t before) {
  std::string text;
  const std::vector<std::string> names = io::published();
  for (std::size_t k = before; k < names.size(); ++k)
    text += (text.empty() ? "; written and whole: " : ", ") + names[k];
  return text;
}

}  // namespace tandem::apps
