#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../geometry/scan.hpp"
#include "axis_line.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// How the image of a view lies beside where its vectors say: towards higher bins, towards higher rows, and
/// turned about the beam as the detector's roll turns it, about the place where the origin falls. Cells, and
/// rad.
enum class Move { bins, rows, turn };
constexpr std::size_t kinds_of_move = 3;
using ViewMove = std::array<double, kinds_of_move>;
inline std::size_t at(Move move) { return static_cast<std::size_t>(move); }

/// A scan whose detectors stand so that the images of its views, from `first` on, lie where moves say.
Scan moved_by(const Scan& scan, const std::vector<ViewMove>& moves, std::size_t first = 0);

/// What is searched.
struct MoveSearch {
  bool turns = false;  ///< besides shifts
  std::optional<int>
      degree{};     ///< moves are a polynomial of this degree over the views; none: each view by itself
  int rounds = 16;  ///< at most
  std::function<void(int round)> watch = [](int) {};
  Device device = Device::cpu();  ///< where volumes are made and projected
};

struct ViewMoves {
  std::vector<ViewMove> moves, uncertainty;  ///< one standard deviation
  /// `flat`: nothing in the frames changes with such a move; it was not searched. `railed`: it runs away.
  std::array<Verdict, kinds_of_move> verdict{};
  double misfit_before = 0, misfit = 0;  ///< between frames and reprojections, as a share of the frames
  int rounds = 0;
};

/// Finds how each view is moved: its frame beside the line integrals, in that view, of the volume that all
/// frames make by the filter. They are found at joined cells first (`smoothed`), where large moves are small
/// ones. Each round makes the volume from views that stand where they were found, and
/// moves each view by a step of Gauss and Newton, with brightness and offset of the frame left free. Frames
/// are not interpolated. Frames and line integrals are smoothed for the comparison, and some cells at the
/// edges are left out.
///
/// A move is searched if the slopes by it agree between line integrals of two volumes, each from half of the
/// views, and with those of the frames of the other half; and if frames tell it better than 0.15 cells.
///
/// The volume follows moves that are slow over the views, so that a round tells a share of them
/// (`SlowMoves`). Once views are near, four trials find these shares, and then steps go the whole way.
/// Uncertainties are how far patches of the frames (`Patches`) pull views apart, the whole way too, less what
/// is taken away below. A move that is so said to be less certain than 0.15 cells in the end is `flat`, too.
///
/// Moves of the sample as a whole look like moves of the views: what of the result is such a move is taken
/// away, with a shift and a turn that all views have in common (`subtract_common_moves`). `frames` has the
/// cells of `scan`; its angles and its fan do not count. @throws GeometryError for orbits that have no
/// filter, and for circles whose views leave out more than 60 degrees of half a turn
ViewMoves find_view_moves(const FrameStack& frames, const Scan& scan, const MoveSearch& how = {});

/// Takes away what no frame tells: moves of the sample in three directions, and a mean.
void subtract_common_moves(std::vector<ViewMove>& all, const Scan& scan);

}  // namespace tandem::calibration
