#include "control.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "mpi/messages.hpp"

namespace tandem::control {

namespace {

using Clock = std::chrono::steady_clock;
using mpi::Channel;

constexpr std::chrono::milliseconds pause{1}, together{300};  // between two looks; for failures of all ranks

enum Tag { asks, fails, ends, answers };  // the thread takes all but answers

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

/// Of the process. It is never destroyed: its thread may be the one that ends the process.
struct State {
  int rank = 0, size = 1;
  OnRankFailure on_failure;
  std::mutex mutex, asking;
  std::map<Index, Index> counters;
  std::vector<RankFailure> failures;
  Clock::time_point first_failure;
  int counters_made = 0;
  std::atomic<int> ending = -1;
  std::atomic<bool> stopped = false;
  std::thread thread;

  Index add(const Question& asked) {
    const std::lock_guard lock(mutex);
    return std::exchange(counters[asked.counter], counters[asked.counter] + asked.count);
  }

  void hear(RankFailure failure) {
    const std::lock_guard lock(mutex);
    if (failures.empty()) first_failure = Clock::now();
    failures.push_back(std::move(failure));
  }

  /// True if a message came.
  bool take_message() {
    const std::optional<mpi::Message> message = mpi::arrived(Channel::control, ends);
    if (!message) return false;
    if (message->tag == asks)
      send(bytes_of(add(value_in<Question>(message->bytes))), message->from, answers);
    else if (message->tag == fails)
      hear({message->from, value_in<int>(message->bytes), message->bytes.substr(sizeof(int))});
    else
      ending = value_in<int>(message->bytes);
    return true;
  }

  /// On the first rank: all that failed, when they had a moment to say so.
  std::vector<RankFailure> failed() {
    const std::lock_guard lock(mutex);
    const bool due = static_cast<int>(failures.size()) == size || Clock::now() - first_failure > together;
    return failures.empty() || !due ? std::vector<RankFailure>() : failures;
  }

  void end_all(const std::vector<RankFailure>& all) {
    on_failure.tell(all);
    const int code = all.front().code;
    for (int other = 1; other < size; ++other) send(bytes_of(code), other, ends);
    ending = code;
  }

  void watch() {
    while (!stopped) {
      while (take_message())
        ;
      if (const std::vector<RankFailure> all = failed(); !all.empty() && ending < 0) end_all(all);
      if (ending >= 0) return on_failure.end(ending);
      std::this_thread::sleep_for(pause);
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
  s.thread = std::thread([&s] { s.watch(); });
}

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
