#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tandem::pipeline {

class StationBoard;

/// How far the work is.
struct Stage {
  std::string name;
  double done = 0, total = 0;  ///< slices
  std::string detail = {};     ///< for a solver its iteration and residual
};
/// Is called often, from one thread at a time. It may throw to cancel the work.
using OnProgress = std::function<void(const Stage&)>;

/// Reports the progress of stations that work at the same time: of the one that the others wait for. That is
/// a worker if one has work, else the reader, else the writer.
class Watch {
 public:
  Watch(OnProgress tell, double slices, std::size_t workers, StationBoard* board = nullptr)
      : tell_(std::move(tell)), slices_(slices), board_(board), workers_(workers) {}

  /// Slices that other ranks make, for the same progress: `count` tells how many by now.
  void add_others(std::function<double()> count) { others_ = std::move(count); }
  /// What a station does now; an empty name means nothing. `done`: slices.
  void reading(std::string name, double done);
  void writing(std::string name, double done);
  /// What a worker does now, and how many slices of its chunk are done.
  void computing(std::size_t worker, std::string name, double done_of_chunk, std::string detail = {});
  /// A worker has made this many slices, and does nothing.
  void computed(std::size_t worker, double slices);
  /// Reports the same again, so that the work can be cancelled.
  void again();
  /// Where stations write what they have done; null if nobody looks.
  StationBoard* board() const { return board_; }

 private:
  void tell() const;  // with the mutex held

  OnProgress tell_;
  double slices_;
  StationBoard* board_;
  std::function<double()> others_;
  std::mutex mutex_;
  Stage reading_, writing_{"start"};
  std::vector<Stage> workers_;  ///< `done` is of the chunk that it has
  double computed_ = 0;         ///< slices of chunks that are done
};

}  // namespace tandem::pipeline
