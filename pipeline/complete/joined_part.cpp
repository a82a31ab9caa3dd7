#include "joined_part.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "../../calibration/measured_frames.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../counts/steps/step.hpp"
#include "../../io/files/text.hpp"

namespace tandem::pipeline {

namespace {

using calibration::Along;

std::span<const Step> steps_of_cells() {
  static const std::vector<Step> some = [] {
    std::vector<Step> all(steps().begin(), steps().end());
    std::erase_if(all, [](const Step& step) { return !step.of_cells; });
    return all;
  }();
  return some;
}

}  // namespace

JoinedPart::JoinedPart(NamedScan scan, const StepValues& of_cells)
    : scan_(std::move(scan)), how_(preprocessing_of(of_cells, {0, detector().bins}, 0)) {
  how_.table = steps_of_cells;
  how_.keeps_transmissions = how_.minus_log;
  for (const Step& step : how_.table())
    require<GeometryError>(!step.needs_all_views || !step.asked_for(how_), name(), ": ", step.name,
                           " needs all views at once, and frames are joined some at a time; leave it out");
}

Array JoinedPart::frames(Range views, Range rows) {
  io::ScanReader& reader = *scan_.reader;
  const Range bins{0, detector().bins}, needed = margin_of(how_).around(rows);
  const Range read{std::max<Index>(needed.first, 0), std::min(needed.last, detector().rows)};
  if (!reference_) reference_ = read_reference(reader, {0, detector().rows}, bins, how_);
  Reference reference = crop(*reference_, read);
  reference.margin_above = rows.first - read.first, reference.margin_below = read.last - rows.last;
  reader.read(io::FrameKind::projection, views, read, bins, counts_);
  Findings found;
  Array frames = preprocess(counts_, reference, how_,
                            Space({views.size(), rows.size(), bins.size()}, Blocks::rows), found)
                     .y;
  found_.add(found);
  return frames;
}

double JoinedPart::brightness() const {
  double sum = 0, count = 0;
  for (const float span : reference_->sets.front().span)
    if (span > 0) sum += span, ++count;
  return sum / count;
}

StepValues take_options_of_cells(StepValues& values) {
  StepValues taken;
  const auto take = [&](const StepOption& option) {
    if (auto own = values.find(option.name); own != values.end()) taken.insert(values.extract(own));
  };
  for (const Step& step : steps_of_cells())
    for (const StepOption& option : step.options) {
      take(option);
      for (const StepOption& behind : option.behind) take(behind);
    }
  if (const auto logs = values.find(option::minus_log.name); logs != values.end()) taken.insert(*logs);
  return taken;
}

namespace {

/// What all views of both scans need to have in common.
void require_alike(const JoinedPart& first, const JoinedPart& other) {
  const Scan &a = first.info().scan, &b = other.info().scan;
  const auto differ = [&](const auto&... words) {
    refuse<GeometryError>(spelled("stitch"), ": ", other.name(), " and ", first.name(), " differ in ",
                          words..., "; scans are joined if only their place is another");
  };
  const Detector &p = first.detector(), &q = other.detector();
  if (p.rows != q.rows || p.bins != q.bins)
    differ("frames: ", q.rows, " x ", q.bins, " and ", p.rows, " x ", p.bins, " (rows x bins)");
  if (first.info().pixel_size_mm.has_value() != other.info().pixel_size_mm.has_value())
    differ("the size of pixels, which one of them lacks (", spelled("pixel-size"), " MM gives it to both)");
  if (std::abs(q.bin_pitch - p.bin_pitch) > 1e-3 * p.bin_pitch ||
      std::abs(q.row_pitch - p.row_pitch) > 1e-3 * p.row_pitch)
    differ("pixels: ", q.bin_pitch, " and ", p.bin_pitch, " mm");
  if (views_of(a) != views_of(b)) differ("views: ", views_of(b), " and ", views_of(a));
  if ((first.info().flats > 0) != (other.info().flats > 0)) differ("flats, which one of them lacks");
  const auto &s = angles_of(a), &t = angles_of(b);
  const double step = std::abs(s.back() - s.front()) / std::max<double>(1, std::ssize(s) - 1);
  constexpr double most = 0.2;  // as a share of a step between views
  for (std::size_t view = 0; view < s.size(); ++view)
    if (std::abs(t[view] - s[view]) > most * step + 1e-9)
      differ("angles: view ", view, " is at ", in_degrees(t[view]), " and at ", in_degrees(s[view]),
             " degrees");
}

/// @throws GeometryError for what is not joined yet
void require_plain(const JoinedPart& part) {
  const io::ScanInfo& info = part.info();
  const auto* scan = std::get_if<ParallelBeam>(&info.scan);
  require<GeometryError>(scan, spelled("stitch"), ": ", part.name(), " is a ", kind_of(info.scan),
                         " beam, whose frames see other rays at other heights; give parallel beams, or "
                         "reconstruct each scan and join the volumes");
  require<GeometryError>(
      scan->row_axis_bins.empty() && scan->view_shift_bins.empty() && info.row_shifts.empty(),
      spelled("stitch"), ": ", part.name(),
      " has views that moved, or an axis of each row; scans are joined if all views have "
      "one place");
}

/// Frames that are compared, and how many cells of the scan are one of theirs.
struct FramesToCompare {
  calibration::FrameStack frames;
  double bins, rows;
};

/// The line integrals of sixteen views, or of all if there are fewer.
FramesToCompare frames_to_compare(JoinedPart& part) {
  constexpr Index most_views = 16, most_cells = 1200;
  const Scan& scan = part.info().scan;
  const Index views = views_of(scan), count = std::min(views, most_views);
  std::vector<Index> chosen;
  for (Index k = 0; k < count; ++k) chosen.push_back(k * views / count);
  const Detector& d = part.detector();
  const auto each = [&](const auto& take) {
    for (Index k = 0; k < count; ++k) {
      Array frame = part.frames({chosen[k], chosen[k] + 1}, {0, d.rows});
      const std::span<float> values(frame.data(), frame.size());
      constexpr float least = 1e-6F;
      if (part.has_transmissions())
        for (float& value : values) value = -std::log(std::max(value, least));
      take(k, values);
    }
  };
  const calibration::MeasuredFrames all{with_views(scan, chosen), {0, count}, {0, d.rows}, {0, d.bins}, each};
  calibration::Part joined = part_of(all, all.scan, std::max(d.rows, d.bins), most_cells);
  return {std::move(joined.frames), joined.f(), joined.f_of_rows()};
}

/// Says where a scan lies beside the one before.
std::string words_of(const calibration::Seam& seam, const JoinedPart& part, const JoinedPart& before) {
  const auto place = [](double value, double uncertainty) {
    return uncertainty > 0 ? io::with_uncertainty(value, uncertainty) : io::words(value);
  };
  constexpr double hardly = 0.5;
  const double percent = 100 * (std::exp(-seam.brighter) - 1);
  return io::words(part.name(), " begins at row ", place(seam.rows, seam.uncertainty[1]), " and bin ",
                   place(seam.bins, seam.uncertainty[0]), " of ", before.name(), "; what both see agrees by ",
                   std::round(100 * seam.agreement),
                   seam.agreement < hardly ? " % only (are the steps right?)" : " %",
                   ", and its brightness is changed by ", 0.01 * std::round(100 * percent), " %");
}

/// Says what is wrong with the cells of a scan; empty if nothing is.
std::string words_of_cells(const JoinedPart& part, Index views) {
  std::string words;
  for (const auto& step : part.found().steps)
    if (step.replaced > 0 && step.name != "minus-log")
      words += io::words(words.empty() ? "" : ", ", step.replaced, " pixels met by ", step.name);
  return words.empty() ? words : io::words(part.name(), ": in ", views, " views that were compared, ", words);
}

/// Requires that what two scans have in common tells how they lie.
void require_found(const calibration::Seam& seam, const JoinedPart& part, const JoinedPart& before,
                   bool in_rows) {
  constexpr double least = 0.3, most = 0.5, doubtful = 0.9;
  const double uncertainty = seam.uncertainty[in_rows ? 1 : 0];
  const std::string known =
      std::isfinite(uncertainty)
          ? io::words("is known to ", 0.01 * std::round(100 * uncertainty), in_rows ? " rows" : " bins")
          : "is not known";
  require<GeometryError>(seam.agreement > least && uncertainty < most && seam.rival < doubtful,
                         spelled("stitch"), ": ", part.name(), " and ", before.name(),
                         " have too little in common to tell how they lie: they agree by ",
                         std::round(100 * seam.agreement), " % at a place that ", known, ", and by ",
                         std::round(100 * seam.rival), " % of that at another one; give ", spelled("stitch"),
                         in_rows ? " z=MM" : " x=MM");
}

/// Requires that both scans are nearly as bright where both see the same.
void require_alike_bright(const calibration::Seam& seam, const JoinedPart& part, const JoinedPart& before) {
  const double factor = std::exp(-seam.brighter);
  require<GeometryError>(
      factor > 0.5 && factor < 2, spelled("stitch"), ": ", part.name(), " is ",
      io::shortest(0.01 * std::round(100 / factor)), " times as bright as ", before.name(),
      " where both see the same; check its flats, and what the steps in mm are if they are given");
}

/// Finds how a scan lies beside the one before, in cells of both.
calibration::Seam found_seam(const FramesToCompare& there, const FramesToCompare& here, Along along) {
  calibration::Seam seam = find_seam(there.frames, here.frames, along);
  seam.bins *= here.bins, seam.uncertainty[0] *= here.bins;
  seam.rows *= here.rows, seam.uncertainty[1] *= here.rows;
  return seam;
}

/// How a scan lies beside the one before as the user gives it. Along rows, recorded axes say how scans lie
/// aside.
calibration::Seam given_seam(const JoinedPart& before, const JoinedPart& part, double step_mm, Along along) {
  const Detector& d = part.detector();
  if (along == Along::bins) return {.bins = step_mm / d.bin_pitch};
  const std::optional<double> axis = before.info().axis_bin, other = part.info().axis_bin;
  return {.bins = axis && other ? *axis - *other : 0, .rows = step_mm / d.row_pitch};
}

void require_steps(const std::vector<JoinedPart>& parts, const std::vector<double>& steps_mm) {
  const std::size_t steps = steps_mm.size();
  if (steps == 0) return;
  require<GeometryError>(steps == 1 || steps + 1 == parts.size(), spelled("stitch"), ": ", steps,
                         " steps for ", parts.size(), " scans; give one for all, or ", parts.size() - 1);
  require<GeometryError>(parts.front().info().pixel_size_mm.has_value(), spelled("stitch"),
                         ": the steps are in mm, and the scans have no pixel size; give ",
                         spelled("pixel-size"), " MM");
  const Detector& d = parts.front().detector();
  constexpr double farthest = 1e9;  // cells
  for (const double step : steps_mm)
    require<GeometryError>(std::abs(step) < farthest * std::min(d.bin_pitch, d.row_pitch), spelled("stitch"),
                           ": a step of ", step, " mm is too long: neighbours need to overlap");
}

}  // namespace

void require_joinable(const std::vector<JoinedPart>& parts) {
  for (const JoinedPart& part : parts) {
    require_plain(part);
    require_alike(parts.front(), part);
  }
}

std::vector<std::string> place_parts(std::vector<JoinedPart>& parts, const Stitch& how) {
  const auto& steps = how.steps_mm;
  require_steps(parts, steps);
  std::vector<std::string> notes;
  FramesToCompare there = frames_to_compare(parts.front());
  for (std::size_t k = 1; k < parts.size(); ++k) {
    JoinedPart &part = parts[k], &before = parts[k - 1];
    FramesToCompare here = frames_to_compare(part);
    calibration::Seam seam;
    if (steps.empty()) {
      seam = found_seam(there, here, how.along);
      require_found(seam, part, before, how.along == Along::rows);
    } else {
      seam = given_seam(before, part, steps[steps.size() == 1 ? 0 : k - 1], how.along);
      const auto common = seam_at(there.frames, here.frames, seam.bins / here.bins, seam.rows / here.rows);
      seam.agreement = common.agreement, seam.brighter = common.brighter;
    }
    require_alike_bright(seam, part, before);
    part.row_offset = before.row_offset + seam.rows, part.bin_offset = before.bin_offset + seam.bins;
    part.brighter = before.brighter + seam.brighter;
    notes.push_back(words_of(seam, part, before));
    there = std::move(here);
  }
  const Index compared = std::ssize(there.frames.angles);
  for (const JoinedPart& part : parts)
    if (std::string words = words_of_cells(part, compared); !words.empty()) notes.push_back(std::move(words));
  return notes;
}

}  // namespace tandem::pipeline
