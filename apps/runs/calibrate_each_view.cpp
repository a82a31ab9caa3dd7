// Shifts of each view, from its frame beside the line integrals of what all views make.

#include <algorithm>
#include <cmath>

#include "../../calibration/view_moves.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "calibrate_part.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::FrameStack, calibration::Move, calibration::Verdict, calibration::ViewMove,
    calibration::ViewMoves;
using nlohmann::json;

constexpr std::array all_moves{Move::bins, Move::rows, Move::turn};

CalibratedPart coarse_frames(const CalibrateRun& run) {
  constexpr Index most = 96;  // bins and rows: at this size shifts of a hundredth of a cell are seen
  const io::ScanInfo& info = run.reader.info();
  const Selection s = select(run.options, info);
  return calibrated_part(run, as_free_views(info.scan),
                         coarse_level(std::max(s.bins.size(), s.rows.size()), most));
}

/// Coarse cells in cells of the file, and turns in degrees.
double unit_of(Move move, const CalibratedPart& coarse) {
  return move == Move::turn ? in_degrees(1) : move == Move::rows ? coarse.f_of_rows() : coarse.f();
}

/// All views of the file, those that were selected where they were found.
Scan moved_views(const Scan& whole, const CalibratedPart& coarse, const ViewMoves& found) {
  std::vector<ViewMove> moves = found.moves;
  for (ViewMove& move : moves)
    for (const Move each : {Move::bins, Move::rows}) move[calibration::at(each)] *= unit_of(each, coarse);
  return calibration::moved_by(whole, moves, coarse.selected.views.first);
}

/// The numbers of all views, or null where there are none.
json numbers_of(Move move, const CalibratedPart& coarse, const ViewMoves& found) {
  if (found.verdict[calibration::at(move)] != Verdict::resolved) return nullptr;
  json values = json::array(), uncertainties = json::array();
  for (std::size_t k = 0; k < found.moves.size(); ++k) {
    values.push_back(unit_of(move, coarse) * found.moves[k][calibration::at(move)]);
    uncertainties.push_back(unit_of(move, coarse) * found.uncertainty[k][calibration::at(move)]);
  }
  return {{"value", values}, {"uncertainty", uncertainties}};
}

struct NamedMove {
  Move move;
  const char *name, *verdict, *unit;
};
constexpr std::array named_moves{NamedMove{Move::bins, "bin_shifts", "bin_shifts_verdict", "bins"},
                                 NamedMove{Move::rows, "row_shifts", "row_shifts_verdict", "rows"},
                                 NamedMove{Move::turn, "view_rolls_deg", "view_rolls_verdict", "degrees"}};

json not_told_of(const ViewMoves& found, bool turns) {
  json all = json::array();
  const auto add = [&](const std::string& what, const char* why) {
    all.push_back({{"what", what}, {"why", why}});
  };
  for (const NamedMove& kind : named_moves)
    if ((kind.move != Move::turn || turns) && found.verdict[calibration::at(kind.move)] == Verdict::flat)
      add(kind.name,
          "nothing in the frames changes with it that half of the views see as the other half does, or "
          "frames "
          "tell it to no better than 0.15 cells");
  add("moves of the sample",
      "shifts that go once up and down a turn, as a sample beside the axis does, are left out");
  add("common shifts",
      "of bins, which is the axis (calibrate without --each-view tells it), and of rows, which is a height");
  if (turns) add("common roll", "calibrate without --each-view tells it");
  return all;
}

void add_report(Calibrated& all, const CalibratedPart& coarse, const ViewMoves& found, bool turns) {
  all.report = {{"method", "reprojection"}, {"cells_together", coarse.f()},
                {"rounds", found.rounds},   {"misfit_before", found.misfit_before},
                {"misfit", found.misfit},   {"not_told", not_told_of(found, turns)}};
  for (const NamedMove& kind : named_moves) {
    if (kind.move == Move::turn && !turns) continue;
    const json numbers = numbers_of(kind.move, coarse, found);
    all.report[kind.name] = numbers;
    all.report[kind.verdict] = name_of(found.verdict[calibration::at(kind.move)]);
    if (!numbers.is_null())
      all.lines.push_back(std::string(kind.name) +
                          std::string(14 - std::min<std::size_t>(13, std::string(kind.name).size()), ' ') +
                          with_uncertainty(rms_of(numbers["value"]), rms_of(numbers["uncertainty"])) + " " +
                          kind.unit + ", root mean square");
  }
  for (const json& each : all.report["not_told"])
    all.lines.push_back("not told      " + each["what"].get<std::string>() + ": " +
                        each["why"].get<std::string>());
}

void require_found(const ViewMoves& found) {
  const auto is = [&](Verdict verdict) {
    return std::ranges::any_of(all_moves,
                               [&](Move m) { return found.verdict[calibration::at(m)] == verdict; });
  };
  require<GeometryError>(
      !is(Verdict::railed),
      "calibrate --each-view: views run away from where the scan says, by more than a tenth of the "
      "detector; find the axis first, by calibrate without --each-view");
  require<GeometryError>(
      is(Verdict::resolved),
      "calibrate --each-view: nothing in the frames tells shifts of views: half of the views see "
      "nothing that the other half sees, or nothing that changes across the detector by enough to tell a "
      "shift "
      "to 0.15 cells");
}

}  // namespace

double rms_of(const json& numbers) {
  double sum = 0;
  for (const json& each : numbers) sum += std::pow(each.get<double>(), 2);
  return std::sqrt(sum / numbers.size());
}

Calibrated calibrate_each_view(const CalibrateRun& run, calibration::MoveSearch how) {
  CalibratedPart coarse = coarse_frames(run);
  how.device = run.device;
  how.watch = [&](int round) { run.progress("move views", round, how.rounds, "rounds"); };
  const ViewMoves found = calibration::find_view_moves(coarse.frames, coarse.scan, how);
  coarse.end_stage("views");
  require_found(found);
  Calibrated all{moved_views(run.reader.info().scan, coarse, found), json::object(), {}, {}, {}};
  add_report(all, coarse, found, how.turns);
  finish(all, run, coarse, coarse.scan, calibration::moved_by(coarse.scan, found.moves),
         "each view where it was");
  return all;
}

}  // namespace tandem::apps
