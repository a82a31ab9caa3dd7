#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "space.hpp"

namespace tandem {

/// How a rank failed.
struct RankFailure {
  int rank = 0, code = 0;  ///< number of the rank; exit code of its process
  std::string text;
  bool is_lost = false;  ///< its process ended without a word, as others say
};

/// What a program does if one of its ranks fails. A thread of its own calls these, each once.
struct OnRankFailure {
  /// Reports failures to the user. Runs on the first rank, or on another one if the first is lost. Failures
  /// come in the order in which they were reported, lost ranks first. A call has all that came within a
  /// moment, so that a failure that all ranks met can be reported once.
  std::function<void(const std::vector<RankFailure>&)> tell;
  /// Ends this process soon, with this code. Runs on every rank, and need not return.
  std::function<void(int code)> end;
};

enum class Combine { sum, least };

/// The processes that do one task together. Each has a number, its rank. A process that nobody started with
/// others is alone, and all of this then does nothing. Copies are the same group. Calls that say "all ranks"
/// wait until all of them make the same call, in the same order.
class Comm {
 public:
  Comm() = default;  ///< this process alone
  /// All ranks that `start` began; this process alone if it was not called.
  static Comm world();
  /// Begins the ranks that `mpirun` or `srun` started. Once a process. @throws DeviceError in a build without
  /// MPI
  static Comm start(OnRankFailure on_failure);
  static bool is_built_in();  ///< whether the build has MPI

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }
  bool is_alone() const { return size_ == 1; }

  void barrier() const;  ///< all ranks
  /// Combines each value with those of all ranks. All ranks call it, with as many values. Sums are taken in
  /// the order of the ranks, so that they have the same bits on all of them, and in every run with as many
  /// ranks. It is meant for a few numbers: each rank receives those of all.
  void all_reduce(std::span<double> values, Combine how = Combine::sum) const;
  std::string broadcast(std::string text, int from = 0) const;        ///< all ranks
  std::vector<std::string> all_gather(const std::string& own) const;  ///< all ranks; for short texts
  /// The texts of all ranks, on the first one; nothing on the others. All ranks call it.
  std::vector<std::string> gather(const std::string& own) const;
  /// The same for values, which then lie one rank after the other.
  std::vector<float> gather(std::span<const float> own) const;
  /// Sends to one rank while it receives from another one, and waits for both. If there are no bytes, no
  /// message is sent. One thread of a rank may call it at a time. @pre the other ranks send and receive as
  /// many
  void exchange(std::span<const std::byte> own, int to, std::span<std::byte> other, int from) const;

  /// Tells the first rank, and thereby all, that this one cannot go on. @returns the code with which all
  /// ranks end, when they have been told; empty if the first rank did not answer in time, and so nobody was
  /// told
  std::optional<int> fail(int code, const std::string& text) const;
  std::optional<int> ending() const;  ///< the code with which all end, if a rank failed
  /// Waits a moment for the other ranks, when this one ends because one failed. So none is in the middle of
  /// something when `mpirun` ends all. False if not all came.
  bool meet_at_the_end() const;
  /// `leave` calls this on every rank, while all are still there.
  void before_leaving(std::function<void()> what) const;
  /// The last call of each rank that did not fail: waits until all are done, and ends MPI. If a rank fails,
  /// this does not return; `OnRankFailure::end` has the process. @pre no other thread of this process calls
  /// anything here
  void leave() const;

 private:
  friend class SharedCounter;
  Comm(int rank, int size) : rank_(rank), size_(size) {}
  int rank_ = 0, size_ = 1;
};

/// The value that the first rank has. All ranks call it.
template <class T>
requires std::is_trivially_copyable_v<T> T of_first(const Comm& ranks, T value) {
  const std::string text = ranks.broadcast({reinterpret_cast<const char*>(&value), sizeof value});
  std::memcpy(&value, text.data(), sizeof value);
  return value;
}

/// A number that all ranks share, 0 at the start: a queue from which each takes what it does next. Any thread
/// may use it. It costs another rank than the first a message to it and back.
class SharedCounter {
 public:
  explicit SharedCounter(const Comm& comm);  ///< all ranks, in the same order
  Index add(Index count);                    ///< @returns the number before

 private:
  Comm comm_;
  int name_ = 0;
  std::unique_ptr<std::atomic<Index>> own_;  ///< the number itself, in a process alone
};

}  // namespace tandem
