#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../io/files/text.hpp"
#include "../hardening_polynomial.hpp"
#include "chain.hpp"
#include "simulated_beam.hpp"
#include "step.hpp"
#include "tube_tables.hpp"

namespace tandem::pipeline {

const Option<FileName> wedge_file{
    "wedge:file", "a length and the line integral that was measured over it, per line", FileName{}};
const Option<FileName> spectrum_file{
    "spectrum:file", "an energy in keV and its share of what the detector sees, per line", FileName{}};
const Option<PositiveNumber> tube_kv{"tube:kv", "voltage of a tube of tungsten, 30 to 300 kV",
                                     PositiveNumber{1e6, "kV"}};
const Option<Number> tube_al{"tube:al",
                             "aluminium between anode and sample, the tube's own filter included; 0: none",
                             Number{0, 50, "mm"}};
const Option<Number> tube_cu{"tube:cu", "copper between anode and sample", Number{0, 20, "mm"}};
const std::string help_of_material =
    "what the sample is of: " + joined(tabled_materials(), ", ") + " (default water)";
const Option<OneOf> tube_material{"tube:material", help_of_material, OneOf{tabled_materials()}};
const Option<OneOf> tube_dense{"tube:dense", "what the dense parts of the object are of (default: the same)",
                               OneOf{tabled_materials()}};
const Option<PositiveNumber> tube_above{"tube:above",
                                        "parts of more attenuation than this are dense, in the unit of the "
                                        "phantom: the skull of shepp-logan has 1, "
                                        "the rest 0.4 at most; most of the others has 1 (default 0.5)",
                                        PositiveNumber{1e6}};
const Option<PositiveNumber> option::straight_from{
    "beam-hardening:straight",
    "the measured line integral from which on the curve goes on as a straight line; auto finds it, too",
    PositiveNumber{HardeningPolynomial::highest}};
const Option<NumbersOr> option::beam_hardening{
    "beam-hardening",
    "coefficients C1,C2,... of the polynomial C1 q + C2 q^2 + ... of a measured line "
    "integral q; auto: they are found so that the projections agree with each other, or nothing is done; or "
    "what they are fitted to: wedge:file=FILE, a wedge of the sample's material, spectrum:file=FILE, water "
    "in a beam, or tube:kv=KV,al=MM, a material in the beam of a tube behind a filter",
    NumbersOr{{"auto", "wedge", "spectrum", "tube"}},
    {wedge_file, spectrum_file, tube_kv, tube_al, tube_cu, tube_material, option::straight_from}};

const Option<OneOf> option::spectrum{
    "spectrum",
    "the beam of a tube, in which the object is of one material: tube:kv=KV,al=MM, or of two: "
    "tube:kv=KV,al=MM,dense=bone; attenuations and line integrals are those of a thin layer",
    OneOf{{"tube"}},
    {tube_kv, tube_al, tube_cu, tube_material, tube_dense, tube_above}};

namespace {

using Pair = LengthAndLine;  // or an energy and a number that goes with it

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

/// Coefficients for a material in a beam of these energies, keV, and their shares of what the detector sees.
/// They hold for line integrals up to `fitted_up_to`: within 0.05 %, or as well as nine powers can.
constexpr double fitted_up_to = 6;
std::vector<double> fitted_to_beam(std::span<const Pair> beam, std::string_view material) {
  std::vector<Pair> lines;  // attenuation and share
  double all = 0, mean = 0;
  for (const auto& [kev, share] : beam) {
    lines.push_back({mass_attenuation(material, kev), share});
    all += share, mean += share * lines.back()[0];
  }
  const auto measured = [&](double length) {
    double transmission = 0;
    for (const auto& [attenuation, share] : lines)
      transmission += share / all * std::exp(-attenuation * length);
    return -std::log(transmission);
  };
  constexpr std::size_t fewest = 5, most = 9, steps = 200;
  constexpr double good = 5e-4;
  double longest = fitted_up_to * all / mean;
  while (measured(longest) < fitted_up_to) longest *= 1.05;
  std::vector<Pair> lengths;  // denser where they are short, since the curve bends there
  for (std::size_t k = 1; k <= steps; ++k) {
    const double length = longest * k * k / (steps * steps);
    lengths.push_back({length, measured(length)});
  }
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t terms = fewest; terms <= most && least > good; ++terms) {
    std::vector<double> fitted = fitted_polynomial(lengths, terms);
    const HardeningPolynomial polynomial(fitted);
    double error = 0;
    for (const auto& [length, q] : lengths)
      error = std::max(error, std::abs(polynomial(q) / (length * mean / all) - 1));
    if (error < least) least = error, best = std::move(fitted);
  }
  return best;
}

/// The same for water in the beam of a file. @throws FileError that begins with `where`, for energies that
/// the tables lack and for shares below 0
std::vector<double> fitted_to_spectrum(std::span<const Pair> spectrum, const std::string& where) {
  double all = 0;
  for (const auto& [kev, share] : spectrum) {
    require<FileError>(kev >= least_kev && kev <= most_kev, where, ": an energy of ", kev,
                       " keV; the table of water goes from ", least_kev, " to ", most_kev, " keV");
    require<FileError>(std::isfinite(share) && share >= 0, where, ": a share of ", share, " at ", kev,
                       " keV; a number of 0 or more is needed");
    all += share;
  }
  require<FileError>(all > 0, where, ": all shares are 0; at least one must be above");
  return fitted_to_beam(spectrum, "water");
}

std::string material_in_tube(const StepValues& values) { return tube_material.of(values).value_or("water"); }

/// The beam of a tube: energies, keV, and their shares of what the detector sees. It absorbs every photon and
/// adds up their energies.
std::vector<Pair> beam_of_tube(const StepValues& values) {
  constexpr double aluminium = 0.2699, copper = 0.896;  // g/cm^3, and cm/mm
  const double al = tube_al.of(values).value_or(0) * aluminium, cu = tube_cu.of(values).value_or(0) * copper;
  std::vector<Pair> beam = spectrum_of_tube(*tube_kv.of(values));
  for (auto& [kev, share] : beam)
    share *= std::exp(-al * mass_attenuation("aluminium", kev) - cu * mass_attenuation("copper", kev));
  return beam;
}

/// The coefficients that follow from a file or from a tube. Where these were not fitted, the curve is
/// straight.
void fit(StepValues& values) {
  const auto keep = [&](std::vector<double> fitted) {
    option::beam_hardening.set(values, std::move(fitted));
  };
  if (const auto wedge = wedge_file.of(values))
    return keep(fitted_to_wedge(io::read_pairs(*wedge, "a length and a line integral"), *wedge));
  const auto spectrum = spectrum_file.of(values);
  if (!spectrum && !tube_kv.is_given(values)) return;
  keep(spectrum ? fitted_to_spectrum(io::read_pairs(*spectrum, "an energy in keV and its share of the beam"),
                                     *spectrum)
                : fitted_to_beam(beam_of_tube(values), material_in_tube(values)));
  option::straight_from.set(values, fitted_up_to);
}

}  // namespace

