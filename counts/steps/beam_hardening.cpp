#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../io/files/text.hpp"
#include "../hardening_polynomial.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<FileName> wedge_file{
    "wedge:file", "a length and the line integral that was measured over it, per line", FileName{}};
const Option<FileName> spectrum_file{
    "spectrum:file", "an energy in keV and its share of what the detector sees, per line", FileName{}};
const Option<PositiveNumber> option::straight_from{
    "beam-hardening:straight",
    "the measured line integral from which on the curve goes on as a straight line; auto finds it, too",
    PositiveNumber{HardeningPolynomial::highest}};
const Option<NumbersOr> option::beam_hardening{
    "beam-hardening",
    "coefficients C1,C2,... of the polynomial C1 q + C2 q^2 + ... of a measured line "
    "integral q; auto: they are found so that the projections agree with each other, or nothing is done; or "
    "what they are fitted to: wedge:file=FILE, a wedge of the sample's material, or spectrum:file=FILE, "
    "water "
    "in a beam",
    NumbersOr{{"auto", "wedge", "spectrum"}},
    {wedge_file, spectrum_file, option::straight_from}};

namespace {

using Pair = LengthAndLine;  // or an energy and a number that goes with it

/// Attenuation of water by energy, keV and cm^2/g (NIST, Tables of X-Ray Mass Attenuation Coefficients).
constexpr std::array<Pair, 12> water{{{10, 5.329},
                                      {15, 1.673},
                                      {20, 0.8096},
                                      {30, 0.3756},
                                      {40, 0.2683},
                                      {50, 0.2269},
                                      {60, 0.2059},
                                      {80, 0.1837},
                                      {100, 0.1707},
                                      {150, 0.1505},
                                      {200, 0.1370},
                                      {300, 0.1186}}};

/// Interpolates between the energies of the table: the cubic through four of them, of logarithms.
double attenuation_of_water(double kev) {
  std::size_t first = 0;
  while (first + 4 < water.size() && water[first + 2][0] < kev) ++first;
  double sum = 0;
  for (std::size_t i = first; i < first + 4; ++i) {
    double weight = 1;
    for (std::size_t j = first; j < first + 4; ++j)
      if (j != i) weight *= std::log(kev / water[j][0]) / std::log(water[i][0] / water[j][0]);
    sum += weight * std::log(water[i][1]);
  }
  return std::exp(sum);
}

// Coefficients c_1 = 1, c_2, ... of the polynomial c_1 q + c_2 q^2 + ... of measured line integrals q. It
// gives the line integrals of the attenuation that a thin layer has: they grow as the length does.

/// Coefficients from lengths and line integrals that were measured with a wedge of the sample's material, in
/// any unit of length. Lengths of 0 say nothing. @throws FileError that begins with `where`, unless four or
/// more are positive
std::vector<double> fitted_to_wedge(std::span<const Pair> measured, const std::string& where) {
  std::vector<Pair> lengths;
  for (const auto& [length, q] : measured) {
    require<FileError>(std::isfinite(length) && std::isfinite(q) && length >= 0 && (q > 0 || length == 0),
                       where, ": a line integral of ", q, " over a length of ", length,
                       "; positive numbers are needed");
    if (length > 0) lengths.push_back({length, q});
  }
  std::ranges::sort(lengths);
  for (std::size_t k = 1; k < lengths.size(); ++k)
    require<FileError>(lengths[k][0] > lengths[k - 1][0] && lengths[k][1] > lengths[k - 1][1], where,
                       ": the line integral ", lengths[k][1], " over a length of ", lengths[k][0],
                       " follows ", lengths[k - 1][1],
                       "; line integrals that grow with the length are needed");
  constexpr std::size_t least = 4, most_terms = 3;
  require<FileError>(lengths.size() >= least, where, ": ", lengths.size(), " lengths; at least ", least,
                     " above 0 are needed");
  return fitted_polynomial(lengths, std::min(most_terms, lengths.size() / 2));
}

/// Coefficients for water in a beam of these energies, keV, and their shares of what the detector sees. They
/// hold within 0.03 % for line integrals up to 6 of tubes from 80 to 120 kV. @throws FileError that begins
/// with `where`, for energies outside 10 to 300 keV and for shares below 0
std::vector<double> fitted_to_water(std::span<const Pair> spectrum, const std::string& where) {
  std::vector<Pair> lines;  // attenuation and share
  double all = 0, mean = 0;
  for (const auto& [kev, share] : spectrum) {
    require<FileError>(kev >= water.front()[0] && kev <= water.back()[0], where, ": an energy of ", kev,
                       " keV; the table of water goes from ", water.front()[0], " to ", water.back()[0],
                       " keV");
    require<FileError>(std::isfinite(share) && share >= 0, where, ": a share of ", share, " at ", kev,
                       " keV; a number of 0 or more is needed");
    lines.push_back({attenuation_of_water(kev), share});
    all += share, mean += share * lines.back()[0];
  }
  require<FileError>(all > 0, where, ": all shares are 0; at least one must be above");
  constexpr std::size_t terms = 5, steps = 200;
  constexpr double highest = 6;  // the largest line integral
  const auto measured = [&](double length) {
    double transmission = 0;
    for (const auto& [attenuation, share] : lines)
      transmission += share / all * std::exp(-attenuation * length);
    return -std::log(transmission);
  };
  double longest = highest * all / mean;
  while (measured(longest) < highest) longest *= 1.05;
  std::vector<Pair> lengths;
  for (std::size_t k = 1; k <= steps; ++k) {
    const double length = longest * k / steps;
    lengths.push_back({length, measured(length)});
  }
  return fitted_polynomial(lengths, terms);
}

/// The coefficients that follow from a file.
void fit(StepValues& values) {
  const auto keep = [&](std::vector<double> fitted) {
    option::beam_hardening.set(values, std::move(fitted));
  };
  if (const auto wedge = wedge_file.of(values))
    keep(fitted_to_wedge(io::read_pairs(*wedge, "a length and a line integral"), *wedge));
  if (const auto spectrum = spectrum_file.of(values))
    keep(fitted_to_water(io::read_pairs(*spectrum, "an energy in keV and its share of the beam"), *spectrum));
}

std::string hardening_conflict(const StepValues& values) {
  constexpr std::size_t most = 100;  // more take seconds, and say nothing of an object
  const auto numbers = option::beam_hardening.of(values);
  if (numbers && numbers->size() > most)
    return spelled("beam-hardening") + ": " + std::to_string(numbers->size()) + " coefficients; at most " +
           std::to_string(most) + " are taken";
  const bool has_file = wedge_file.is_given(values) || spectrum_file.is_given(values);
  return numbers && numbers->empty() && !has_file && !option::beam_hardening.is_word(values, "auto")
             ? spelled("beam-hardening") +
                   ": wedge and spectrum need a file; give wedge:file=FILE or spectrum:file=FILE"
         : option::straight_from.is_given(values) && (!numbers || numbers->empty())
             ? spelled("beam-hardening") + ": straight=Q goes with coefficients"
             : "";
}

/// Whether a correction is still to be found.
bool is_open(const Preprocessing& how) { return option::beam_hardening.is_word(how.values, "auto"); }

std::string to_be_found() {
  return spelled("beam-hardening") + " auto: is found where a volume is made; leave it out here";
}

std::string hardening_hindrance(const Preprocessing& how) {
  return is_open(how) ? to_be_found()
         : how.keeps_transmissions
             ? spelled("beam-hardening") +
                   " changes line integrals, and this method takes transmissions; leave one out"
             : "";
}

/// var(p) = (dp/dq)^2 var(q), and the sum over the bins that count.
void scale_noise(ViewRow& row, const HardeningPolynomial& polynomial) {
  for (std::size_t b = 0; b < row.variance.size(); ++b)
    if (row.span()[b] != 0) row.variance[b] *= static_cast<float>(std::pow(polynomial.slope(row.y[b]), 2));
  if (row.met.variance == 0) return;
  row.met.variance = 0;
  for (Index bin = row.counted.first; bin < row.counted.last; ++bin)
    if (const std::size_t b = bin; row.span()[b] != 0) row.met.variance += row.variance[b];
}

/// Dead cells have no line integral yet.
Index straighten(ViewRow& row, const HardeningPolynomial& polynomial) {
  if (!row.variance.empty()) scale_noise(row, polynomial);
  for (std::size_t b = 0; b < row.y.size(); ++b) {
    float& y = row.y[b];
    if (row.span()[b] != 0 && !(y <= polynomial.rises_to()))
      throw GeometryError(io::words(spelled("beam-hardening"), ": a line integral is ", y,
                                    ", and the polynomial falls from ", polynomial.rises_to(),
                                    " on; give coefficients with which it rises over all of them"));
    y = static_cast<float>(polynomial(y));
  }
  return 0;
}

/// If the polynomial falls, there is an error, which the CPU describes. The CPU also does what lies where it
/// goes on straight.
std::optional<Index> straighten_on_gpu(GpuData& data, const HardeningPolynomial& polynomial) {
  const Index above =
      kernels::counts(data.stream.device())
          ->polynomial(data.how, polynomial.coefficients(),
                       std::min(polynomial.rises_to(), polynomial.straight_from()), data.y, data.stream);
  if (above > 0) return {};
  return 0;
}

std::optional<HardeningPolynomial> asked(const Preprocessing& how) {
  const auto coefficients = option::beam_hardening.of(how.values);
  if (!coefficients || coefficients->empty()) return {};
  return HardeningPolynomial(*coefficients,
                             option::straight_from.of(how.values).value_or(HardeningPolynomial::highest));
}

}  // namespace

Step beam_hardening_step() {
  return {.name = "beam-hardening",
          .help = "line integrals of a polychromatic beam become those of one energy, by a polynomial",
          .options = {option::beam_hardening},
          .scales_noise = true,
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            const auto polynomial = asked(how);
            if (!polynomial || how.noise || how.weights) return {};  // the CPU scales noise
            return [polynomial = *polynomial](GpuData& data) { return straighten_on_gpu(data, polynomial); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (is_open(how)) return [](ViewRow&) -> Index { throw GeometryError(to_be_found()); };
            const auto polynomial = asked(how);
            if (!polynomial) return {};
            return [polynomial = *polynomial](ViewRow& row) { return straighten(row, polynomial); };
          },
          .complete = fit,
          .conflict = hardening_conflict,
          .hindrance = hardening_hindrance};
}

}  // namespace tandem::pipeline
