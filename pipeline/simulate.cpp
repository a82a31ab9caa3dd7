#include "simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/spelled.hpp"

namespace tandem::pipeline {

namespace {

using io::FrameKind;
using io::PixelType;

constexpr double uint16_photons =
    60000;  // with the gain, the offset and 6 standard deviations still below 65 536
constexpr double most_photons = 4e9;  // the same for uint32; both for the most sensitive cell
constexpr double gain_spread = 0.05;
constexpr std::uint64_t mean_offset = 100, offset_spread = 5;

/// The use of each random sequence, which is a part of its key.
enum class Draw : std::uint64_t { projection, flat, gain, offset, sensitivity };

Random sequence(std::uint64_t seed, Draw draw) { return Random(seed).at(static_cast<std::uint64_t>(draw)); }

/// The half width of the uniform distribution of sensitivities about 1. A uniform deviate in (-1, 1) has the
/// standard deviation 1/sqrt(3).
double ring_spread(const Simulation& s) { return 0.01 * s.rings_percent * std::numbers::sqrt3; }

/// The number of photons that reach the most sensitive cell, before the gain.
double photons_at_most(const Simulation& s) { return *s.photons * (1 + ring_spread(s)); }

/// The properties of a cell that are fixed throughout the scan.
struct Cell {
  double gain, sensitivity;
  std::uint64_t offset;
};

std::vector<Cell> cells(const Simulation& s, Range rows) {
  const std::size_t bins = detector_of(s.scan).bins;
  std::vector<Cell> all(rows.size() * bins);
  const auto symmetric = [](Random r) { return 2 * r.uniform() - 1; };
  const double rings = ring_spread(s);
  parallel_for(rows.size(), [&](Index i) {
    const std::uint64_t row = rows.first + i;
    const auto line = [&](Draw draw) { return sequence(s.seed, draw).at(row); };
    const Random gain = line(Draw::gain), sensitivity = line(Draw::sensitivity), offset = line(Draw::offset);
    for (std::size_t bin = 0; bin < bins; ++bin)
      all[i * bins + bin] = {1 + gain_spread * symmetric(gain.at(bin)),
                             1 + rings * symmetric(sensitivity.at(bin)),
                             mean_offset - offset_spread + offset.at(bin).bits() % (2 * offset_spread + 1)};
  });
  return all;
}

template <class T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

/// Stores a count. The types that `type()` takes hold all counts but one in 1e9, and this one is clipped.
void store(PixelType type, double value, std::byte* to) {
  if (type == PixelType::float32) put(static_cast<float>(value), to);
  if (type == PixelType::uint16) put(static_cast<std::uint16_t>(std::min(value, 65535.0)), to);
  if (type == PixelType::uint32) put(static_cast<std::uint32_t>(std::min(value, 4294967295.0)), to);
}

/// log k! by Stirling's series, whose error is below 1e-12 from k = 10 on; std::lgamma writes a global.
double log_factorial(double k) {
  static constexpr std::array<double, 10> small{1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
  if (k < 10) return std::log(small[static_cast<std::size_t>(k)]);
  const double r = 1 / (k * k);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / k;
  return k * std::log(k) - k + 0.5 * std::log(2 * std::numbers::pi * k) + series;
}

std::uint64_t by_inversion(double mean, Random& random) {
  double share = std::exp(-mean), left = random.uniform();
  std::uint64_t count = 0;
  // the shares underflow to 0 long after they have added up to 1
  while (left > share && share > 0) {
    left -= share;
    ++count;
    share *= mean / count;
  }
  return count;
}

/// Names and constants as in the paper's algorithm PTRS.
std::uint64_t by_rejection(double mean, Random& random) {
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = random.uniform() - 0.5, v = random.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::uint64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * std::log(mean) - mean - log_factorial(k))
      return static_cast<std::uint64_t>(k);
  }
}

Phantom phantom_of(const Simulation& s) {
  const bool crossed = !rows_are_slices(s.scan);
  const Phantom phantom =
      crossed && s.phantom == "shepp-logan" ? shepp_logan_in_space() : named_phantom(s.phantom, s.seed);
  return scaled(phantom, half_width(s.grid), 1);
}

}  // namespace

std::uint64_t poisson(double mean, Random& random) {
  return mean < 10 ? by_inversion(mean, random) : by_rejection(mean, random);
}

void validate(const Simulation& s) {
  validate(s.scan);
  validate(s.grid);
  require<GeometryError>(std::isfinite(s.max_attenuation) && s.max_attenuation > 0,
                         "simulate: max_attenuation = ", s.max_attenuation,
                         "; a positive line integral is needed");
  require<GeometryError>(s.rings_percent >= 0 && s.rings_percent <= 50, "simulate: rings = ", s.rings_percent,
                         " %; between 0 and 50 % is possible");
  require<GeometryError>(s.dense_above.value_or(1) > 0, "simulate: dense_above = ", s.dense_above.value_or(1),
                         "; a positive attenuation is needed");
  if (s.photons)
    require<GeometryError>(*s.photons > 0 && photons_at_most(s) <= most_photons,
                           "simulate: photons = ", *s.photons, " with rings of ", s.rings_percent,
                           " %; between 0 and ", most_photons / (1 + ring_spread(s)),
                           " photons per cell can be counted");
  require<GeometryError>(s.flats > 0, "simulate: flats = ", s.flats, "; at least 1 is needed");
  require<GeometryError>(s.darks > 0, "simulate: darks = ", s.darks, "; at least 1 is needed");
}

