#include "frames.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../counts/preprocess.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../counts/steps/step.hpp"
#include "../plan/margin_rows.hpp"

namespace tandem::pipeline {

namespace {

void require_single_views(const Preprocessing& how) {
  for (const Step& step : steps())
    require<GeometryError>(!step.needs_all_views || !step.asked_for(how), "calibrate: ", step.name,
                           " needs all views at once, and frames are taken one by one; leave it out");
}

using TakeFrame = std::function<void(std::size_t view, std::span<const float> frame)>;

void for_each_frame(io::ScanReader& reader, const Recipe& recipe, const Listener& listener,
                    const TakeFrame& take) {
  const Selection selected = selection_of(recipe, reader.info());
  const Range views = selected.views, rows = selected.rows, bins = selected.bins;
  const Preprocessing how = preprocessing_of(recipe.steps, bins, 0);
  require_single_views(how);
  for (const auto* searched : {&option::detector_roll, &option::axis_tilt})
    require<GeometryError>(searched->of(recipe.steps).value_or(0) == 0,
                           "calibrate: ", spelled(searched->name), " is what is searched; leave it out");
  require_reference(reader.info(), how, false);
  const Range needed = margin_of(how).around(rows),
              there{std::max<Index>(needed.first, 0),
                    std::min(needed.last, detector_of(reader.info().scan).rows)};
  const Range read = with_good_margins(reader, how, {rows, there, bins, views});
  auto reference = read_reference(reader, read, bins, how);
  reference.margin_above = rows.first - read.first, reference.margin_below = read.last - rows.last;
  const Index cells = rows.size() * bins.size();
  for_each_block(reader,
                 {how, reference, read, bins, views, rows.size(), bins.size(), views_at_once(rows, bins)},
                 listener, [&](Index first, const Array& lines) {
                   for (Index k = 0; k * cells < lines.size(); ++k)
                     take(first + k, {lines.data() + k * cells, static_cast<std::size_t>(cells)});
                 });
}

}  // namespace

Index views_at_once(Range rows, Range bins) {
  constexpr double bytes = 32e6, bytes_a_cell = 8;
  return std::max<Index>(1, floor_index(bytes / (bytes_a_cell * rows.size() * bins.size())));
}

void for_each_block(io::ScanReader& reader, const BlocksRead& what, const Listener& listener,
                    const TakeBlock& take) {
  const Index workers = 4;
  const auto some = [&](const Item& item) {
    const Index first = what.views.first + item.number * what.at_once;
    return Range{first, std::min(what.views.last, first + what.at_once)};
  };
  const KeepHostMemory keep;  // blocks have one size
  std::vector<io::Frames> counts(conveyor_places(workers));
  Index done = 0;
  conveyor(
      ceil_div(what.views.size(), what.at_once), workers,
      [&](const Item& item) {
        reader.read(io::FrameKind::projection, some(item), what.read, what.bins, counts[item.place]);
      },
      [&](const Item& item) {
        Findings findings;
        const auto data =
            preprocess(counts[item.place], what.reference, what.how,
                       Space({some(item).size(), what.rows_made, what.bins_made}, Blocks::rows), findings);
        take(some(item).first - what.views.first, data.y);
      },
      [&](const Item& item) {
        done += some(item).size();
        listener.stage({"read frames", 1.0 * done, 1.0 * what.views.size(), {}, "views"});
      });
}

calibration::MeasuredFrames frames_of(io::ScanReader& reader, const Recipe& recipe,
                                      const Listener& listener) {
  const bool in_mm = reader.info().pixel_size_mm.has_value();
  require<GeometryError>(in_mm || !needs_mm(reader.info().scan),
                         "calibrate: the scan has no pixel size; give ", spelled("pixel-size"), " MM");
  if (!in_mm)
    listener.note(
        "note: the scan has no pixel size: lengths of the views are in bins, as if a bin were 1 mm; give " +
        spelled("pixel-size") + " MM for mm");
  const Selection s = selection_of(recipe, reader.info());
  Scan scan = reader.info().scan;
  require<GeometryError>(!recipe.axis_bin || axis_of(scan), spelled("rotation-axis"), ": the views of a ",
                         kind_of(scan), " beam have none; leave ", spelled("rotation-axis"), " out");
  if (recipe.axis_bin) detector_of(scan).axis_bin = *recipe.axis_bin;
  return {std::move(scan),
          s.views,
          s.rows,
          s.bins,
          [&](const TakeFrame& take) { for_each_frame(reader, recipe, listener, take); },
          recipe.axis_bin || reader.info().axis_bin};
}

}  // namespace tandem::pipeline
