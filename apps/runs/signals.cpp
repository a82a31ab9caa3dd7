#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <tuple>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>

#include "../../io/files/output.hpp"
#include "ranks.hpp"

namespace tandem::apps {

namespace {

constexpr double usual_time = 0.5;  // s

volatile std::sig_atomic_t caught = 0;
std::atomic<double> time_after_sigterm = usual_time;
std::atomic<bool> needs_all_ranks = false;   // whether a check-point needs all ranks
std::atomic<bool> waits_for_others = false;  // whether a SIGTERM waits until all ranks have heard of it
std::array<int, 2> alarm_pipe{-1, -1};       // wakes the thread; a handler may only write to it

void take(int signal) {
  const int before = errno;
  caught = signal;
  const char byte = 0;
  std::ignore = ::write(alarm_pipe[1], &byte, 1);
  errno = before;
}

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/// Handles a signal. `timeout` and schedulers send it to a process and to its group, so it may come twice at
/// once.
void on_signal(int signal) {
  static std::atomic<int> came = 0;
  static std::atomic<double> came_at = 0;
  if (came != signal) came = signal, came_at = seconds();
  if (seconds() - came_at < usual_time) return take(signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string name_of(int signal) { return std::string("SIG") + ::sigabbrev_np(signal); }

/// Ends the program if it has not ended itself.
void end_in_time() {
  char byte = 0;
  do
    while (::read(alarm_pipe[0], &byte, 1) < 0 && errno == EINTR)
      ;
  while (caught == 0);  // a signal to a child process is not for this one
  std::this_thread::sleep_for(std::chrono::duration<double>(time_to_end()));
  take_last_word();  // before taking the lock, which the owner of the last word may need to end
  const std::lock_guard no_file_gets_its_name(io::publishing());
  io::abandon_outputs();
  ::_exit(say_failure(Interrupted().what(), 128 + caught));
}

}  // namespace

Interrupted::Interrupted()
    : std::runtime_error((caught == 0 ? "another rank failed" : "interrupted by " + name_of(caught)) +
                         (io::published().empty() ? "; nothing stands under the final name" : "")) {}

void catch_signals() {
  try {
    if (::pipe2(alarm_pipe.data(), O_CLOEXEC) == 0) std::thread(end_in_time).detach();
  } catch (const std::system_error&) {  // no more threads; loops that ask still end in order
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGXCPU}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

double time_to_end() {
  const bool is_useless = needs_all_ranks && Comm::world().ending();
  return caught == SIGTERM && !is_useless ? time_after_sigterm.load() : usual_time;
}
void give_time(double seconds, bool together) {
  time_after_sigterm = seconds;
  needs_all_ranks = together;
}

int caught_signal() { return caught; }

bool hear_together(const Comm& ranks) {
  double terms = caught == SIGTERM ? 1 : 0;
  ranks.all_reduce({&terms, 1});
  if (terms > 0 && caught == 0) take(SIGTERM);
  waits_for_others = terms == 0;
  return terms > 0;
}
void hear_alone() { waits_for_others = false; }

void throw_if_interrupted() {
  const bool waits = waits_for_others && caught == SIGTERM;
  if ((caught != 0 && !waits) || Comm::world().ending()) throw Interrupted();
}

void take_last_word() {
  static std::atomic<std::thread::id> owner{};
  std::thread::id nobody{};
  if (owner.compare_exchange_strong(nobody, std::this_thread::get_id()) ||
      nobody == std::this_thread::get_id())  // this thread has it already
    return;
  for (;;) ::pause();
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      std::ignore = ::open("/dev/null", O_RDWR);  // takes the lowest free number
}

std::string words_on_published(std::size_t before) {
  std::string text;
  const std::vector<std::string> names = io::published();
  for (std::size_t k = before; k < names.size(); ++k)
    text += (text.empty() ? "; written and whole: " : ", ") + names[k];
  return text;
}

}  // namespace tandem::apps
