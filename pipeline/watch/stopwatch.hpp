#pragma once

#include "../../core/profile.hpp"
#include "../../solvers/run.hpp"
#include "station_board.hpp"

namespace tandem::pipeline {

/// Adds the seconds that it lives to `into`. In profiles it is a range with this name. On a board, if there
/// is one, it is a shift of the station with this name.
class Stopwatch {
 public:
  /// `all` is what passes through from beginning to end.
  Stopwatch(const char* name, double& into, StationBoard* board = nullptr, const Load& all = {})
      : range_(name), into_(into), start_(seconds_now()), board_(board), all_(all) {
    if (board_) shift_ = board_->begin(name, start_);
  }
  ~Stopwatch() {
    const double now = seconds_now();
    into_ += now - start_;
    if (board_) board_->end(shift_, all_, now);
  }
  /// Tells the board what has passed so far. Any thread may call it.
  void reached(const Load& done) {
    if (board_) board_->reached(shift_, done, seconds_now());
  }
  Stopwatch(Stopwatch&&) = delete;

 private:
  ProfileRange range_;
  double& into_;
  double start_;
  StationBoard* board_;
  Load all_;
  StationBoard::Shift shift_;
};

}  // namespace tandem::pipeline
