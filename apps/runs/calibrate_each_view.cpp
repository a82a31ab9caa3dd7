// Shifts of each view, from its frame beside the line integrals of what all views make.

#include <algorithm>
#include <cmath>

#include "../../calibration/slices.hpp"
#include "../../calibration/view_moves.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../pages/preview.hpp"
#include "calibrate.hpp"
#include "frames.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::FrameStack, calibration::Move, calibration::Verdict, calibration::ViewMove,
    calibration::ViewMoves;
using nlohmann::json;

constexpr std::array all_moves{Move::bins, Move::rows, Move::turn};
std::size_t number_of(Move move) { return static_cast<std::size_t>(move); }

/// The selected frames at coarse cells, and the views that go with them.
struct CoarseFrames {
  Selection selected;
  int level = 0;
  FlexibleBeam scan;
  FrameStack frames{};
};

CoarseFrames coarse_frames(io::ScanReader& reader, const ScanOptions& o, ProgressLine& progress) {
  constexpr Index most = 96;  // bins and rows: at this size shifts of a hundredth of a cell are seen
  CoarseFrames all{.selected = select(o, reader.info()), .scan = as_free_views(reader.info().scan)};
  const Selection& s = all.selected;
  while (std::max(s.bins.size(), s.rows.size()) >> all.level > most) ++all.level;
  all.scan = bin_down(crop(all.scan, s.views, s.rows, s.bins), all.level, true);
  const Detector& d = all.scan.detector;
  const Index high = rows_together(s.rows.size(), all.level), wide = Index{1} << all.level;
  all.frames = {{}, d.rows, d.bins, std::vector<double>(all.scan.views.size()), 0, d.row_pitch / d.bin_pitch};
  for_each_frame(reader, o, progress, [&](std::size_t, std::span<const float> frame) {
    for (Index row = 0; row < d.rows; ++row)
      for (Index bin = 0; bin < d.bins; ++bin) {
        double sum = 0;
        for (Index r = row * high; r < (row + 1) * high; ++r)
          for (Index b = bin * wide; b < (bin + 1) * wide; ++b) sum += frame[r * s.bins.size() + b];
        all.frames.values.push_back(static_cast<float>(sum / (high * wide)));
      }
  });
  return all;
}

/// Coarse cells in cells of the file, and turns in degrees.
double unit_of(Move move, const CoarseFrames& coarse) {
  return move == Move::turn                                       ? in_degrees(1)
         : move == Move::rows && coarse.selected.rows.size() == 1 ? 1
                                                                  : std::exp2(coarse.level);
}

/// All views of the file, those that were selected where they were found.
FlexibleBeam moved_views(const FlexibleBeam& whole, const CoarseFrames& coarse, const ViewMoves& found) {
  FlexibleBeam all = whole;
  for (std::size_t k = 0; k < found.moves.size(); ++k) {
    ViewMove move = found.moves[k];
    for (const Move each : {Move::bins, Move::rows}) move[number_of(each)] *= unit_of(each, coarse);
    FlexibleView& view = all.views[coarse.selected.views.first + k];
    view = calibration::moved_by(whole, view, move);
  }
  return all;
}

/// The numbers of all views, or null where there are none.
json numbers_of(Move move, const CoarseFrames& coarse, const ViewMoves& found) {
  if (found.verdict[number_of(move)] != Verdict::resolved) return nullptr;
  json values = json::array(), uncertainties = json::array();
  for (std::size_t k = 0; k < found.moves.size(); ++k) {
    values.push_back(unit_of(move, coarse) * found.moves[k][number_of(move)]);
    uncertainties.push_back(unit_of(move, coarse) * found.uncertainty[k][number_of(move)]);
  }
  return {{"value", values}, {"uncertainty", uncertainties}};
}

