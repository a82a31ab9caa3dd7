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

#include "range.hpp"

namespace tandem {

/// How a rank failed.
struct RankFailure {
  int rank = 0, code = 0;  ///< of the process
  std::string text;
  bool is_lost = false;  ///< its process ended without a word, as others say
};

/// What a program does if one of its ranks fails. A thread of its own calls these, each once.
struct OnRankFailure {
  /// On the first rank, or on another one if the first is lost: says it. Failures come in the order in which
  /// they were reported, lost ranks first; all that came within a moment, so that what all ranks met alike
  /// can be said as one.
  std::function<void(const std::vector<RankFailure>&)> tell;
  /// On every rank: ends this process soon, with this code. It need not return.
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
  /// All ranks, with as many values: each value becomes that of all ranks together. Sums are taken in the
  /// order of the ranks, so that they have the same bits on all, and in every run with as many ranks. For a
  /// few numbers: each rank receives those of all.
  void all_reduce(std::span<double> values, Combine how = Combine::sum) const;
  std::string broadcast(std::string text, int from = 0) const;        ///< all ranks
  std::vector<std::string> all_gather(const std::string& own) const;  ///< all ranks; for short texts
  /// All ranks; the first one gets the texts of all, the others none.
  std::vector<std::string> gather(const std::string& own) const;
  /// The same for values, which then lie one rank after the other.
  std::vector<float> gather(std::span<const float> own) const;
  /// Sends to one rank while it receives from another one, and waits for both. No bytes: no message. One
  /// thread of a rank at a time. @pre the other ranks send and receive as many
  void exchange(std::span<const std::byte> own, int to, std::span<std::byte> other, int from) const;

  /// This rank cannot go on: tells the first one, and thereby all. @returns the code with which all ranks
  /// end, when they have been told; empty if the first rank did not answer in time, and so nobody said it
  std::optional<int> fail(int code, const std::string& text) const;
  std::optional<int> ending() const;  ///< the code with which all end, if a rank failed
  /// A rank that ends because one failed: waits for the others for a moment, so that none is in the middle of
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

/// All ranks: the value that the first one has.
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
  std::unique_ptr<std::atomic<Index>> own_;  ///< of a process alone
};

}  // namespace tandem
