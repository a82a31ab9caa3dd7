#include "tandem/pipeline/center.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"
#include "tandem/geometry/scan.hpp"
#include "tandem/pipeline/axis_misfit.hpp"

namespace tandem::pipeline {

namespace {

constexpr double pi = std::numbers::pi;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
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

struct Pair {
  std::size_t view, opposite;
};

/// Views whose angles are half a turn apart within `tolerance` (rad), each with its nearest.
std::vector<Pair> opposite_pairs(std::span<const double> angles, double tolerance) {
  std::vector<Pair> pairs;
  const auto gap = [&](std::size_t i, std::size_t j) {
    return std::abs(std::remainder(angles[i] - angles[j] - pi, 2 * pi));
  };
  for (std::size_t i = 0; i < angles.size(); ++i) {
    std::size_t best = i;
    for (std::size_t j = 0; j < angles.size(); ++j)
      if (gap(i, j) < gap(i, best)) best = j;
    if (gap(i, best) > tolerance) continue;
    const bool seen =
        std::any_of(pairs.begin(), pairs.end(), [&](Pair p) { return p.view == best && p.opposite == i; });
    if (!seen) pairs.push_back({i, best});
  }
  return pairs;
}

/// Views in groups of half a turn each, since within a full turn with exact opposites every axis is
/// consistent. Groups with less than half the views of the largest tell nothing and are left out.
std::vector<std::vector<std::size_t>> half_turns(std::span<const double> angles) {
  const auto [low, high] = std::minmax_element(angles.begin(), angles.end());
  const double spacing = view_spacing(angles);
  std::vector<std::vector<std::size_t>> groups(*high - *low > pi + 1.5 * spacing ? 2 : 1);
  for (std::size_t v = 0; v < angles.size(); ++v)
    groups[static_cast<std::size_t>((angles[v] - *low + 1e-6 * spacing) / pi) % groups.size()].push_back(v);
  const std::size_t most = std::max(groups.front().size(), groups.back().size());
  std::erase_if(groups, [&](const auto& g) { return 2 * g.size() < most; });
  return groups;
}

/// One frequency of E: the energies of measured and mirrored views, and what they have in common.
struct Term {
  double constant = 0;
  Complex coefficient = 0;
};

/// One frequency of the double-wedge method (Vo et al. 2014, here without stacking: the mirrored half turn
/// follows from the measured one). A_m is the m-th Fourier coefficient along the angle; a body within radius
/// R has none with |m| > R w (Natterer 1986, section III.3; Edholm et al. 1986), and the mirrored half adds
/// -(-1)^m conj(A_-m) exp(-2 i w c): the energy there is lowest at the right axis. Rings, which are m = 0, do
/// not count.
Term outside_wedge(std::span<const Complex> views, std::span<const double> angles, std::size_t first,
                   std::size_t last) {
  constexpr std::size_t lanes = 4;
  Term sum;
  const std::size_t n = views.size(), padded = (n + lanes - 1) / lanes * lanes;
  std::vector<double> p_re(padded), p_im(padded), z_re(padded), z_im(padded), t_re(padded), t_im(padded);
  for (std::size_t v = 0; v < n; ++v) {
    const double start = static_cast<double>(first) * angles[v];
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
  constexpr double margin = 2;  // Bessel functions do not stop at their order
  std::vector<double> angles;
  for (std::size_t v : group) angles.push_back(all_angles[v]);
  const std::vector<double> weights = view_weights(angles);
  Misfit misfit{spectra.step, std::vector<Complex>(spectra.views.front().size())};
  std::vector<double> constants(misfit.coefficients.size());
  const double radius = 0.5 * pi / spectra.step;  // bins: the body fits the detector
  parallel_for(static_cast<Index>(misfit.coefficients.size()), [&](Index i) {
    const auto k = static_cast<std::size_t>(i);
    const double w = spectra.step * static_cast<double>(i + 1);
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

/// E of a registration: minus the correlation of a view with its mirrored opposite.
Misfit pair_misfit(const Spectra& spectra, Pair pair) {
  const std::vector<Complex>&p = spectra.views[pair.view], &q = spectra.views[pair.opposite];
  Misfit misfit{spectra.step, std::vector<Complex>(p.size())};
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double w = spectra.step * static_cast<double>(k + 1);
    misfit.coefficients[k] = std::conj(p[k] * q[k]) / w;
    misfit.constant += 0.5 * (std::norm(p[k]) + std::norm(q[k])) / w;
  }
  return misfit;
}

struct Weighted {
  double value, weight;
};

double weighted_median(std::vector<Weighted> all) {
  std::sort(all.begin(), all.end(), [](auto a, auto b) { return a.value < b.value; });
  double total = 0, sum = 0;
  for (const Weighted& w : all) total += w.weight;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sum += all[i].weight;
    if (2 * sum == total && i + 1 < all.size()) return 0.5 * (all[i].value + all[i + 1].value);
    if (2 * sum >= total) return all[i].value;
  }
  return all.back().value;
}

struct Found {
  double c, deviation, agreement;
};

/// The median of what single pairs say near the place where all of them agree best, each counting for its
/// curvature.
Found median_of_pairs(const std::vector<Misfit>& pairs, const Found& joint) {
  constexpr double near = 2;  // bins
  std::vector<Weighted> axes(pairs.size());
  parallel_for(static_cast<Index>(pairs.size()), [&](Index i) {
    const Misfit& pair = pairs[static_cast<std::size_t>(i)];
    const double c = lowest(pair, joint.c - near, joint.c + near);
    axes[static_cast<std::size_t>(i)] = {c, std::max(0.0, pair.at(c).curvature)};
  });
  const double c = weighted_median(axes);
  double sum = 0, squares = 0;
  for (Weighted& a : axes) {
    a.value = std::abs(a.value - c);
    sum += a.weight, squares += a.weight * a.weight;
  }
  // 1.4826 MAD is the standard deviation of normal deviates; their median has sqrt(pi / 2) that of their mean
  return {c, 1.4826 * weighted_median(axes) * std::sqrt(pi / 2 * squares) / sum, joint.agreement};
}

struct Data {
  std::span<const float> line_integrals;
  std::span<const double> angles;
  Shape shape;
};

/// The axis on which all samples together agree best, and how much they differ there.
Found agreed(const std::vector<Misfit>& samples, double low, double high) {
  Misfit joint = samples.front();
  for (std::size_t i = 1; i < samples.size(); ++i) joint += samples[i];
  const double c = lowest(joint, low, high);
  Spread spread;
  for (const Misfit& sample : samples) spread.add(sample, c);
  return {c, spread.deviation(), -joint.at(c).e / joint.constant};
}

Found by_opposite_views(const Data& data, double low, double high) {
  constexpr std::size_t most = 128, few = 5;  // a row: more pairs would not move the median, fewer have none
  const double tolerance = 0.5 * view_spacing(data.angles) * (1 + 1e-6);
  const std::vector<Pair> pairs = opposite_pairs(data.angles, tolerance);
  require<GeometryError>(!pairs.empty(), "center opposite: no two of the ", data.angles.size(),
                         " views are 180 degrees apart within half a step; use the method vo");
  std::vector<Misfit> samples;
  for (Index row = 0; row < data.shape[1]; ++row) {
    const Spectra views = spectra(data.line_integrals, data.shape, row);
    for (std::size_t i = 0, stride = (pairs.size() + most - 1) / most; i < pairs.size(); i += stride)
      samples.push_back(pair_misfit(views, pairs[i]));
  }
  const Found found = agreed(samples, low, high);
  return samples.size() < few || !std::isfinite(found.deviation) ? found : median_of_pairs(samples, found);
}

Found by_double_wedge(const Data& data, double low, double high) {
  constexpr std::size_t least = 8;
  constexpr double widest = 10 * pi / 180;
  const auto groups = half_turns(data.angles);
  require<GeometryError>(groups.front().size() >= least, "center vo: ", groups.front().size(),
                         " views in half a turn; at least ", least, " are needed");
  const double gap = widest_gap(data.angles);
  require<GeometryError>(gap < std::max(widest, 4 * view_spacing(data.angles)),
                         "center vo: there is no view in ", gap * 180 / pi,
                         " of 180 degrees; give the axis in bins from 0");
  std::vector<Misfit> samples;
  for (Index row = 0; row < data.shape[1]; ++row) {
    const Spectra views = spectra(data.line_integrals, data.shape, row);
    for (const auto& group : groups) samples.push_back(wedge_misfit(views, group, data.angles));
  }
  return agreed(samples, low, high);
}

AxisMethod chosen(AxisMethod method, std::span<const double> angles) {
  if (method != AxisMethod::automatic) return method;
  const auto pairs = opposite_pairs(angles, 0.25 * view_spacing(angles));
  return 4 * pairs.size() >= angles.size() ? AxisMethod::opposite : AxisMethod::vo;
}

void check(const Data& data, const AxisSearch& search) {
  const auto [views, rows, bins] = data.shape;
  require<SpaceError>(rows > 0 && static_cast<Index>(data.line_integrals.size()) == views * rows * bins,
                      "center: ", data.line_integrals.size(), " line integrals; ", views, " views x ", rows,
                      " rows x ", bins, " bins are needed");
  require<GeometryError>(bins >= 16 && views >= 2, "center: ", views, " views of ", bins,
                         " bins; at least 2 views of 16 bins are needed");
  for (double angle : data.angles)
    require<GeometryError>(std::isfinite(angle), "center: an angle is ", angle,
                           " rad; finite numbers are needed");
  if (search.between)
    require<GeometryError>((*search.between)[0] < (*search.between)[1], "center: nothing lies between bins ",
                           (*search.between)[0], " and ", (*search.between)[1], "; give the lower one first");
}

constexpr std::array names{std::pair{"auto", AxisMethod::automatic},
                           std::pair{"opposite", AxisMethod::opposite}, std::pair{"vo", AxisMethod::vo}};

}  // namespace

AxisMethod axis_method(std::string_view name) {
  for (const auto& [known, method] : names)
    if (name == known) return method;
  throw GeometryError("rotation axis method '" + std::string(name) +
                      "' is unknown; known are auto, opposite, vo");
}

const char* name_of(AxisMethod method) {
  return std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.second == method; })->first;
}

AxisEstimate find_axis(std::span<const float> line_integrals, std::span<const double> angles, Index rows,
                       Index bins, const AxisSearch& search) {
  const Data data{line_integrals, angles, {static_cast<Index>(angles.size()), rows, bins}};
  check(data, search);
  // from bins of the detector to averaged bins counted from their middle, and back
  const double factor = static_cast<double>(averaged(bins)),
               kept = std::floor(static_cast<double>(bins) / factor);
  const double middle = 0.5 * (kept * factor - 1), last = static_cast<double>(bins - 1);
  const auto ends = search.between.value_or(std::array{0.02 * last, 0.98 * last});
  const double low = (ends[0] - middle) / factor, high = (ends[1] - middle) / factor;
  const AxisMethod method = chosen(search.method, angles);
  const Found found =
      method == AxisMethod::opposite ? by_opposite_views(data, low, high) : by_double_wedge(data, low, high);
  require<GeometryError>(std::isfinite(found.deviation), "center ", name_of(method), ": ", rows,
                         rows == 1 ? " row holds" : " rows hold",
                         " nothing by which to tell the axis; choose other rows");
  return {middle + found.c * factor, found.deviation * factor, found.agreement, method};
}

}  // namespace tandem::pipeline
