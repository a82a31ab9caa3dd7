#include "control.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "mpi/messages.hpp"
#include "neighbours.hpp"
#include "spelled.hpp"

namespace tandem::control {

namespace {

using Clock = std::chrono::steady_clock;
using mpi::Channel;

constexpr int pause_ms = 1;                         // between two looks
constexpr std::chrono::milliseconds together{300};  // for failures of all ranks

enum Tag { asks, fails, loses, ends, answers };  // the thread takes all but answers

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
T value_in(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

void send(const std::string& bytes, int to, Tag tag) {
  mpi::send(Channel::control, bytes.data(), bytes.size(), to, tag);
}

struct Question {
  Index counter = 0, count = 0;
};

/// The failure of a rank that is lost, whatever ended it. What MPI's own program says about it may be left
/// out.
RankFailure lost(int rank) {
  return {rank, 128 + SIGKILL,
          "its process ended without a word: it was killed, or it crashed; if its memory was short, give a "
          "smaller " +
              spelled("memory"),
          true};
}

/// The state of the process. It is never destroyed: its thread may be the one that ends the process.
struct State {
  int rank = 0, size = 1;
  OnRankFailure on_failure;
  std::mutex mutex, asking;
  std::map<Index, Index> counters;
  std::vector<RankFailure> failures;
  Clock::time_point first_failure;
  int counters_made = 0;
  std::atomic<int> ending = -1;
  std::atomic<bool> stopped = false, some_may_end = false;
  Neighbours neighbours;
  bool first_is_lost = false;
  std::thread thread;

  Index add(const Question& asked) {
    const std::lock_guard lock(mutex);
    return std::exchange(counters[asked.counter], counters[asked.counter] + asked.count);
  }

  void hear(RankFailure failure) {
    const std::lock_guard lock(mutex);
    if (failures.empty()) first_failure = Clock::now();
    const auto same = [&](const RankFailure& one) {
      return one.rank == failure.rank && one.is_lost == failure.is_lost;
    };
    if (std::ranges::any_of(failures, same)) return;  // several ranks report a lost one
    const auto place =
        failure.is_lost ? std::ranges::find(failures, false, &RankFailure::is_lost) : failures.end();
    failures.insert(place, std::move(failure));
  }

  /// The process of another rank of this machine has ended.
  void lose(int other) {
    if (some_may_end || ending >= 0) return;
    first_is_lost = first_is_lost || other == 0;
    if (rank == 0)
      hear(lost(other));
    else if (first_is_lost && neighbours.is_lowest())
      hear(lost(0));  // so that this rank speaks for it
    else if (!first_is_lost)
      send(bytes_of(other), 0, loses);
  }

  /// True if a message came.
  bool take_message() {
    const std::optional<mpi::Message> message = mpi::arrived(Channel::control, ends);
    if (!message) return false;
    if (message->tag == asks)
      send(bytes_of(add(value_in<Question>(message->bytes))), message->from, answers);
    else if (message->tag == fails)
      hear({message->from, value_in<int>(message->bytes), message->bytes.substr(sizeof(int))});
    else if (message->tag == loses)
      hear(lost(value_in<int>(message->bytes)));
    else
      ending = value_in<int>(message->bytes);
    return true;
  }

  /// All failures, on the rank that reports them; none before the others had a moment to report theirs, too.
  std::vector<RankFailure> failed() {
    const std::lock_guard lock(mutex);
    const bool due = std::ssize(failures) == size || Clock::now() - first_failure > together;
    return failures.empty() || !due ? std::vector<RankFailure>() : failures;
  }

  void end_all(const std::vector<RankFailure>& all) {
    on_failure.tell(all);
    const int code = all.front().code;
    const auto is_lost = [&](int other) {
      return std::ranges::any_of(all, [&](const auto& one) { return one.is_lost && one.rank == other; });
    };
    for (int other = 0; other < size; ++other)
      if (other != rank && !is_lost(other)) send(bytes_of(code), other, ends);
    ending = code;
  }

  void watch() {
    while (!stopped) {
      while (take_message())
        ;
      if (const std::vector<RankFailure> all = failed(); !all.empty() && ending < 0) end_all(all);
      if (ending >= 0) return on_failure.end(ending);
      if (const std::optional<int> other = neighbours.ended_within(pause_ms)) lose(*other);
    }
  }
};

State& state() {
  static State& one = *new State;
  return one;
}

}  // namespace

void begin(int rank, int size, OnRankFailure on_failure) {
  State& s = state();
  s.rank = rank, s.size = size;
  s.on_failure = std::move(on_failure);
  s.neighbours = Neighbours(rank, size);
  s.thread = std::thread([&s] { s.watch(); });
}

void expect_ends() { state().some_may_end = true; }

void end() {
  state().stopped = true;
  if (state().thread.joinable()) state().thread.join();
}

int new_counter() { return state().counters_made++; }

Index add(int counter, Index count) {
  State& s = state();
  const Question question{counter, count};
  if (s.rank == 0) return s.add(question);
  const std::lock_guard one_at_a_time(s.asking);
  send(bytes_of(question), 0, asks);
  Index answer = 0;
  mpi::receive(Channel::control, &answer, sizeof answer, 0, answers);
  return answer;
}

void report(int code, const std::string& text) {
  if (state().rank == 0) return state().hear({0, code, text});
  send(bytes_of(code) + text, 0, fails);
}

std::optional<int> ending() {
  const int code = state().ending;
  return code < 0 ? std::nullopt : std::optional(code);
}

}  // namespace tandem::control
