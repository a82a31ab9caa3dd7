#pragma once

#include <vector>

#include "view_moves.hpp"

namespace tandem::calibration {

/// Slow moves of views, as waves over their angles, and the share of each wave that a reprojection can see.
/// Corrections are divided by this share. It is below 1, since the volume follows slow moves: parallel rays
/// from opposite sides see the same of a sample that rises with them. For rows that move up and down twice a
/// turn the share is a fifth or less, for bins that move three times a turn a half.
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

  /// Divides the waves within steps that a reprojection tells by their shares.
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
