#include "scan_facts.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../files/text.hpp"

namespace tandem::io {

namespace {

bool all_same(const std::vector<double>& values) {
  constexpr double rounding = 1e-6;
  const auto [least, most] = std::ranges::minmax(values);
  return most - least <= rounding * std::abs(most);
}

/// "2", or "2 to 3"
std::string in_words(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return all_same(values) ? words(least) : words(least, " to ", most);
}

/// Across the beam the axis moves with the stage, so that it falls on bins that are as much higher. Where the
/// file records an axis, it is that of the first view, as nxtomomill writes it; else the axis is in the
/// middle at 0, unless that would be far outside the detector.
void move_views(const std::string& where, std::vector<double> bins, Acquisition& found) {
  const auto width = static_cast<double>(found.projections.front()->shape()[2]);
  const bool from_zero =
      !found.info.axis_bin && std::ranges::all_of(bins, [=](double at) { return std::abs(at) < width; });
  const double first = from_zero ? 0 : bins.front();
  double most = 0;
  for (double& bin : bins) bin -= first, most = std::max(most, std::abs(bin));
  found.info.notes.push_back(words(where, ": the sample moves across the beam by up to ", most, " bins from ",
                                   from_zero ? "0" : "the first view",
                                   ", where the axis counts; the views are moved back"));
  found.bin_shifts = std::move(bins);
}

/// Bins by which a line of a parallel beam is off where the beam of a source diverges: a ray to the edge of
/// the detector, half a width W from the middle, turns by W / 2 / sdd, and crosses W at most.
double off_by_bins(double width_mm, double sdd_mm, Index bins) {
  return 0.5 * static_cast<double>(bins) * (0.5 * width_mm / sdd_mm);
}

}  // namespace

void take_exposures(const ExposureTimes& times, ScanInfo& info) {
  if (times.views.empty()) return;
  std::vector<double> both = times.views;
  both.insert(both.end(), times.flats.begin(), times.flats.end());
  if (!std::ranges::all_of(both, [](double time) { return time > 0; }))
    return info.notes.push_back(times.where + " is left out: views and flats need times above 0");
  if (!all_same(both)) {
    info.notes.push_back(times.where + ": views of " + in_words(times.views) +
                         (times.flats.empty() ? ", left out: times of flats are needed too"
                                              : ", flats of " + in_words(times.flats) +
                                                    ": counts are divided by these times"));
    if (!times.flats.empty()) info.exposures = {times.views, times.flats};
  }
  both.insert(both.end(), times.darks.begin(), times.darks.end());
  if (!times.darks.empty() && (!all_same(times.darks) || !all_same(both)))
    info.notes.push_back(times.where + ": darks of " + in_words(times.darks) +
                         ": they are taken as they are, the same for views and flats");
}

double Motion::span_mm() const {
  if (positions_mm.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(positions_mm);
  return most - least;
}

void take_motions(const Motions& motions, const std::string& file, const OpenOptions& options,
                  Acquisition& found) {
  const auto said = [](const Motion& motion, const char* which_way) {
    return words(motion.where, ": the sample moves ", which_way, " by ", motion.span_mm(), " mm");
  };
  std::vector<std::string>& notes = found.info.notes;
  const bool cone = found.kind == ConeBeam::kind || options.sod_mm || options.sdd_mm;
  const double magnification = found.sod_mm && found.sdd_mm ? *found.sdd_mm / *found.sod_mm : 1;
  const std::optional<double> pitch =
      options.pixel_size_mm ? options.pixel_size_mm : found.info.pixel_size_mm;
  const double seen = 0.5 * pitch.value_or(0) / magnification;
  const auto& [across, up, along] = motions;
  if (across.span_mm() > seen && options.view_shifts.empty()) {
    if (cone || !pitch) {
      notes.push_back(said(across, "across the beam") + ", left out: " +
                      (cone ? "views of a cone beam are not moved back"
                            : "the pitch of bins is not known; give --pixel-size MM"));
    } else {
      std::vector<double> shifts = across.positions_mm;
      for (double& shift : shifts) shift /= *pitch;
      move_views(across.where, std::move(shifts), found);
    }
  }
  require<FileError>(up.span_mm() <= seen || !pitch || !options.row_shifts.empty(), file, ": ",
                     said(up, "along the axis"),
                     " while views are taken, as in a helical scan; only circles are reconstructed. If the "
                     "images do not move, give --view-row-shifts FILE with zeros");
  if (up.span_mm() > seen && !pitch) notes.push_back(said(up, "along the axis") + ", left out");
  if (along.span_mm() > seen) notes.push_back(said(along, "along the beam") + ", left out");
}

void take_distances(const Distances& d, Acquisition& found) {
  ScanInfo& info = found.info;
  const Index bins = found.projections.front()->shape()[2];
  info.pixel_size_mm = d.bin_at_sample ? d.bin_at_sample : d.bin;
  found.row_pitch_mm = d.bin_at_sample ? d.row_at_sample : d.row;
  if (!info.propagation_mm) info.propagation_mm = d.to_detector;
  if (!d.sod) return;
  const double sdd = *d.sod + d.to_detector.value_or(0);
  const auto at_detector = [&](std::optional<double> at_sample) {
    return at_sample ? std::optional(*at_sample * sdd / *d.sod) : at_sample;
  };
  const std::optional<double> pitch = d.bin ? d.bin : at_detector(d.bin_at_sample);
  if (d.to_detector && pitch && off_by_bins(*pitch * static_cast<double>(bins), sdd, bins) > 1) {
    found.kind = ConeBeam::kind;
    found.sod_mm = d.sod, found.sdd_mm = sdd;
    info.pixel_size_mm = pitch;
    found.row_pitch_mm = d.bin ? d.row : at_detector(d.row_at_sample);
    info.propagation_mm.reset();
    return;
  }
  info.notes.push_back(
      words("the source is ", *d.sod, " mm before the sample; the beam is taken as parallel"));
}

}  // namespace tandem::io