std::string fault_of_tube(const StepValues& values) {
  const bool simulates = option::spectrum.is_word(values, "tube"),
             asked = simulates || option::beam_hardening.is_word(values, "tube");
  const std::string tube = spelled(simulates ? "spectrum" : "beam-hardening") + " tube:";
  const bool has_filter = tube_al.is_given(values) || tube_cu.is_given(values);
  if (!asked && !tube_kv.is_given(values) && !has_filter && !tube_material.is_given(values)) return {};
  if (!tube_kv.is_given(values)) return tube + " the voltage is missing; give kv=KV, as in tube:kv=120,al=3";
  if (!has_filter)
    return tube + " the filter is missing; give al=MM, cu=MM or both, or al=0 if the beam has none";
  const double kv = *tube_kv.of(values);
  if (!(kv >= least_kv && kv <= most_kv))
    return io::words(tube, "kv=", kv, ": the tables have tubes from ", least_kv, " to ", most_kv, " kV",
                     option::spectrum.is_given(values) ? "" : "; give spectrum:file=FILE for others");
  for (const auto* filter : {&tube_al, &tube_cu}) {
    const auto& [least, most, unit] = std::get<Number>(filter->takes);
    if (const double mm = filter->of(values).value_or(0); !(mm >= least && mm <= most))
      return io::words(tube, filter->bare_name(), "=", mm, " is no number from ", least, " to ", most, " ",
                       unit);
  }
  if (tube_above.is_given(values) && !tube_dense.is_given(values))
    return tube + "above=X says which parts are dense; give dense=MATERIAL, too";
  const std::vector<std::string> known = tabled_materials();
  for (const auto* named : {&tube_material, &tube_dense})
    if (const std::string material = named->of(values).value_or("water");
        !std::ranges::count(known, material))
      return tube + std::string(named->bare_name()) + "=" + material + " is not known; the tables have " +
             joined(known, ", ");
  return {};
}

