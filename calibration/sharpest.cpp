#include "sharpest.hpp"

#include <algorithm>
#include <cmath>

#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "sharp_slices.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

namespace {

constexpr int to_each_side = 4;

double& number_of(Change& change, Sought what) {
  switch (what) {
    case Sought::axis:
      return change.bins;
    case Sought::roll:
      return change.roll;
    case Sought::tilt:
      return change.tilt;
    case Sought::midplane:
      break;
  }
  return change.rows;
}

/// How far from its start a number is looked for, at most: it is no more than a mistake.
double farthest(Sought what, const SharpSlices& slices) {
  constexpr double angle = 0.08, share = 0.2;
  switch (what) {
    case Sought::axis:
      return share * slices.width();
    case Sought::midplane:
      return share * slices.own_rows();
    default:
      return angle;
  }
}

/// The step of a number that moves shadows by so many cells, but not by so much that nine of them are too
/// far.
double step_of(Sought what, double cells, const SharpSlices& slices, const std::vector<double>& rows) {
  const bool counts = what == Sought::axis || what == Sought::midplane;
  const double small = counts ? 0.01 : 1e-4;
  Change change;
  number_of(change, what) = small;
  const double reach = slices.reach_of(change, rows) / small;
  return std::min(cells / reach, farthest(what, slices) / to_each_side);
}

/// What lacks of twice the most energy that a part of a slice has: lower is sharper.
std::vector<Swept> lacks_of(const std::vector<double>& values, const Energies& energies) {
  std::vector<Swept> all;
  for (std::size_t k = 0; k < values.size(); ++k) {
    all.push_back({values[k], {}});
    for (std::size_t slice = 0; slice < energies[k].size(); ++slice) {
      Sharpness lack;
      for (std::size_t part = 0; part < energies[k][slice].size(); ++part) {
        double most = 0;
        for (const auto& each : energies) most = std::max(most, std::abs(each[slice][part]));
        lack.variation.push_back(2 * most - energies[k][slice][part]);
      }
      all.back().slices.push_back(std::move(lack));
    }
  }
  return all;
}

/// Nine values about where a change stands.
SweepResult sweep(const SharpSlices& slices, const std::vector<double>& rows, const Change& about,
                  Sought what, double step) {
  std::vector<double> values;
  std::vector<Change> trials;
  for (int k = -to_each_side; k <= to_each_side; ++k) {
    trials.push_back(about);
    values.push_back(number_of(trials.back(), what) += k * step);
  }
  // Tilts of ten foams with noise err by so much beyond what parts of slices tell.
  constexpr double least = 0.05;  // steps
  return judged(lacks_of(values, slices.energies(trials, rows)), Score::sharpness, least);
}

/// A search at one level of binning, about where a change stands: frames are filtered along the rows that it
/// has.
class Search {
 public:
  Search(const FrameStack& frames, const Scan& scan, const Change& about, Index factor, Device device)
      : slices_(frames, changed(scan, about), factor, device), about_(about), factor_(factor) {
    constexpr double margin = 4, share = 0.15;  // rows, and their share, that shadows may wander over
    const double reserve = margin + share * slices_.own_rows();
    rows_ = leans(scan) ? slices_.fullest_rows(reserve) : slices_.far_rows(reserve);
  }

  /// Moves a number to its best value, in steps that move shadows by so many cells; goes on while the best
  /// value lies at an end.
  void move(Change& change, Sharpened& number, double cells) const {
    constexpr int most = 3;
    Change here = from_start(change);
    const double step = step_of(number.what, cells, slices_, rows_), unit = unit_of(number.what);
    for (int turn = 0; turn < most; ++turn) {
      const SweepResult found = sweep(slices_, rows_, here, number.what, step);
      number.verdict = found.verdict;
      if (found.verdict != Verdict::resolved && found.verdict != Verdict::railed) break;
      number_of(here, number.what) = found.value;
      number.uncertainty = unit * found.uncertainty;
      if (std::abs(found.value) > farthest(number.what, slices_)) number.verdict = Verdict::railed;
      if (std::abs(found.value) > farthest(number.what, slices_) || found.verdict == Verdict::resolved) break;
    }
    const bool told = number.verdict == Verdict::resolved;
    Change start = about_;
    number.change = told ? number_of(start, number.what) + unit * number_of(here, number.what) : 0;
    if (!told) number.uncertainty = 0;
    number_of(change, number.what) = number.change;
  }
  double common(const Change& change) const { return slices_.common(from_start(change), rows_); }

 private:
  Change from_start(const Change& change) const {
    return {(change.bins - about_.bins) / factor_, (change.rows - about_.rows) / factor_,
            change.roll - about_.roll, change.tilt - about_.tilt};
  }
  double unit_of(Sought what) const { return what == Sought::axis || what == Sought::midplane ? factor_ : 1; }

  SharpSlices slices_;
  Change about_;
  double factor_;
  std::vector<double> rows_{};
};

/// The frames that views see of the volume that they make, as they are.
FrameStack seen_again(const FrameStack& frames, const Scan& scan, Device device) {
  const VolumeGrid grid = fitting_grid(scan);
  const LinearOperator reconstruct = fbp(scan, grid, {}, {}, device),
                       project = projector(scan, grid, {}, device);
  FrameStack again = frames;
  again.values = values_of(project * (reconstruct * vector_of(frames, reconstruct.domain())));
  return again;
}

constexpr double noise_alone = 0.1;

/// Slices of rays that rise are not sharpest exactly where they are right: views of another rise stretch what
/// they see, and edges of a sample of some height gain by that. By how much is seen where the truth is known:
/// in frames of the volume that all views make where they were found.
void subtract_bias(SharpestSlices& all, const FrameStack& frames, const Scan& scan, Device device) {
  const Change found = all.change;
  const Search known(seen_again(frames, changed(scan, found), device), scan, found, 1, device);
  for (Sharpened& number : all.numbers) {
    if (number.verdict != Verdict::resolved) continue;
    Change again = found;
    Sharpened other{number.what};
    known.move(again, other, 0.5);
    Change was = found;
    if (other.verdict == Verdict::resolved) number.change -= other.change - number_of(was, number.what);
    number_of(all.change, number.what) = number.change;
  }
}

void forget(SharpestSlices& all) {
  for (Sharpened& number : all.numbers) number = {number.what};
  all.change = {};
}

}  // namespace

SharpestSlices find_sharpest(const FrameStack& frames, const Scan& scan, const std::vector<Sought>& what,
                             const std::function<void(double)>& done, Device device) {
  SharpestSlices all;
  for (const Sought each : what) all.numbers.push_back({each});
  if (!ViewsOfTurn(frames.angles).is_whole()) return all;
  double part = 0;
  const auto round = [&](const Search& search, double cells, bool first) {
    for (Sharpened& number : all.numbers) {
      if (done) done(part / (3 * what.size()));
      ++part;
      if (first || number.verdict == Verdict::resolved) search.move(all.change, number, cells);
    }
  };
  round(Search(frames, scan, {}, 2, device), 1, true);
  const Search fine(frames, scan, all.change, 1, device);
  round(fine, 0.5, false), round(fine, 0.25, false);
  all.common = fine.common(all.change);
  if (all.common < noise_alone)
    forget(all);
  else if (leans(scan))
    subtract_bias(all, frames, scan, device);
  return all;
}

}  // namespace tandem::calibration
