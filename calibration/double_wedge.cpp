// The axis by the double wedge: for scans over half a turn.

#include "ways.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../core/units.hpp"
#include "../geometry/scan.hpp"
#include "axis_misfit.hpp"
#include "spread.hpp"

namespace tandem::calibration {

namespace {

using std::numbers::pi;

double median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// The typical step between neighbouring views, rad; views at the same angle count as one.
double view_spacing(std::span<const double> angles) {
  constexpr double same = 1e-6;
  std::vector<double> sorted(angles.begin(), angles.end()), steps;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > same) steps.push_back(sorted[i] - sorted[i - 1]);
  return steps.empty() ? pi : median(steps);
}

/// Views in groups of half a turn each, since within a full turn with exact opposites every axis is
/// consistent. Groups with less than half as many views as the largest one tell nothing, and are left out.
std::vector<std::vector<std::size_t>> half_turns(std::span<const double> angles) {
  const auto [low, high] = std::minmax_element(angles.begin(), angles.end());
  const double spacing = view_spacing(angles);
  std::vector<std::vector<std::size_t>> groups(*high - *low > pi + 1.5 * spacing ? 2 : 1);
  for (std::size_t v = 0; v < angles.size(); ++v)
    groups[floor_index((angles[v] - *low + 1e-6 * spacing) / pi) % groups.size()].push_back(v);
  const std::size_t most = std::max(groups.front().size(), groups.back().size());
  std::erase_if(groups, [&](const auto& g) { return 2 * g.size() < most; });
  return groups;
}

/// The part of E from one frequency: the energies of measured and mirrored views, and their common part.
struct Term {
  double constant = 0;
  Complex coefficient = 0;
};

/// The term of one frequency in the double-wedge method (Vo et al. 2014, here without stacking: the mirrored
/// half turn follows from the measured one). A_m is the m-th Fourier coefficient along the angle. A body
/// within radius R has none with |m| > R w (Natterer 1986, section III.3; Edholm et al. 1986). The mirrored
/// half adds -(-1)^m conj(A_-m) exp(-2 i w c). So the energy for these m is lowest at the right axis. Rings,
/// which are m = 0, do not count.
Term outside_wedge(std::span<const Complex> views, std::span<const double> angles, std::size_t first,
                   std::size_t last) {
  constexpr std::size_t lanes = 4;
  Term sum;
  const std::size_t n = views.size(), padded = (n + lanes - 1) / lanes * lanes;
  std::vector<double> p_re(padded), p_im(padded), z_re(padded), z_im(padded), t_re(padded), t_im(padded);
  for (std::size_t v = 0; v < n; ++v) {
    const double start = first * angles[v];
    p_re[v] = views[v].real(), p_im[v] = views[v].imag();
    z_re[v] = std::cos(start), z_im[v] = -std::sin(start);
    t_re[v] = std::cos(angles[v]), t_im[v] = -std::sin(angles[v]);
  }
  for (std::size_t m = first; m < last; ++m) {
    double a[lanes]{}, b[lanes]{}, c[lanes]{}, d[lanes]{};
    for (std::size_t v = 0; v < padded; v += lanes)
      for (std::size_t i = v, l = 0; l < lanes; ++i, ++l) {
        a[l] += p_re[i] * z_re[i], b[l] += p_im[i] * z_im[i];
        c[l] += p_re[i] * z_im[i], d[l] += p_im[i] * z_re[i];
        const double next = z_re[i] * t_re[i] - z_im[i] * t_im[i];
        z_im[i] = z_re[i] * t_im[i] + z_im[i] * t_re[i];
        z_re[i] = next;
      }
    const auto total = [](const double(&x)[lanes]) { return (x[0] + x[1]) + (x[2] + x[3]); };
    const Complex plus(total(a) - total(b), total(c) + total(d)),
        minus(total(a) + total(b), total(d) - total(c));
    sum.constant += std::norm(plus) + std::norm(minus);
    sum.coefficient += (m % 2 ? 2.0 : -2.0) * std::conj(plus * minus);
  }
  return sum;
}

/// E of the double-wedge method for one group of views.
Misfit wedge_misfit(const Spectra& spectra, std::span<const std::size_t> group,
                    std::span<const double> all_angles) {
  constexpr double margin = 2;  // since Bessel functions do not stop at their order
  std::vector<double> angles;
  for (std::size_t v : group) angles.push_back(all_angles[v]);
  const std::vector<double> weights = view_weights(angles);
  Misfit misfit{spectra.step, std::vector<Complex>(spectra.views.front().size())};
  std::vector<double> constants(misfit.coefficients.size());
  const double radius = 0.5 * pi / spectra.step;  // bins, if the body fits the detector
  parallel_for(misfit.coefficients.size(), [&](Index i) {
    const std::size_t k = i;
    const double w = spectra.step * (i + 1);
    std::vector<Complex> views(group.size());
    for (std::size_t v = 0; v < group.size(); ++v) views[v] = weights[v] * spectra.views[group[v]][k];
    const auto first = static_cast<std::size_t>(radius * w + margin) + 1;
    const Term term = outside_wedge(views, angles, first, group.size());
    misfit.coefficients[k] = term.coefficient / w;
    constants[k] = term.constant / w;
  });
  misfit.constant = std::accumulate(constants.begin(), constants.end(), 0.0);
  return misfit;
}

Pull pull_of(const Misfit& misfit, double c, std::size_t first, std::size_t last) {
  const Misfit::Value v = misfit.at(c, first, last);
  return {v.slope, v.curvature};
}

/// The spread of rows and of bands of frequencies about the axis c. Bands of equal width are taken for each
/// row, since noise is in all of them. Octaves are taken for all rows together, since a fault in the angles,
/// or a body cut off by the detector, moves neighbouring bands in the same way.
double deviation(const std::vector<Misfit>& rows, double c) {
  constexpr std::size_t band = 8;  // neighbouring frequencies are correlated
  constexpr double floor = 0.02;
  const std::size_t count = rows.front().coefficients.size();
  std::array<std::vector<Pull>, 3> partings;
  for (const Misfit& row : rows) {
    partings[0].push_back(pull_of(row, c, 0, count));
    for (std::size_t k = 0; k < count; k += band)
      partings[1].push_back(pull_of(row, c, k, std::min(k + band, count)));
  }
  for (std::size_t k = 0, next = 0; k < count; k = next) {
    next = std::min(count, std::max(k + 1, 3 * k / 2));
    Pull all;
    for (const Misfit& row : rows) all += pull_of(row, c, k, next);
    partings[2].push_back(all);
  }
  return widest_spread(partings, floor);
}

struct Agreed {
  double c, deviation, agreement;
};

/// The axis on which all rows together agree best.
Agreed agreed(const std::vector<Misfit>& rows, double low, double high) {
  constexpr double step = 0.5;
  Misfit joint = rows.front();
  for (std::size_t i = 1; i < rows.size(); ++i) joint += rows[i];
  const double c = lowest(joint, low, high), own = deviation(rows, c);
  const Misfit::Value best = joint.at(c);
  std::vector<Trial> trials;
  for (double at = low; at <= high; at += step) trials.push_back({at, joint.at(at).e});
  const double rise = 0.5 * own * own * best.curvature;
  return {c, spread_with_rivals(own, rise, {c, best.e}, trials), -best.e / joint.constant};
}

/// A way to understand the angles of views: groups that fill half a turn each, and the angles of all views.
struct Reading {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<double> angles;
};

/// The reading of views that lack one step of half a turn in which the last view lies at the end of half a
/// turn. There it repeats the first view, and is left out. Empty for other views.
std::optional<Reading> with_repeated_end(std::span<const double> angles) {
  const auto [low, high] = std::minmax_element(angles.begin(), angles.end());
  const double arc = *high - *low, missing = (pi - arc) / view_spacing(angles);
  if (missing < 0.5 || missing > 1.5) return {};
  Reading closed{half_turns(angles), {}};
  std::erase(closed.groups.front(), static_cast<std::size_t>(high - angles.begin()));
  for (const double a : angles) closed.angles.push_back(*low + (a - *low) * pi / arc);
  return closed;
}

void require_half_turn(std::span<const double> angles) {
  constexpr std::size_t least = 8;
  constexpr double widest = in_radians(10);
  const std::size_t views = half_turns(angles).front().size();
  require<GeometryError>(views >= least, "center vo: ", views, " views in half a turn; at least ", least,
                         " are needed");
  const double gap = widest_gap(angles);
  require<GeometryError>(gap < std::max(widest, 4 * view_spacing(angles)), "center vo: there is no view in ",
                         gap * 180 / pi, " of 180 degrees; give the axis in bins from 0");
}

}  // namespace

