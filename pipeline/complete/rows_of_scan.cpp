#include "rows_of_scan.hpp"

#include <algorithm>

#include "../../counts/preprocess.hpp"
#include "../../counts/steps/chain.hpp"
#include "../plan/make_job.hpp"
#include "../plan/margin_rows.hpp"

namespace tandem::pipeline {

std::vector<float> line_integrals(io::ScanReader& reader, const Recipe& recipe,
                                  const std::vector<Range>& views, const std::vector<Index>& chosen,
                                  const Listener& listener) {
  const Selection selected = selection_of(recipe, reader.info());
  const Range columns = selected.bins;
  StepValues steps = with_recorded_steps(recipe.steps, reader.info());
  if (option::beam_hardening.is_word(steps, "auto")) steps.erase(steps.find(option::beam_hardening.name));
  Preprocessing how = preprocessing_of(steps, columns, 0);
  how.row_shifts = row_shifts_of(reader.info(), selected.rows.size(), 0);
  require_reference(reader.info(), how, false);
  const RowMargin margin = margin_of(how);
  const Index rows = chosen.size(), bins = columns.size(), file_rows = detector_of(reader.info().scan).rows;
  std::vector<float> lines;
  for (const Range& some : views) lines.resize(lines.size() + some.size() * rows * bins);
  Findings findings;
  for (Index k = 0; k < rows; ++k) {
    listener.stage({"read rows", 1.0 * k, 1.0 * rows, {}, "rows"});
    const Index row = chosen[k];
    const Range needed = margin.around({row, row + 1}),
                there{std::max<Index>(needed.first, 0), std::min(needed.last, file_rows)};
    const Range all_views{views.front().first, views.back().last},
        read = with_good_margins(reader, how, {{row, row + 1}, there, columns, all_views});
    auto reference = read_reference(reader, read, columns, how);
    reference.margin_above = row - read.first;
    reference.margin_below = read.last - row - 1;
    float* to = &lines[k * bins];
    for (const Range& some : views) {
      const auto counts = reader.read(io::FrameKind::projection, some, read, columns);
      const auto data =
          preprocess(counts, reference, how, Space({some.size(), 1, bins}, Blocks::rows), findings);
      for (Index v = 0; v < some.size(); ++v, to += rows * bins)
        std::copy_n(data.y.data() + v * bins, bins, to);
    }
  }
  return lines;
}

Scan scan_of_rows(const Recipe& recipe, const io::ScanInfo& info, const Selection& s, Range rows) {
  Scan scan = info.scan;
  Detector& d = detector_of(scan);
  d.axis_bin = recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * (d.bins - 1)));
  if (recipe.axis_bin) share_axis(scan);
  return crop(scan, s.views, rows, s.bins);
}

void for_rows(std::vector<float>& lines, const TellingRows& of, RowsOfSlices slices, const WorkOnRows& work) {
  const Scan& scan = of.scan;
  if (!rows_are_slices(scan)) return work({lines.data(), projection_space(scan)}, scan, {});
  const Index views = views_of(scan), bins = detector_of(scan).bins, count = std::ssize(of.rows);
  const Scan one = crop(scan, {0, views}, {0, 1}, {0, bins});
  Array row(projection_space(one));
  for (Index k = 0; k < count; ++k) {
    const auto place = [&](Index view) { return lines.begin() + (view * count + k) * bins; };
    for (Index v = 0; v < views; ++v) std::copy_n(place(v), bins, row.data() + v * bins);
    work(row, one, {of.rows[k] - slices.first, slices.together});
    for (Index v = 0; v < views; ++v) std::copy_n(row.data() + v * bins, bins, place(v));
  }
}

TellingRows rows_that_tell(io::ScanReader& reader, const Recipe& recipe, bool of_first,
                           const Listener& listener) {
  const io::ScanInfo& info = reader.info();
  const Selection s = selection_of(recipe, info);
  const bool selected = of_first && rows_are_slices(info.scan);
  TellingRows made{.rows = calibration::rows_for_hardening(
                       info.scan, selected ? s.rows : Range{0, detector_of(info.scan).rows})};
  if (!recipe.row_axis_bins.empty()) made.why_not = "rows have axes of their own";
  if (info.off_circle.curved) made.why_not = "the detector is curved";
  if (made.rows.empty()) made.why_not = "no row lies near the midplane, where rays stay in one plane";
  if (!made.rows.empty() && !rows_are_slices(info.scan) &&
      made.rows.back() - made.rows.front() + 1 != std::ssize(made.rows))
    made.why_not = "views do not stand on a level circle, or the detector is curved, rolled or tilted";
  if (!made.why_not.empty()) return made;
  Recipe taken = recipe;  // metal is mended before beam hardening is corrected
  if (recipe.mends_metal) taken.steps = without_hardening(taken.steps);
  made.lines = line_integrals(reader, taken, {s.views}, made.rows, listener);
  const bool logs = option::minus_log.of(with_recorded_steps(recipe.steps, info)).value_or(true);
  made.made_of = logs ? calibration::LinesOf::cells : calibration::LinesOf::others;
  made.scan = scan_of_rows(recipe, info, s, {made.rows.front(), made.rows.back() + 1});
  return made;
}

void mend_rows(TellingRows& rows, const ToldByFirst& told) {
  if (told.mend && rows.why_not.empty())
    for_rows(rows.lines, rows, told.rows,
             [&](VectorView y, const Scan& scan, RowsOfSlices at) { (*told.mend)(y, scan, at); });
}

}  // namespace tandem::pipeline
