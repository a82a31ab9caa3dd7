#include "tube_tables.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tandem::pipeline {

namespace {

constexpr std::size_t energies_tabled = 12, shares_tabled = 13, voltages_tabled = 12;

/// Energies of the table of materials, keV. None of them has an edge above 10 keV.
constexpr std::array<double, energies_tabled> tabled_kev{10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300};

struct Material {
  std::string_view name;
  std::array<double, energies_tabled> attenuation;  ///< cm^2/g
};

/// Water: NIST, Tables of X-Ray Mass Attenuation Coefficients. Others: sums over elements of the tables of
/// Elam, Ravel and Sieber (2002) in xraydb 4.5.8, which agree with NIST's within 0.1 %. Bone is that of ICRU
/// 44 (cortical).
constexpr std::array<Material, 11> materials{
    {{"water", {5.329, 1.673, .8096, .3756, .2683, .2269, .2059, .1837, .1707, .1505, .1370, .1186}},
     {"pmma", {3.357, 1.101, .5714, .3032, .2350, .2074, .1924, .1751, .1641, .1456, .1328, .1152}},
     {"polyethylene", {2.087, .7455, .4316, .2707, .2275, .2084, .1970, .1823, .1719, .1534, .1402, .1217}},
     {"carbon", {2.373, .8074, .4420, .2562, .2076, .1871, .1753, .1610, .1514, .1347, .1229, .1066}},
     {"bone", {28.51, 9.032, 4.001, 1.331, .6655, .4242, .3148, .2229, .1855, .1480, .1309, .1113}},
     {"silica", {19.01, 5.809, 2.547, .8727, .4653, .3185, .2515, .1935, .1684, .1402, .1255, .1075}},
     {"calcite", {40.54, 12.91, 5.697, 1.846, .8818, .5330, .3759, .2462, .1955, .1484, .1292, .1088}},
     {"aluminium", {26.21, 7.955, 3.442, 1.128, .5684, .3682, .2778, .2018, .1704, .1378, .1223, .1042}},
     {"titanium", {110.7, 35.87, 15.85, 4.972, 2.213, 1.213, .7660, .4053, .2721, .1649, .1314, .1043}},
     {"iron", {170.7, 57.09, 25.68, 8.177, 3.629, 1.957, 1.205, .5952, .3717, .1964, .1461, .1099}},
     {"copper", {216.0, 74.05, 33.80, 10.91, 4.861, 2.613, 1.593, .7630, .4585, .2217, .1559, .1119}}}};

// Tubes: spectra of spekpy 2.5.4 (model "casim", tungsten, 12 degrees, no filter), of 0.25 keV, were cut into
// lines of K and the rest. The rest, photons per keV, is
//   kV exp(h(E / kV)) (1 - E / kV) / E  exp(-low (E / 12 keV)^-p)  exp(-edge (E / K)^-p above K)
// with p = 2.75, as tungsten absorbs. `edge` is the step at the edge K; `low` makes h smooth in log E below
// 45 keV, and h is a table. So all of them vary slowly with the voltage, and with E / kV. Below 12 keV there
// are L lines and L edges: these energies are left out, and 1 mm of aluminium absorbs them.
constexpr double k_edge = 69.525, first_kev = 12, tungsten_power = 2.75;

/// Voltages, kV, and E / kV of the table of tubes.
constexpr std::array<double, voltages_tabled> tabled_kv{30, 40, 50, 60, 70, 80, 100, 130, 160, 200, 250, 300};
constexpr std::array<double, shares_tabled> tabled_share{.04, .06, .1, .15, .2, .3,  .4,
                                                         .5,  .6,  .7, .8,  .9, .985};

/// By voltage: photons in lines of K, and the two absorptions.
constexpr std::array<double, voltages_tabled> photons_of_k{0,     0,    0,     0,      .01,   2.94,
                                                           16.96, 48.8, 86.05, 140.17, 213.1, 286.7};
constexpr std::array<double, voltages_tabled> low_of_tubes{2.514, 1.762, 1.138, .834,  .680,   .543,
                                                           .267,  -.146, -.510, -.878, -1.169, -1.349};
constexpr std::array<double, voltages_tabled> edge_of_tubes{0,    0,    0,    0,    0,    .058,
                                                            .110, .186, .264, .367, .493, .612};

/// h, by voltage and E / kV.
constexpr std::array<std::array<double, shares_tabled>, voltages_tabled> h_of_tubes{{
    {13.486, 11.804, 9.686, 8.004, 6.811, 5.130, 3.937, 3.095, 2.726, 2.577, 2.548, 2.627, 2.925},
    {7.444, 6.529, 5.376, 4.461, 3.812, 2.897, 2.363, 2.202, 2.166, 2.189, 2.253, 2.380, 2.660},
    {2.924, 2.713, 2.448, 2.238, 2.089, 1.890, 1.893, 1.936, 1.987, 2.049, 2.133, 2.265, 2.538},
    {.760, .928, 1.140, 1.308, 1.428, 1.623, 1.769, 1.856, 1.920, 1.986, 2.072, 2.198, 2.448},
    {-.324, .055, .533, .913, 1.177, 1.554, 1.730, 1.819, 1.880, 1.944, 2.024, 2.141, 2.368},
    {-1.104, -.555, .138, .687, 1.078, 1.532, 1.711, 1.793, 1.849, 1.908, 1.984, 2.098, 2.325},
    {-2.184, -1.359, -.321, .509, 1.053, 1.531, 1.687, 1.754, 1.800, 1.850, 1.922, 2.019, 2.202},
    {-3.088, -1.968, -.585, .561, 1.126, 1.544, 1.662, 1.709, 1.737, 1.774, 1.827, 1.898, 2.021},
    {-3.478, -2.166, -.472, .696, 1.211, 1.555, 1.641, 1.660, 1.677, 1.702, 1.742, 1.794, 1.865},
    {-3.539, -2.098, -.210, .867, 1.299, 1.559, 1.590, 1.595, 1.601, 1.613, 1.635, 1.661, 1.669},
    {-3.309, -1.835, .094, 1.029, 1.371, 1.528, 1.528, 1.524, 1.515, 1.511, 1.515, 1.512, 1.455},
    {-2.999, -1.416, .334, 1.142, 1.413, 1.473, 1.476, 1.460, 1.437, 1.419, 1.408, 1.382, 1.270},
}};

/// Lines of K, keV, and their shares, which change by 3 % between 80 and 300 kV.
constexpr std::array<std::array<double, 2>, 4> lines_of_k{
    {{58.0, .280}, {59.3, .497}, {67.1, .177}, {69.2, .046}}};

/// The cubic over log x through four of the nodes; `value(i)`: what node i has.
template <class Value>
double cubic_through(std::span<const double> nodes, double x, const Value& value) {
  std::size_t first = 0;
  while (first + 4 < nodes.size() && nodes[first + 2] < x) ++first;
  double sum = 0;
  for (std::size_t i = first; i < first + 4; ++i) {
    double weight = 1;
    for (std::size_t j = first; j < first + 4; ++j)
      if (j != i) weight *= std::log(x / nodes[j]) / std::log(nodes[i] / nodes[j]);
    sum += weight * value(i);
  }
  return sum;
}

}  // namespace