namespace {

std::string hardening_conflict(const StepValues& values) {
  constexpr std::size_t most = 100;  // more take seconds, and say nothing of an object
  const auto numbers = option::beam_hardening.of(values);
  if (numbers && numbers->size() > most)
    return spelled("beam-hardening") + ": " + std::to_string(numbers->size()) + " coefficients; at most " +
           std::to_string(most) + " are taken";
  if (std::string fault = fault_of_tube(values); !fault.empty()) return fault;
  const bool has_source =
      wedge_file.is_given(values) || spectrum_file.is_given(values) || tube_kv.is_given(values);
  return numbers && numbers->empty() && !has_source && !option::beam_hardening.is_word(values, "auto")
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

/// The variance of a line integral after the correction, (dp/dq)^2 var(q). @throws GeometryError where that
/// is no number of 32 bits any more
float variance_after(float variance, double slope) {
  const double after = slope * slope * variance;
  if (slope == 0 || variance == 0 || !std::isfinite(variance)) return std::isfinite(variance) ? 0 : variance;
  require<GeometryError>(std::abs(std::log10(after)) < 37, spelled("beam-hardening"), ": the curve rises by ",
                         slope, " per unit of a measured line integral, which makes its variance ", after,
                         ", beyond what weights of data can hold; give coefficients with C1 near 1");
  return static_cast<float>(after);
}

/// The noise after the correction, and its sum over the bins that count.
void scale_noise(ViewRow& row, const HardeningPolynomial& polynomial) {
  for (std::size_t b = 0; b < row.variance.size(); ++b)
    if (row.span()[b] != 0) row.variance[b] = variance_after(row.variance[b], polynomial.slope(row.y[b]));
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

std::optional<HardeningPolynomial> take_hardening(Preprocessing& how) {
  auto polynomial = asked(how);
  how.values = without_hardening(std::move(how.values));
  return polynomial;
}

StepValues without_hardening(StepValues values) { return without(std::move(values), option::beam_hardening); }

std::vector<std::array<double, 3>> simulated_beam(const StepValues& values) {
  if (!option::spectrum.is_given(values)) return {};
  const std::string material = material_in_tube(values), dense = tube_dense.of(values).value_or(material);
  std::vector<std::array<double, 3>> all;
  double shares = 0, mean = 0, mean_of_dense = 0;
  for (const auto& [kev, share] : beam_of_tube(values)) {
    all.push_back({share, mass_attenuation(material, kev), mass_attenuation(dense, kev)});
    shares += share, mean += share * all.back()[1], mean_of_dense += share * all.back()[2];
  }
  for (auto& [share, main, of_dense] : all)
    share /= shares, main *= shares / mean, of_dense *= shares / mean_of_dense;
  return all;
}

std::optional<double> simulated_dense_above(const StepValues& values) {
  if (!tube_dense.is_given(values)) return {};
  return tube_above.of(values).value_or(0.5);
}

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
