#include "calibrate_part.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "../../calibration/slices.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../pages/preview.hpp"
#include "frames.hpp"

namespace tandem::apps {

using calibration::FrameStack, calibration::Sought;
using nlohmann::json;

namespace {

/// Means of cells of a frame, (row, bin).
void bin_cells(std::span<const float> frame, Index bins, Index rows_together, Index bins_together,
               const FrameStack& stack, float* to) {
  const auto weight = 1 / static_cast<float>(rows_together * bins_together);
  std::fill_n(to, stack.rows * stack.bins, 0.0F);
  for (Index row = 0; row < stack.rows * rows_together; ++row) {
    const float* from = frame.data() + row * bins;
    float* line = to + row / rows_together * stack.bins;
    for (Index bin = 0; bin < stack.bins; ++bin)
      for (Index k = 0; k < bins_together; ++k) line[bin] += weight * *from++;
  }
}

const char* name_of(Sought what) {
  switch (what) {
    case Sought::axis:
      return "axis_bin";
    case Sought::roll:
      return "roll_deg";
    case Sought::tilt:
      return "tilt_deg";
    case Sought::midplane:
      break;
  }
  return "midplane_row";
}

}  // namespace

double row_of_axis(const Scan& scan) {
  const Detector& d = detector_of(scan);
  return rows_are_slices(scan) || d.rows == 1 ? 0.5 * (d.rows - 1) : point_source_of(scan).midplane_row;
}

int coarse_level(Index cells, Index most) {
  int level = 0;
  while ((cells >> level) > most) ++level;
  return level;
}

int level_of_searches(const Selection& s) {
  constexpr Index of_a_row = 1023, of_frames = 383;
  return coarse_level(s.bins.size(), s.rows.size() == 1 ? of_a_row : of_frames);
}

void CalibratedPart::end_stage(const char* name) {
  const auto now = std::chrono::steady_clock::now();
  seconds[name] = std::chrono::duration<double>(now - since).count();
  since = now;
}

CalibratedPart calibrated_part(const CalibrateRun& run, const Scan& scan, int level) {
  CalibratedPart part{.selected = select(run.options, run.reader.info()), .level = level, .scan = scan};
  const Selection& s = part.selected;
  part.scan = bin_down(crop(scan, s.views, s.rows, s.bins), level, true);
  const Index rows_together = tandem::rows_together(s.rows.size(), level), bins_together = Index{1} << level;
  const Detector& d = detector_of(part.scan);
  const bool has_axis = axis_of(scan).has_value();
  part.frames = {{},     d.rows,
                 d.bins, has_axis ? angles_of(part.scan) : std::vector<double>(s.views.size(), 0),
                 0,      d.row_pitch / d.bin_pitch};
  if (has_axis && !rows_are_slices(scan))
    part.frames.bin_angle = d.bin_pitch / point_source_of(part.scan).sdd;
  part.row = has_axis ? row_of_axis(part.scan) : 0.5 * (d.rows - 1);
  FrameStack& frames = part.frames;
  frames.values.resize(s.views.size() * d.rows * d.bins);
  for_each_frame(run.reader, run.options, run.progress, [&](std::size_t view, std::span<const float> frame) {
    bin_cells(frame, s.bins.size(), rows_together, bins_together, frames,
              frames.values.data() + view * frames.rows * frames.bins);
  });
  part.end_stage("read");
  return part;
}

json told_number(double value, double uncertainty, std::string_view by) {
  return {{"value", value}, {"uncertainty", uncertainty}, {"verdict", "resolved"}, {"told_by", by}};
}

double unit_of(Sought what, const CalibratedPart& part) {
  if (what == Sought::axis) return part.f();
  return what == Sought::midplane ? part.f_of_rows() : in_degrees(1);
}

const char* why_not(pipeline::Verdict verdict) {
  switch (verdict) {
    case pipeline::Verdict::railed:
      return "slices get sharper up to the end of what is searched, which is no small error";
    case pipeline::Verdict::ambiguous:
      return "several values make slices about as sharp";
    default:
      return "slices are as sharp whatever it is, as those of less than a whole turn are";
  }
}

json searches_of(const calibration::SharpestSlices& found, const CalibratedPart& part) {
  json all = json::array();
  for (const calibration::Sharpened& each : found.numbers) {
    const bool told = each.verdict == pipeline::Verdict::resolved;
    const double unit = unit_of(each.what, part);
    all.push_back({{"what", name_of(each.what)},
                   {"verdict", pipeline::name_of(each.verdict)},
                   {"change", told ? json(unit * each.change) : json(nullptr)},
                   {"uncertainty", told ? json(unit * each.uncertainty) : json(nullptr)}});
  }
  return all;
}

namespace {

/// The grid of the slices of some scans: with an axis aside one of them may reach farther.
VolumeGrid widest_grid(std::initializer_list<const Scan*> scans) {
  std::vector<VolumeGrid> grids;
  for (const Scan* scan : scans) grids.push_back(fitting_grid(*scan));
  return *std::ranges::max_element(grids, {}, [](const VolumeGrid& grid) { return grid.size[0]; });
}

Scan with_own_slices(const Scan& scan) { return rows_are_slices(scan) ? Scan(as_free_views(scan)) : scan; }

void add_slices(Calibrated& all, const CalibrateRun& run, const CalibratedPart& part, const Scan& before,
                const Scan& after, const std::string& caption) {
  run.progress("make slices", 0, 1, "slices");
  const std::array scans{with_own_slices(before), with_own_slices(after)};
  const std::array captions{std::string("as the scan says"), caption};
  const VolumeGrid grid = widest_grid({&part.scan, &scans[0], &scans[1]});
  std::vector<double> heights{grid.centre[2]};
  if (!calibration::few_rows(part.frames))
    heights.push_back(grid.centre[2] + grid.size[2] * grid.pitch[2] / 3);
  const std::size_t pixels = grid.size[0] * grid.size[1];
  all.pictures.resize(2 * heights.size());
  std::vector<float> shown;
  for (const std::size_t k : {0, 1}) {
    const std::vector<float> slices =
        calibration::slices_of(part.frames, scans[k], grid, heights, run.device);
    for (std::size_t slice = 0; slice < heights.size(); ++slice) {
      const auto first = slices.begin() + slice * pixels;
      all.pictures[2 * slice + k] = {grid.size[0],
                                     grid.size[1],
                                     {first, first + pixels},
                                     {captions[k] + (slice == 0 ? "" : ", higher up")}};
    }
    shown.insert(shown.end(), slices.begin(), slices.end());
  }
  const GreyWindow window = window_of(shown);
  all.sheet = {.black = window.black, .white = window.white, .columns = 2};
}

}  // namespace

void finish(Calibrated& all, const CalibrateRun& run, CalibratedPart& part, const Scan& before,
            const Scan& after, const std::string& caption) {
  if (run.pictures) add_slices(all, run, part, before, after, caption), part.end_stage("pictures");
  all.report["device"] = run.device.name(), all.report["seconds"] = part.seconds;
}

}  // namespace tandem::apps