AxisEstimate axis_by_double_wedge(std::span<const float> line_integrals, std::span<const double> angles,
                                  Index rows, Index bins, const std::array<double, 2>& between) {
  require_half_turn(angles);
  std::vector<Spectra> spectra_of_rows;
  for (Index row = 0; row < rows; ++row)
    spectra_of_rows.push_back(spectra(line_integrals, {std::ssize(angles), rows, bins}, row));
  // from bins of the detector to averaged bins counted from their middle, and back
  const double factor = averaged(bins), kept = std::floor(bins / factor), middle = 0.5 * (kept * factor - 1);
  const auto find = [&](const Reading& reading) {
    std::vector<Misfit> misfits;
    for (const Spectra& row : spectra_of_rows)
      for (const auto& group : reading.groups) misfits.push_back(wedge_misfit(row, group, reading.angles));
    const Agreed found = agreed(misfits, (between[0] - middle) / factor, (between[1] - middle) / factor);
    return AxisEstimate{middle + found.c * factor, found.deviation * factor, found.agreement, AxisMethod::vo};
  };
  AxisEstimate found = find({half_turns(angles), {angles.begin(), angles.end()}});
  // a wrong step between views moves the axis, and changes the wedge very little
  if (const auto closed = with_repeated_end(angles))
    if (const AxisEstimate other = find(*closed); other.agreement > found.agreement) {
      found.uncertainty = std::hypot(found.uncertainty, other.axis_bin - found.axis_bin);
      found.axis_if_repeated = other.axis_bin;
    }
  return found;
}

}  // namespace tandem::calibration
