#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <tuple>

#include <algorithm>
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

/// A signal, and the seconds for a check-point after it.
struct Patience {
  int signal;
  double seconds;
};
constexpr double before_kill = 25, as_long_as_it_takes = 1e6;  // Slurm kills 30 s after SIGTERM
constexpr std::array<Patience, 5> patience{{{SIGTERM, before_kill},
                                            {SIGINT, as_long_as_it_takes},
                                            {SIGUSR1, as_long_as_it_takes},
                                            {SIGHUP, before_kill},
                                            {SIGXCPU, before_kill}}};

volatile std::sig_atomic_t caught = 0;
std::atomic<bool> outputs_expected = true;
std::atomic<bool> has_checkpoints = false, tells_of_them = false;
std::atomic<bool> needs_all_ranks = false;  // whether a check-point needs all ranks
std::atomic<bool> waits_for_step = false;   // whether a signal waits until a step has asked for it
std::array<int, 2> alarm_pipe{-1, -1};      // wakes the thread; a handler may only write to it

void take(int signal) {
  const int before = errno;
  caught = signal;
  const char byte = 0;
  std::ignore = ::write(alarm_pipe[1], &byte, 1);
  errno = before;
}

double time_for_checkpoint() {
  for (const Patience& after : patience)
    if (caught == after.signal) return after.seconds;
  return usual_time;
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

/// Words for the last line, which any thread may say.
struct Advice {
  std::mutex mutex;
  std::string words;
};
Advice& advice() {
  static Advice& one = *new Advice;  // never destroyed, since a thread may end the program at any time
  return one;
}

std::string words_of_advice() {
  const std::lock_guard lock(advice().mutex);
  return advice().words;
}

/// Ends the program if it has not ended itself.
void end_in_time() {
  char byte = 0;
  do
    while (::read(alarm_pipe[0], &byte, 1) < 0 && errno == EINTR)
      ;
  while (caught == 0);  // a signal to a child process is not for this one
  const auto wait = [](double time) { std::this_thread::sleep_for(std::chrono::duration<double>(time)); };
  wait(usual_time);
  if (const double rest = time_to_end() - usual_time; rest > 0) {
    if (tells_of_them && Comm::world().is_first())
      say_apart(name_of(caught) + ": the step at work is finished for a check-point; " +
                "send it once more to end at once");
    wait(rest);
  }
  take_last_word();  // before taking the lock, which the owner of the last word may need to end
  const std::lock_guard no_file_gets_its_name(io::publishing());
  io::abandon_outputs();
  ::_exit(say_failure(Interrupted().what(), 128 + caught));
}

}  // namespace

Interrupted::Interrupted()
    : std::runtime_error(
          (caught == 0 ? "another rank failed" : "interrupted by " + name_of(caught)) +
          (outputs_expected && io::published().empty() ? "; nothing stands under the final name" : "") +
          words_of_advice()) {}

void say_when_interrupted(const std::string& words) {
  const std::lock_guard lock(advice().mutex);
  advice().words = words;
}

void catch_signals() {
  try {
    if (::pipe2(alarm_pipe.data(), O_CLOEXEC) == 0) std::thread(end_in_time).detach();
  } catch (const std::system_error&) {  // no more threads; loops that ask still end in order
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ, SIGXCPU}) {
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
  return has_checkpoints && !is_useless ? time_for_checkpoint() : usual_time;
}
void wait_for_checkpoints(bool tells, bool together) {
  has_checkpoints = true;
  tells_of_them = tells;
  needs_all_ranks = together;
}

void expect_outputs(bool expected) { outputs_expected = expected; }

int caught_signal() { return caught; }

bool asks_for_checkpoint(const Comm& ranks) {
  if (ranks.is_alone()) {
    const bool asks = time_for_checkpoint() > usual_time;
    waits_for_step = !asks;
    return asks;
  }
  std::array<double, patience.size()> came{};
  for (std::size_t k = 0; k < came.size(); ++k) came[k] = caught == patience[k].signal;
  ranks.all_reduce(came);
  const std::size_t first =
      std::ranges::find_if(came, [](double ranks_of_it) { return ranks_of_it > 0; }) - came.begin();
  waits_for_step = first == came.size();
  if (waits_for_step) return false;
  if (caught == 0) take(patience[first].signal);
  return true;
}
void hear_alone() { waits_for_step = false; }

void throw_if_interrupted() {
  const bool waits = waits_for_step && time_for_checkpoint() > usual_time;
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
