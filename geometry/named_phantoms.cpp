// The phantoms that have names.

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/random.hpp"
#include "../core/units.hpp"
#include "phantom.hpp"

namespace tandem {

namespace {

constexpr double infinite_axis = std::numeric_limits<double>::infinity();
constexpr double a_degree = in_radians(1);
constexpr std::array<std::string_view, 7> names{"shepp-logan", "disc",  "ellipsoids", "foam",
                                                "plate",       "balls", "pins"};

}  // namespace

Phantom shepp_logan() {
  const auto e = [](double attenuation, double a, double b, double x, double y, double rotation_deg) {
    return Ellipsoid{attenuation, {a, b, infinite_axis}, {x, y, 0}, rotation_deg * a_degree};
  };
  return {{e(1, .69, .92, 0, 0, 0), e(-.8, .6624, .874, 0, -.0184, 0), e(-.2, .11, .31, .22, 0, -18),
           e(-.2, .16, .41, -.22, 0, 18), e(.1, .21, .25, 0, .35, 0), e(.1, .046, .046, 0, .1, 0),
           e(.1, .046, .046, 0, -.1, 0), e(.1, .046, .023, -.08, -.605, 0), e(.1, .023, .023, 0, -.606, 0),
           e(.1, .023, .046, .06, -.605, 0)}};
}

Phantom shepp_logan_in_space() {
  Phantom phantom = shepp_logan();
  for (Ellipsoid& e : phantom.ellipsoids) e.semi_axes[2] = e.semi_axes[1];
  return phantom;
}

Phantom disc() { return {{{1, {0.5, 0.5, infinite_axis}, {0.2, 0.1, 0}, 0}}}; }

Phantom ellipsoids() {
  return {{{1, {0.9, 0.9, 0.9}, {0, 0, 0}, 0},
           {-0.4, {0.3, 0.2, 0.5}, {0.35, 0.2, 0.1}, 25 * a_degree},
           {0.5, {0.15, 0.35, 0.3}, {-0.4, 0.1, -0.2}, -40 * a_degree},
           {0.8, {0.1, 0.1, 0.1}, {0.1, -0.5, 0.3}, 0},
           {-0.6, {0.25, 0.1, 0.2}, {-0.1, -0.35, -0.3}, 70 * a_degree},
           {0.3, {0.2, 0.2, 0.6}, {0, 0.45, 0}, 0},
           {-0.9, {0.05, 0.08, 0.05}, {0.6, -0.3, 0}, 10 * a_degree}}};
}

Phantom plate() {
  return {{{1, {0.8, 0.8, 0.08}, {0, 0, 0}, 0},
           {0.6, {0.25, 0.06, 0.02}, {0.3, 0.25, 0}, 30 * a_degree},
           {-0.5, {0.08, 0.08, 0.04}, {-0.35, 0.2, 0.01}, 0},
           {0.8, {0.05, 0.05, 0.03}, {0.1, -0.4, -0.02}, 0},
           {-0.7, {0.04, 0.15, 0.03}, {-0.2, -0.3, 0}, 20 * a_degree},
           {0.5, {0.1, 0.03, 0.015}, {-0.1, 0.05, 0.03}, -50 * a_degree},
           {-0.6, {0.03, 0.03, 0.03}, {0.5, -0.15, -0.01}, 0}}};
}

Phantom balls() {
  constexpr int count = 12;
  constexpr double radius = 0.04, height = 0.65;
  Phantom phantom;
  for (int k = 0; k < count; ++k) {
    const double angle = 2.4 * k, away = k % 3 == 0 ? 0.5 : 0.7 - 0.015 * k,
                 z = height * (2.0 * k / (count - 1) - 1 + 0.01 * (k * k % 5));
    phantom.ellipsoids.push_back(
        {1, {radius, radius, radius}, {away * std::cos(angle), away * std::sin(angle), z}, 0});
  }
  return phantom;
}

Phantom pins() {
  return {{{1, {0.8, 0.55, 0.9}, {0, 0, 0}, 20 * a_degree},
           {-0.9, {0.14, 0.1, 0.4}, {0.35, 0.05, 0}, 0},
           {0.7, {0.12, 0.16, 0.5}, {0, 0.22, 0.1}, 0},
           {9, {0.06, 0.06, 0.5}, {-0.45, -0.05, 0}, 0},
           {9, {0.045, 0.07, 0.6}, {0.1, -0.3, 0}, 30 * a_degree}}};
}

Phantom foam(std::uint64_t seed) {
  constexpr double radius = 0.9, wall = 0.01;
  constexpr int tries = 6000;  // about 500 spheres find room
  Phantom body{{{1, {radius, radius, infinite_axis}, {0, 0, 0}, 0}}};
  Random random(seed);
  for (int i = 0; i < tries; ++i) {
    const double share = random.uniform();
    const double r = 0.02 + 0.18 * share * share * share;  // few large, many small
    const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1, z = 2 * random.uniform() - 1;
    if (std::hypot(x, y) + r + wall > radius) continue;
    const bool free =
        std::none_of(body.ellipsoids.begin() + 1, body.ellipsoids.end(), [&](const Ellipsoid& e) {
          return std::hypot(x - e.centre[0], y - e.centre[1], z - e.centre[2]) < r + wall + e.semi_axes[0];
        });
    if (free) body.ellipsoids.push_back({-1, {r, r, r}, {x, y, z}, 0});
  }
  return body;
}

std::span<const std::string_view> phantom_names() { return names; }

Phantom named_phantom(std::string_view name, std::uint64_t seed) {
  if (name == names[0]) return shepp_logan();
  if (name == names[1]) return disc();
  if (name == names[2]) return ellipsoids();
  if (name == names[3]) return foam(seed);
  if (name == names[4]) return plate();
  if (name == names[5]) return balls();
  if (name == names[6]) return pins();
  throw GeometryError("phantom '" + std::string(name) + "' is unknown; known are " + joined(names, ", "));
}

}  // namespace tandem