double rms_of(const json& numbers) {
  double sum = 0;
  for (const json& each : numbers) sum += std::pow(each.get<double>(), 2);
  return std::sqrt(sum / numbers.size());
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
    if ((kind.move != Move::turn || turns) && found.verdict[number_of(kind.move)] == Verdict::flat)
      add(kind.name,
          "nothing in the frames changes with it that half of the views see as the other half does");
  add("moves of the sample",
      "shifts that go once up and down a turn, as a sample beside the axis does, are left out");
  add("common shifts",
      "of bins, which is the axis (calibrate without --each-view tells it), and of rows, which is a height");
  if (turns) add("common roll", "calibrate without --each-view tells it");
  return all;
}

void add_report(Calibrated& all, const CoarseFrames& coarse, const ViewMoves& found, bool turns) {
  all.report = {{"method", "reprojection"}, {"cells_together", std::exp2(coarse.level)},
                {"rounds", found.rounds},   {"misfit_before", found.misfit_before},
                {"misfit", found.misfit},   {"not_told", not_told_of(found, turns)}};
  for (const NamedMove& kind : named_moves) {
    if (kind.move == Move::turn && !turns) continue;
    const json numbers = numbers_of(kind.move, coarse, found);
    all.report[kind.name] = numbers;
    all.report[kind.verdict] = name_of(found.verdict[number_of(kind.move)]);
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

/// Slices in the middle and a third of the height above it, before and after.
void add_slices(Calibrated& all, const CoarseFrames& coarse, const ViewMoves& found) {
  FlexibleBeam after = coarse.scan;
  for (std::size_t k = 0; k < after.views.size(); ++k)
    after.views[k] = calibration::moved_by(coarse.scan, after.views[k], found.moves[k]);
  const VolumeGrid grid = fitting_grid(coarse.scan);
  std::vector<double> heights{grid.centre[2]};
  if (!calibration::few_rows(coarse.frames))
    heights.push_back(grid.centre[2] + grid.size[2] * grid.pitch[2] / 3);
  std::vector<float> shown;
  for (const double height : heights)
    for (const bool is_after : {false, true}) {
      const std::vector<float> slice =
          calibration::slices_of(coarse.frames, is_after ? Scan(after) : Scan(coarse.scan), {height});
      io::Picture picture{grid.size[0], grid.size[1], slice, {}};
      picture.captions = {std::string(is_after ? "each view where it was" : "as the scan says") +
                          (height == heights.front() ? "" : ", higher up")};
      shown.insert(shown.end(), slice.begin(), slice.end());
      all.pictures.push_back(std::move(picture));
    }
  const GreyWindow window = window_of(shown);
  all.sheet = {.black = window.black, .white = window.white, .columns = 2};
}

void require_found(const ViewMoves& found) {
  const auto is = [&](Verdict verdict) {
    return std::ranges::any_of(all_moves, [&](Move m) { return found.verdict[number_of(m)] == verdict; });
  };
  require<GeometryError>(
      !is(Verdict::railed),
      "calibrate --each-view: views run away from where the scan says, by more than a tenth of the "
      "detector; find the axis first, by calibrate without --each-view");
  require<GeometryError>(
      is(Verdict::resolved),
      "calibrate --each-view: nothing in the frames tells shifts of views: half of the views see "
      "nothing that the other half sees, or nothing that changes across the detector");
}

}  // namespace

Calibrated calibrate_each_view(io::ScanReader& reader, const ScanOptions& o, calibration::MoveSearch how,
                               ProgressLine& progress) {
  const CoarseFrames coarse = coarse_frames(reader, o, progress);
  how.watch = [&](int round) { progress("move views", round, how.rounds, "rounds"); };
  const ViewMoves found = calibration::find_view_moves(coarse.frames, coarse.scan, how);
  require_found(found);
  Calibrated all{moved_views(as_free_views(reader.info().scan), coarse, found), json::object(), {}, {}, {}};
  add_report(all, coarse, found, how.turns);
  progress("make slices", 0, 1, "slices");
  add_slices(all, coarse, found);
  return all;
}

}  // namespace tandem::apps
