// Shifts of each view, from its frame beside the line integrals of what all views make.

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../core/units.hpp"
#include "../geometry/free_views.hpp"
#include "find.hpp"
#include "frames.hpp"
#include "mass_moves.hpp"

namespace tandem::calibration {

namespace {

struct NamedMove {
  Move move;
  const char *name, *verdict, *unit;
};
constexpr std::array named_moves{NamedMove{Move::bins, "bin_shifts", "bin_shifts_verdict", "bins"},
                                 NamedMove{Move::rows, "row_shifts", "row_shifts_verdict", "rows"},
                                 NamedMove{Move::turn, "view_rolls_deg", "view_rolls_verdict", "degrees"}};

/// Coarse cells in cells of the file, and turns in degrees.
double unit_of(Move move, const Part& coarse) {
  return move == Move::turn ? in_degrees(1) : move == Move::rows ? coarse.f_of_rows() : coarse.f();
}

/// All views of the file, those that were selected where they were found.
Scan moved_views(const Part& coarse, const ViewMoves& found) {
  std::vector<ViewMove> moves = found.moves;
  for (ViewMove& move : moves)
    for (const Move each : {Move::bins, Move::rows}) move[at(each)] *= unit_of(each, coarse);
  return moved_by(coarse.measured.scan, moves, coarse.measured.views.first);
}

/// The numbers of all views, none where they are not resolved.
Quantity quantity_of(const NamedMove& kind, const Part& coarse, const ViewMoves& found) {
  Quantity numbers{kind.name};
  if (found.verdict[at(kind.move)] != Verdict::resolved) return numbers;
  numbers.of_views = kind.unit;
  for (std::size_t k = 0; k < found.moves.size(); ++k) {
    numbers.value.push_back(unit_of(kind.move, coarse) * found.moves[k][at(kind.move)]);
    numbers.uncertainty.push_back(unit_of(kind.move, coarse) * found.uncertainty[k][at(kind.move)]);
  }
  return numbers;
}

void add_numbers(Found& all, const Part& coarse, const ViewMoves& found, bool turns) {
  all.facts = {{"cells_together", coarse.f()},
               {"rounds", Index{found.rounds}},
               {"misfit_before", found.misfit_before},
               {"misfit", found.misfit}};
  for (const NamedMove& kind : named_moves) {
    if (kind.move == Move::turn && !turns) continue;
    const Verdict verdict = found.verdict[at(kind.move)];
    all.numbers.push_back(quantity_of(kind, coarse, found));
    all.facts.push_back({kind.verdict, std::string(name_of(verdict))});
    if (verdict == Verdict::flat)
      all.not_told.push_back(
          {kind.name,
           "nothing in the frames changes with it that half of the views see as the other half does, or "
           "frames tell it to no better than 0.15 cells"});
  }
  const std::string tells = "calibrate without " + spelled("each-view") + " tells it";
  all.not_told.push_back(
      {"moves of the sample",
       "shifts that go once up and down a turn, as a sample beside the axis does, are left out"});
  all.not_told.push_back(
      {"common shifts", "of bins, which is the axis (" + tells + "), and of rows, which is a height"});
  if (turns) all.not_told.push_back({"common roll", tells});
}

/// Finds the axis of a scan that does not record it: views that move about an axis which is off would be
/// found elsewhere. @throws GeometryError if opposite rays do not tell it
std::optional<Quantity> add_axis(MeasuredFrames& measured, const How& how) {
  constexpr Index finest = 383;  // cells: finer ones tell no more, because of their noise
  if (measured.axis_known || !axis_of(measured.scan)) return std::nullopt;
  how.watch("find axis and roll", 0, 1, "searches");
  try {
    const Part part = part_of(measured, measured.scan, measured.bins.size(), finest);
    const AxisLineEstimate found = calibrate_by_frames(part.frames, part.row).line;
    detector_of(measured.scan).axis_bin = part.bin_in_file(found.line.axis_bin);
    return Quantity{"axis_bin",
                    {detector_of(measured.scan).axis_bin},
                    {part.f() * found.axis_uncertainty},
                    "opposite rays"};
  } catch (const GeometryError& fault) {
    throw GeometryError("calibrate " + spelled("each-view") +
                        ": the scan does not say where its axis is, and its views do not tell it (" +
                        fault.what() + "); give " + spelled("rotation-axis") + " BIN");
  }
}

void require_found(const ViewMoves& found) {
  const std::string each_view = "calibrate " + spelled("each-view");
  const auto is = [&](Verdict verdict) {
    return std::ranges::any_of(
        named_moves, [&](const NamedMove& kind) { return found.verdict[at(kind.move)] == verdict; });
  };
  require<GeometryError>(!is(Verdict::railed), each_view,
                         ": views run away from where the scan says, by more than a fifth of the detector; "
                         "find the axis first, by calibrate without ",
                         spelled("each-view"));
  require<GeometryError>(
      is(Verdict::resolved), each_view,
      ": nothing in the frames tells shifts of views: half of the views see nothing that the other half "
      "sees, or nothing that changes across the detector by enough to tell a shift to 0.15 cells");
}

/// Warns if centres of mass contradict what was found.
void warn_of_mass(Found& all, const Part& coarse, const ViewMoves& found) {
  const std::optional<double> off = off_by_mass(coarse.frames, coarse.scan, found);
  if (!off) return;
  std::ostringstream text;
  text.precision(2);
  text << "calibrate: by the centres of mass of the frames, bin shifts are " << coarse.f() * *off
       << " bins off, root mean square, which is more than their uncertainties say; move each frame by whole "
          "bins "
          "so that its centre of mass falls on the axis, and calibrate these";
  all.warnings.push_back(text.str());
}

}  // namespace

Found find_each_view(const MeasuredFrames& given, MoveSearch search, const How& how) {
  constexpr Index most = 96;  // bins and rows: at this size shifts of a hundredth of a cell are seen
  MeasuredFrames measured = given;
  const std::optional<Quantity> axis = add_axis(measured, how);
  Part coarse = part_of(measured, as_free_views(measured.scan),
                        std::max(measured.bins.size(), measured.rows.size()), most);
  search.device = how.device;
  search.watch = [&](int round) { how.watch("move views", round, search.rounds, "rounds"); };
  const ViewMoves found = find_view_moves(coarse.frames, coarse.scan, search);
  coarse.laps.end("views");
  require_found(found);
  Found all{"reprojection", moved_views(coarse, found)};
  if (axis) all.numbers.push_back(*axis);
  add_numbers(all, coarse, found, search.turns);
  warn_of_mass(all, coarse, found);
  show_slices(all, coarse, coarse.scan, moved_by(coarse.scan, found.moves), how, "each view where it was");
  return all;
}

}  // namespace tandem::calibration
