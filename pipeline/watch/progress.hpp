#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::pipeline {

class StationBoard;

/// What is being done, and how far it is.
struct Stage {
  std::string name;
  double done = 0, total = 0;
  std::string detail = {};      ///< iteration and residual of a solver
  const char* what = "slices";  ///< the unit of `done` and `total`
};
/// A residual of a solver beside that of the start, in words: "residual 0.3 of the first".
std::string words_of_residual(double relative);
/// A function that is told the progress. It is called often, from one thread at a time. It may throw to
/// cancel the work.
using OnProgress = std::function<void(const Stage&)>;

/// Hears how far a search is, and what a user should know about the scan.
struct Listener {
  OnProgress stage = [](const Stage&) {};
  std::function<void(const std::string&)> note = [](const std::string&) {}, warn = note;
};

/// Reports the progress of stations that work at the same time. It reports the station that the others wait
/// for: a worker if one has work, else the reader, else the writer.
class Watch {
 public:
  Watch(OnProgress tell, double slices, std::size_t workers, StationBoard* board = nullptr)
      : tell_(std::move(tell)), slices_(slices), board_(board), workers_(workers) {}

  /// Adds the slices that other ranks make: `count` returns how many they have made by now.
  void add_others(std::function<double()> count) { others_ = std::move(count); }
  /// Says what a station does now; an empty name means nothing. `done`: slices.
  void reading(std::string name, double done);
  void writing(std::string name, double done);
  /// Says what a worker does now, and how many slices of its chunk are done.
  void computing(std::size_t worker, std::string name, double done_of_chunk, std::string detail = {});
  /// Says that a worker has made this many slices, and does nothing now.
  void computed(std::size_t worker, double slices);
  /// Reports this stage in the place of all others, until slices are written: what counts is no slices.
  void instead(Stage stage);
  /// Reports the same again, so that the work can be cancelled.
  void again();
  /// The board where stations write what they have done; null if nobody watches.
  StationBoard* board() const { return board_; }

 private:
  void tell();  // with the mutex held

  OnProgress tell_;
  double slices_;
  StationBoard* board_;
  std::function<double()> others_;
  std::mutex mutex_;
  Stage reading_, writing_{"start"};
  std::optional<Stage> instead_;
  std::vector<Stage> workers_;  ///< `done` counts the slices of the present chunk
  double computed_ = 0;         ///< slices of chunks that are done
  Stage told_;                  ///< the last stage of a worker that was told
};

}  // namespace tandem::pipeline
