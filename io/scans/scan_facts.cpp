#include "scan_facts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../files/text.hpp"
#include "beams/beam.hpp"

namespace tandem::io {

namespace {

bool all_same(const std::vector<double>& values) {
  constexpr double rounding = 1e-6;
  const auto [least, most] = std::ranges::minmax(values);
  return most - least <= rounding * std::abs(most);
}

/// The values in words: "2", or "2 to 3".
std::string in_words(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return all_same(values) ? words(least) : words(least, " to ", most);
}

/// The position across the beam from which the sample moves. If the file records an axis, this is the axis of
/// the first view, as nxtomomill writes it. Else the axis is in the middle at position 0, unless that would
/// be far outside the detector. `bins`: bins per mm.
struct Start {
  double mm;
  const char* said;
};

Start start_across(const std::vector<double>& positions_mm, double bins, const Acquisition& found) {
  const double width = found.projections.front()->shape()[2];
  const bool from_zero = !found.info.axis_bin && std::ranges::all_of(positions_mm, [=](double mm) {
    return std::abs(mm * bins) < width;
  });
  return from_zero ? Start{0, "0"} : Start{positions_mm.front(), "the first view"};
}

/// Sets the shifts of views for a motion across parallel rays. The axis moves with the stage, and so falls on
/// higher bins.
void shift_views(const Motion& across, double pitch, const std::string& sense, Acquisition& found) {
  const Start start = start_across(across.positions_mm, 1 / pitch, found);
  double most = 0;
  for (const double mm : across.positions_mm) {
    found.bin_shifts.push_back(mm / pitch - start.mm / pitch);
    most = std::max(most, std::abs(found.bin_shifts.back()));
  }
  found.info.notes.push_back(words(across.where, ": the sample moves across the beam by up to ", most,
                                   " bins from ", start.said,
                                   ", where the axis counts; the views are moved back", sense));
}

/// Sets the move of the sample in each view. Along the axis it counts from the middle of the motion, so that
/// z = 0 is there. Rows of images go down, as in cameras.
void move_sample(const Motions& motions, double bins_a_mm, Acquisition& found) {
  const auto& [across, up, along] = motions;
  const auto at = [](const Motion& motion, std::size_t view, double from) {
    return motion.positions_mm.empty() ? 0 : motion.positions_mm[view] - from;
  };
  const double from =
      across.positions_mm.empty() ? 0 : start_across(across.positions_mm, bins_a_mm, found).mm;
  const double middle = up.positions_mm.empty()
                            ? 0
                            : 0.5 * (std::ranges::min(up.positions_mm) + std::ranges::max(up.positions_mm));
  const double before = along.positions_mm.empty() ? 0 : along.positions_mm.front();
  const std::size_t views =
      std::max({across.positions_mm.size(), up.positions_mm.size(), along.positions_mm.size()});
  for (std::size_t k = 0; k < views; ++k)
    found.moves.push_back({at(across, k, from), at(along, k, before), -at(up, k, middle)});
}

/// The most bins by which a line is wrong if a beam that diverges is taken as parallel. A ray to the edge of
/// the detector, half a width W from the middle, is turned by W / 2 / sdd, and crosses at most the width W.
double off_by_bins(double width_mm, double sdd_mm, Index bins) {
  return 0.5 * bins * (0.5 * width_mm / sdd_mm);
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

namespace {

/// Turns round the motions that the user says to go the other way.
void reverse(Motions& motions, const ReversedMotion& which) {
  const auto turn = [](bool back, Motion& motion, const char* way) {
    require<FileError>(!back || motion.span_mm() > 0, spelled("reverse-motion"), " ", way,
                       ": the scan records no such motion of the sample; leave it out");
    for (double& mm : motion.positions_mm) mm = back ? -mm : mm;
  };
  turn(which.across, motions.across, "across-beam");
  turn(which.up, motions.up, "along-axis");
  turn(which.along, motions.along, "along-beam");
}

/// What positions are taken for, unless the user says that they go the other way.
std::string sense(bool reversed, const char* towards, const char* way) {
  return reversed ? "" : words("; it counts ", towards, ", else give ", spelled("reverse-motion"), " ", way);
}

}  // namespace

void take_motions(Motions recorded, const OpenOptions& options, Acquisition& found) {
  Motions motions = std::move(recorded);
  auto& [across, up, along] = motions;
  const ReversedMotion& reversed = options.reversed_motion;
  reverse(motions, reversed);
  if (!options.view_shifts.empty()) across.positions_mm.clear();
  if (!options.row_shifts.empty()) up.positions_mm.clear();
  const bool cone = fields_of(found, options).kind == ConeBeam::kind;
  const std::optional<double> sod = options.sod_mm ? options.sod_mm : found.sod_mm,
                              sdd = options.sdd_mm ? options.sdd_mm : found.sdd_mm;
  const double magnification = sod && sdd ? *sdd / *sod : 1;
  const std::optional<double> pitch =
      options.pixel_size_mm ? options.pixel_size_mm : found.info.pixel_size_mm;
  const double seen = 0.5 * pitch.value_or(0) / magnification;
  const std::string stand = "; views stand where it was, for solvers",
                    no_pitch =
                        ", left out: the pitch of bins is not known; give " + spelled("pixel-size") + " MM",
                    to_bins = sense(reversed.across, "towards higher bins", "across-beam");
  const auto take = [&](Motion& motion, const char* way, bool kept, const std::string& how) {
    const bool moves = motion.span_mm() > seen;
    if (moves)
      found.info.notes.push_back(words(motion.where, ": the sample moves ", way, " by ", motion.span_mm(),
                                       " mm", pitch || !kept ? how : no_pitch));
    if (!moves || !kept || !pitch) motion.positions_mm.clear();
  };
  if (cone || !pitch) {
    take(across, "across the beam", true, stand + to_bins);
  } else {
    if (across.span_mm() > seen) shift_views(across, *pitch, to_bins, found);
    across.positions_mm.clear();
  }
  take(up, "along the axis", true, stand + sense(reversed.up, "towards lower rows", "along-axis"));
  take(along, "along the beam", cone,
       cone ? stand + sense(reversed.along, "towards the detector", "along-beam") : ", left out");
  found.climbs = !up.positions_mm.empty();
  if (pitch) move_sample(motions, magnification / *pitch, found);
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
  if (d.to_detector && pitch && off_by_bins(*pitch * bins, sdd, bins) > 1) {
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
