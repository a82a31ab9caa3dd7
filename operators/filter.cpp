#include "filter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/newest_results.hpp"
#include "../core/parallel.hpp"

namespace tandem {

namespace {

using std::numbers::pi;

/// What is the same in all pictures, whatever the interpolation. If the response were the same for all waves,
/// waves near the Nyquist frequency would have aliases as strong as themselves. So for a bare ramp the noise
/// is the same.
enum class Alike {
  response,  ///< the response to each wave, unless the aliases are too strong
  noise,     ///< the noise that linear interpolation leaves at each frequency
  all_noise,
  nothing
};

/// A window over g = f / cut-off.
struct WindowShape {
  std::string_view name;
  double (*at)(double g);
  double cutoff = 1;       ///< default, as a fraction of the Nyquist frequency
  bool ends_there = true;  ///< whether it is zero above the cut-off
  Alike alike = Alike::response;
};

/// One line for each window, in their order.
constexpr WindowShape shapes[] = {
    {"ramp", [](double) { return 1.0; }, 1, true, Alike::noise},
    {"sharp", [](double) { return 1.0; }, 1, true, Alike::all_noise},
    {"shepp", [](double g) { return g == 0 ? 1 : std::sin(pi * g / 2) / (pi * g / 2); }},
    {"cosine", [](double g) { return std::cos(pi * g / 2); }},
    {"hamming", [](double g) { return 0.54 + 0.46 * std::cos(pi * g); }},
    {"hann", [](double g) { return 0.5 + 0.5 * std::cos(pi * g); }},
    {"parzen", [](double g) { return g <= 0.5 ? 1 - 6 * g * g * (1 - g) : 2 * std::pow(1 - g, 3); }},
    {"blackman", [](double g) { return 0.42 + 0.5 * std::cos(pi * g) + 0.08 * std::cos(2 * pi * g); }},
    {"butterworth", [](double g) { return 1 / (1 + std::pow(g, 8)); }, 0.5, false},
    {"none", [](double) { return 1.0; }, 1, false, Alike::nothing}};

const WindowShape& shape_of(Window window) { return row_of(shapes, window); }

double cutoff_of(const Filter& filter) { return filter.cutoff.value_or(shape_of(filter.window).cutoff); }

/// The power of the noise that linear interpolation aliases, over the power of the noise that is no alias, if
/// the filter compensates for the mean response.
double share_of_aliases(const Filter& filter) {
  constexpr int count = 512;
  double aliases = 0, rest = 0;
  for (int k = 0; k < count; ++k) {
    const double f = 0.5 * (k + 0.5) / count, power = std::pow(f * window_at(filter, f), 2);
    aliases += power * (noise_of_linear(f) / std::pow(mean_response({}, f), 2) - 1);
    rest += power;
  }
  return aliases / rest;
}

/// What is the same for a filter. The limit of aliases is a tenth of the power, which is 5 % of the noise.
Alike alike_of(const Filter& filter) {
  constexpr double most_aliases = 0.1;
  const Alike wanted = shape_of(filter.window).alike;
  return wanted == Alike::response && share_of_aliases(filter) > most_aliases ? Alike::noise : wanted;
}

/// The factor that compensates for the mean response at f cycles per bin. A picture has no waves shorter than
/// two pixels, so the factor stays constant beyond. Pixels wider than bins blur more than linear
/// interpolation, and at two bins per pixel no factor can compensate for that.
double over_mean_response(const Interpolation& interpolation, double f) {
  if (interpolation.kind == Interpolation::Kind::polynomial) return 1;
  const double pixel_bins = interpolation.pixel_bins, held = std::min(f, 0.5 / std::max(pixel_bins, 1.0));
  return mean_response({}, std::clamp(pixel_bins - 1, 0.0, 1.0) * held) / mean_response(interpolation, held);
}

/// The factor, at f cycles per bin, that makes the pictures of all interpolations alike.
double factor_at(Alike alike, const Interpolation& interpolation, double f) {
  switch (alike) {
    case Alike::response:
      return over_mean_response(interpolation, f);
    case Alike::noise:
      return std::sqrt(noise_of_linear(f) / mean_power(interpolation, f));
    case Alike::all_noise:
      return 1 / std::sqrt(mean_power(interpolation, f));
    case Alike::nothing:
      break;
  }
  return 1;
}

}  // namespace

Window window_named(std::string_view name) {
  return value_named<Window>(shapes, name, "filter:", &WindowShape::name);
}

std::vector<std::string_view> window_names() {
  std::vector<std::string_view> names;
  for (const WindowShape& shape : shapes) names.push_back(shape.name);
  return names;
}

constexpr std::string_view paddings[] = {"none", "edge", "cosine", "circle"};

Padding padding_named(std::string_view name) { return value_named<Padding>(paddings, name, "padding:"); }

std::string_view name_of(Padding padding) { return row_of(paddings, padding); }

namespace {

/// The response for a pitch of one.
std::vector<double> unit_ramp(Index length) {
  // h[0] = 1/4, h[n] = -1 / (pi n)^2 for odd n, 0 for even n (in units of pitch^-2); H[k] = pitch sum h[n]
  // cos(2 pi k n / P)
  std::vector<double> cosine(length);
  for (Index j = 0; j < length; ++j) cosine[j] = std::cos(2 * pi * j / length);
  std::vector<double> response(length / 2 + 1);
  parallel_for(std::ssize(response), [&](Index k) {
    double sum = 0;
    for (Index n = 1, turn = k; n <= length / 2; n += 2) {  // turn: k n modulo the length
      const double both_sides = 2 * n == length ? 1 : 2;
      sum += both_sides * cosine[turn] / (n * n);
      turn += 2 * k;
      if (turn >= length) turn -= length;
    }
    response[k] = 0.25 - sum / (pi * pi);
  });
  return response;
}

}  // namespace

std::vector<double> ramp_response(Index length, double bin_pitch) {
  static NewestResults<Index, std::vector<double>> kept(4);
  std::vector<double> response = *kept.result(length, [&] { return unit_ramp(length); });
  for (double& one : response) one /= bin_pitch;
  return response;
}

std::vector<double> filter_response(const Filter& filter, Index length, double bin_pitch,
                                    const Interpolation& interpolation) {
  const double cutoff = cutoff_of(filter);
  require<GeometryError>(cutoff > 0 && cutoff <= 1, "filter: cut-off ", cutoff,
                         " of the Nyquist frequency; a number above 0 and up to 1 is needed");
  if (filter.window == Window::none) return std::vector<double>(length / 2 + 1, 1.0);
  std::vector<double> response = ramp_response(length, bin_pitch);
  const Alike alike = alike_of(filter);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const double f = 1.0 * k / length;
    response[k] *= window_at(filter, f) * factor_at(alike, interpolation, f);
  }
  return response;
}

bool falls_off(const Filter& filter) { return alike_of(filter) == Alike::response; }

double window_at(const Filter& filter, double f) {
  const WindowShape& shape = shape_of(filter.window);
  const double g = 2 * f / cutoff_of(filter);  // 1 at the cut-off
  return g > 1 && shape.ends_there ? 0 : shape.at(g);
}

}  // namespace tandem