std::vector<std::string> tabled_materials() {
  std::vector<std::string> names;
  for (const Material& one : materials) names.emplace_back(one.name);
  return names;
}

double mass_attenuation(std::string_view material, double kev) {
  const auto row = std::ranges::find(materials, material, &Material::name);
  return std::exp(
      cubic_through(tabled_kev, kev, [&](std::size_t i) { return std::log(row->attenuation[i]); }));
}

std::vector<std::array<double, 2>> spectrum_of_tube(double kv) {
  constexpr double step = 0.5;  // keV
  const auto at_kv = [&](const auto& number) { return cubic_through(tabled_kv, kv, number); };
  std::array<double, shares_tabled> h;
  for (std::size_t k = 0; k < shares_tabled; ++k)
    h[k] = at_kv([&](std::size_t i) { return h_of_tubes[i][k]; });
  const double at_low = at_kv([](std::size_t i) { return low_of_tubes[i]; });
  const double at_edge = at_kv([](std::size_t i) { return edge_of_tubes[i]; });
  const double photons = at_kv([](std::size_t i) { return photons_of_k[i]; });
  std::vector<std::array<double, 2>> spectrum;
  for (double kev = first_kev + step / 2; kev < kv; kev += step) {
    double absorbed = at_low * std::pow(kev / first_kev, -tungsten_power);
    if (kev > k_edge) absorbed += at_edge * std::pow(kev / k_edge, -tungsten_power);
    const double of_h = cubic_through(tabled_share, kev / kv, [&](std::size_t k) { return h[k]; });
    spectrum.push_back({kev, step * (kv - kev) * std::exp(of_h - absorbed)});
  }
  if (kv > k_edge && photons > 0)
    for (const auto& [kev, share] : lines_of_k) spectrum.push_back({kev, photons * share * kev});
  return spectrum;
}

}  // namespace tandem::pipeline
