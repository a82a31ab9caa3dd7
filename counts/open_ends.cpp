#include "open_ends.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "../core/ceil_div.hpp"
#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "../core/spelled.hpp"

namespace tandem::pipeline {

namespace {

// Flats that drift are off by a few percent of the beam. A disc off the middle that reads 1 % too high has
// 0.2 of its mean at the ends, one that reads 10 % too high has 0.5 (parallel beam, closed form); one that
// just fits the detector has 0.18 in the last hundredth of it.
constexpr double air = 0.05, of_mean = 0.2;

Index bins_at_end(Index bins) { return std::max<Index>(3, bins / 100); }

constexpr Index enough = 64;  // views

/// The views that `level_of` looks at, brought from a GPU.
Array brought_views(const Array& y) {
  const auto [all_views, rows, bins] = y.space().shape();
  const Index step = ceil_div(all_views, enough);
  std::vector<Image<const float>> found;  // the views on each device that has some
  for (int k = 0; k < y.space().shares(); ++k) {
    Image<const float> all = image(ConstVectorView(y).share(k));
    found.push_back({all.data, ceil_div(all.n0, step), rows, bins, step * all.s0, all.s1});
  }
  Index views = 0;
  for (const Image<const float>& some : found) views += some.n0;
  const PinHostMemory pinned(y.space().device());
  Stream& stream = default_stream(y.space().device());
  Array brought(Space({views, rows, bins}), default_stream(Device::cpu()));
  Image<float> to = image(VectorView(brought));
  for (int k = 0; k < std::ssize(found); ++k, to.data += to.n0 * to.s0) {
    to.n0 = found[k].n0;
    carry(found[k], to, stream.member(k));
  }
  stream.synchronize();
  return brought;
}

/// The levels of the ends that count: the lower one, and the mean.
struct Ends {
  double least, mean;
};

Ends ends_of(const Level& level, const Scan& scan, bool nearer_made_up_for) {
  const Sides side = sides(detector_of(scan));
  if (side.nearer >= 0.9 * side.farther)
    return {std::min(level.low, level.high), 0.5 * (level.low + level.high)};
  const double one = (side.direction > 0) == nearer_made_up_for ? level.high : level.low;
  return {one, one};
}

}  // namespace

Level level_of(Image<const float> y, Index row) {
  const Index at_end = bins_at_end(y.n2), step = ceil_div(y.n0, enough);
  std::vector<float> bins(at_end);
  const auto median = [&](const float* from) {
    std::copy_n(from, at_end, bins.begin());
    const auto middle = bins.begin() + at_end / 2;
    std::nth_element(bins.begin(), middle, bins.end());
    return *middle;
  };
  Level level;
  double views = 0;
  for (Index view = 0; view < y.n0; view += step, ++views) {
    const float* line = &y(view, row, 0);
    level.low += median(line), level.high += median(line + y.n2 - at_end);
    double sum = 0;
    for (Index bin = 0; bin < y.n2; ++bin) sum += line[bin];
    level.mean += sum / y.n2;
  }
  return {level.low / views, level.high / views, level.mean / views};
}

namespace {

/// The level of a row of transmissions. Means over views come first, since a single count may be zero.
Level level_of_transmissions(Image<const float> y, Index row) {
  constexpr double least = 1e-6;  // a mean without a photon
  const Index step = ceil_div(y.n0, enough);
  std::vector<double> sums(y.n2, 0.0);
  for (Index view = 0; view < y.n0; view += step)
    for (Index bin = 0; bin < y.n2; ++bin) sums[bin] += y(view, row, bin);
  std::vector<float> line;
  for (const double sum : sums)
    line.push_back(static_cast<float>(-std::log(std::max(sum / ceil_div(y.n0, step), least))));
  return level_of({line.data(), 1, 1, y.n2, y.n2, y.n2}, 0);
}

}  // namespace

bool above_air(double end, double mean) { return end > air && end > of_mean * mean; }

void OpenEnds::look_at(const Array& y, const Scan& scan, bool nearer_made_up_for, std::array<bool, 2> outer,
                       bool transmissions) {
  if (y.space().device().is_cuda())
    return look_at(brought_views(y), scan, nearer_made_up_for, outer, transmissions);
  const Image<const float> all = image(ConstVectorView(y));
  if (all.n2 < 4 * bins_at_end(all.n2)) return;  // too few to tell
  std::vector<Level> levels(all.n1);
  const auto level_in = transmissions ? level_of_transmissions : level_of;
  parallel_for(all.n1, [&](Index row) { levels[row] = level_in(all, row); });
  rows_ += all.n1;
  if (outer[0]) outer_ = std::max(outer_, levels.front().mean);
  if (outer[1]) outer_ = std::max(outer_, levels.back().mean);
  for (const Level& level : levels) {
    all_means_ += level.mean;
    const Ends ends = ends_of(level, scan, nearer_made_up_for);
    if (ends.mean < -air) ++below_, below_ends_ += ends.mean;
    if (!(ends.least > air && ends.mean > of_mean * level.mean)) continue;
    ++open_;
    ends_ += ends.mean, means_ += level.mean;
  }
}

void OpenEnds::add(const OpenEnds& others) {
  rows_ += others.rows_, open_ += others.open_;
  ends_ += others.ends_, means_ += others.means_;
  below_ += others.below_, below_ends_ += others.below_ends_;
  outer_ = std::max(outer_, others.outer_), all_means_ += others.all_means_;
}

namespace {

std::string words_of(OpenEnds::Method method) {
  if (method == OpenEnds::Method::solves)
    return "a solver presses what is outside into the volume; give flats of the same beam, or a " +
           spelled("size") + " that holds the whole sample";
  const std::string flats = "; give flats of the same beam";
  if (method == OpenEnds::Method::goes_round)
    return "fbp continues the rows there with circles (" + spelled("padding") +
           " circle), which leaves some percent where the rim of the sample is of one material and the field "
           "is half of it or more, and tens of percent elsewhere" +
           flats;
  if (method == OpenEnds::Method::cuts)
    return "fbp then reads too high, by tens of percent, and has a bright rim" + flats + ", or " +
           spelled("padding") + " circle";
  return "fbp continues the rows there (" + spelled("padding") +
         "), so the picture is flat, but a constant is not known: it may read 20 % too high or too low" +
         flats + ", or " + spelled("padding") + " circle; " + spelled("reconstruction-algorithm") +
         " cgls with a " + spelled("size") + " that holds the whole sample comes nearer, too";
}

}  // namespace

std::string OpenEnds::warning(Method method, const std::string& cause) const {
  if (open_ == 0) return {};
  const double count = open_;
  std::ostringstream text;
  text.precision(3);
  text << open_ << " of " << rows_
       << " rows do not come down to air at the ends of the detector (line integral " << ends_ / count
       << " there, " << means_ / count << " on average): ";
  if (cause.empty())
    text << "the sample reaches beyond the field of view, or the flats are brighter than the air; "
         << words_of(method);
  else
    text << cause;
  return text.str();
}

std::string OpenEnds::warning_of_low_ends(bool of_counts) const {
  if (2 * below_ <= rows_) return {};
  const bool much = -below_ends_ / below_ > of_mean * std::abs(all_means_ / rows_);
  if (!of_counts && !much) return {};  // noise, in whatever unit
  std::ostringstream text;
  text.precision(3);
  text << below_ << " of " << rows_ << " rows read below zero at the ends of the detector (line integral "
       << below_ends_ / below_ << " there): "
       << (of_counts ? "the flats are darker than the air beside the sample; give flats of the same beam and "
                       "exposure, or " +
                           spelled("air-columns")
                     : "line integrals of air are 0, and these have an offset; give an image of it by " +
                           spelled("darks"));
  return text.str();
}

std::string OpenEnds::warning_of_outer_rows(const std::string& consequence) const {
  const double mean = rows_ > 0 ? all_means_ / rows_ : 0;
  if (consequence.empty() || !above_air(outer_, mean)) return {};
  std::ostringstream text;
  text.precision(3);
  text << "the outermost rows see the sample (line integral " << outer_ << " there, " << mean
       << " on average), " << consequence;
  return text.str();
}

}  // namespace tandem::pipeline