SimulatedScan::SimulatedScan(Simulation simulation) : simulation_(std::move(simulation)) {
  validate(simulation_);
  table_ = BeamTable(simulation_.beam, simulation_.max_attenuation,
                     simulation_.dense_above ? simulation_.max_attenuation : 0);
  phantom_ = phantom_of(simulation_);
  const double largest = largest_line_integral(phantom_, simulation_.scan);
  require<GeometryError>(largest > 0, "simulate: no ray meets the phantom '", simulation_.phantom,
                         "'; move the axis bin = ", detector_of(simulation_.scan).axis_bin,
                         " towards the detector");
  phantom_ = scaled(std::move(phantom_), 1, simulation_.max_attenuation / largest);
  if (!simulation_.dense_above) return;
  dense_above_ = *simulation_.dense_above * simulation_.max_attenuation / largest;
  const Detector& d = detector_of(simulation_.scan);
  std::vector<float> all(views_of(simulation_.scan) * d.bins);
  bool has_dense = false, has_other = false;
  for (Index row = 0; row < d.rows && !(has_dense && has_other); ++row) {
    project(phantom_, simulation_.scan, {row, row + 1}, all);
    const std::vector<float> part = dense({row, row + 1});
    for (std::size_t k = 0; k < all.size(); ++k) {
      has_dense |= part[k] > 0;
      has_other |= all[k] - part[k] > 1e-4 * simulation_.max_attenuation;
    }
  }
  require<GeometryError>(has_dense && has_other, spelled("spectrum"),
                         " tube: ", has_dense ? "all" : "nothing", " that rays meet of the phantom '",
                         simulation_.phantom, "' is denser than above=", *simulation_.dense_above,
                         ", so it is of one material; give a ", has_dense ? "larger" : "smaller",
                         " value, or leave dense=MATERIAL out");
}

std::vector<float> SimulatedScan::dense(Range rows) const {
  std::vector<float> integrals(views_of(simulation_.scan) * rows.size() * detector_of(simulation_.scan).bins);
  project_dense(phantom_, dense_above_, simulation_.scan, rows, integrals);
  return integrals;
}

PixelType SimulatedScan::type() const {
  if (!simulation_.photons) return PixelType::float32;
  return photons_at_most(simulation_) > uint16_photons ? PixelType::uint32 : PixelType::uint16;
}

io::Frames SimulatedScan::frames(FrameKind kind, Range rows) const {
  const Simulation& s = simulation_;
  require<GeometryError>(0 <= rows.first && rows.first < rows.last && rows.last <= detector_of(s.scan).rows,
                         "simulate: rows ", rows.first, ":", rows.last,
                         " are empty or outside 0:", detector_of(s.scan).rows);
  const Index bins = detector_of(s.scan).bins;
  Index count = kind == FrameKind::flat ? s.flats : s.darks;
  std::vector<float> integrals, of_dense;
  if (kind == FrameKind::projection) {
    count = views_of(s.scan);
    integrals.resize(count * rows.size() * bins);
    project(phantom_, s.scan, rows, integrals);
    if (s.dense_above) of_dense = dense(rows);
  }
  const std::vector<Cell> fixed = cells(s, rows);
  const PixelType pixel = type();
  const Index size = io::bytes_of(pixel), line = bins * size;
  io::Frames out{pixel, {count, rows.size(), bins}, io::PixelBytes(count * rows.size() * line)};
  parallel_for(count * rows.size(), [&](Index i) {
    const Index row = i % rows.size();
    const Random random = sequence(s.seed, kind == FrameKind::projection ? Draw::projection : Draw::flat)
                              .at(i / rows.size())
                              .at(rows.first + row);
    const Cell* cell = fixed.data() + row * bins;
    std::byte* to = out.bytes.data() + i * line;
    const auto through = [&](double y, double dense) {
      return s.beam.empty() ? std::exp(-y) : table_.transmission(std::max(0.0, y - dense), dense);
    };
    for (Index bin = 0; bin < bins; ++bin, ++cell, to += size) {
      double transmission = kind == FrameKind::flat ? 1 : 0;
      if (kind == FrameKind::projection)
        transmission = cell->sensitivity *
                       through(integrals[i * bins + bin], of_dense.empty() ? 0 : of_dense[i * bins + bin]);
      Random own = random.at(bin);
      store(pixel,
            s.photons ? poisson(*s.photons * cell->gain * transmission, own) + cell->offset : transmission,
            to);
    }
  });
  return out;
}

}  // namespace tandem::pipeline
