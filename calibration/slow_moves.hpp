#pragma once

#include <vector>

#include "view_moves.hpp"

namespace tandem::calibration {

/// Moves that go up and down a few times while the views go round, and what share of each a reprojection
/// tells. The volume follows such moves: parallel rays from opposite sides make the same of a sample that
/// rises with them, so rows that move up and down twice a turn are told to a fifth or less, and bins three
/// times a turn to a half. What pulls views goes as much farther.
class SlowMoves {
 public:
  static constexpr int trials = 4;

  SlowMoves() = default;
  /// Waves of bins and rows, if they are searched; what `subtract_common_moves` takes away is in none of
  /// them. All are told whole at first. Turns have none: a sample that is turned makes slow ones, nearly.
  SlowMoves(const Scan& scan, const std::vector<Move>& kinds);

  /// Moves by which a trial changes those of all views: some waves at once, far apart in their frequency.
  std::vector<ViewMove> trial(int number) const;
  /// Learns the shares from what reprojections tell less after these moves than before.
  void learn(int number, const std::vector<ViewMove>& told);

  /// Moves that pull until views stand so far from where a reprojection tells steps.
  void make_whole(std::vector<ViewMove>& steps) const;
  /// Takes the waves out of pulls, and adds their squares, the whole way, to those of each view.
  void take_out(std::vector<ViewMove>& pulls, std::vector<ViewMove>& squares) const;

 private:
  struct Wave {
    Move kind;
    int frequency;
    std::vector<double> values;  ///< at right angles to the others, their mean square is 1
    double told = 1;
  };
  void add(const Scan& scan, Wave wave);
  double part(const Wave& wave, const std::vector<ViewMove>& moves) const;

  std::vector<Wave> waves_{};
};

}  // namespace tandem::calibration
