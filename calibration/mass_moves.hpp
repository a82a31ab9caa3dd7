#pragma once

#include <optional>

#include "view_moves.hpp"

namespace tandem::calibration {

/// By how many bins moves that were found are off, root mean square, as centres of mass of the frames say.
/// With parallel rays the centre of mass of a sample falls on a + b cos(angle) + c sin(angle), whatever the
/// sample is and however few angles there are (Helgason, Ludwig). Frames beside reprojections tell moves that
/// go slowly over the views less well. Rows are joined to two halves of equal mass, and what both halves say
/// alike is no noise. Empty if the sample is not whole in the bins of each row, if the halves disagree, or if
/// moves are off by less than 0.1 bins or three times their uncertainty.
std::optional<double> off_by_mass(const FrameStack& frames, const Scan& scan, const ViewMoves& found);

}  // namespace tandem::calibration
