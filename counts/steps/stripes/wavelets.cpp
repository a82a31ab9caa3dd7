#include "wavelets.hpp"

#include <array>
#include <numbers>

#include "../../../core/parallel.hpp"
#include "../../../core/rounding.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr double half_root = 0.5 * std::numbers::sqrt2;

struct Halves {
  Plane low, high;
};

Halves split_rows(const Plane& plane, const WaveletFilters& filters) {
  const Index taps = filters.taps, n = plane.columns, half = kernels::half_of(n, filters.taps);
  Halves halves{Plane(plane.rows, half), Plane(plane.rows, half)};
  parallel_for_blocks(plane.rows, 16, [&](Range some) {
    std::vector<float> line(2 * half + taps);
    for (Index r = some.first; r < some.last; ++r) {
      const float* row = plane.row(r);
      for (Index k = 0; k < 2 * half + taps; ++k) line[k] = row[reflected(k + 2 - taps, n)];
      for (Index k = 0; k < half; ++k) {
        const kernels::HalfElements own =
            kernels::split_at(filters, [from = &line[2 * k]](int m) { return from[m]; });
        halves.low(r, k) = static_cast<float>(own.low);
        halves.high(r, k) = static_cast<float>(own.high);
      }
    }
  });
  return halves;
}

Plane join_rows(const Plane& low, const Plane& high, const WaveletFilters& filters) {
  Plane joined(low.rows, 2 * low.columns + 2 - filters.taps);
  parallel_for_blocks(joined.rows, 16, [&](Range some) {
    for (Index r = some.first; r < some.last; ++r)
      for (Index n = 0; n < joined.columns; ++n)
        joined(r, n) = static_cast<float>(kernels::joined_at(
            filters, n, [&](Index k) { return low(r, k); }, [&](Index k) { return high(r, k); }));
  });
  return joined;
}

}  // namespace

std::span<const Wavelet> wavelets() {
  static const std::array all{
      Wavelet{"haar", {half_root, half_root}},
      Wavelet{"db5",
              {0.16010239797419293, 0.6038292697971896, 0.7243085284377729, 0.13842814590132074,
               -0.24229488706638203, -0.032244869584638375, 0.07757149384004572, -0.006241490212798274,
               -0.012580751999081999, 0.0033357252854737712}},
      Wavelet{"sym5",
              {0.019538882735286728, -0.021101834024758855, -0.17532808990845047, 0.01660210576452232,
               0.6339789634582119, 0.7234076904024206, 0.1993975339773936, -0.039134249302383094,
               0.029519490925774643, 0.027333068345077982}},
      Wavelet{
          "sym16",
          {-1.0797982104319795e-05, -5.396483179315242e-06,  0.00016545679579108483, 3.656592483348223e-05,
           -0.0013387206066921965,  -0.00022211647621176323, 0.0069377611308027096,  0.001359844742484172,
           -0.024952758046290123,   -0.003510275068374009,   0.07803785290341991,    0.03072113906330156,
           -0.15959219218520598,    -0.054040601387606135,   0.47534280601152273,    0.7565249878756971,
           0.39712293362064416,     -0.034574228416972504,   -0.06698304907021778,   0.032333091610663785,
           0.004869274404904607,    -0.031051202843553064,   -0.0031265171722710075, 0.012666731659857348,
           0.0007182119788317892,   -0.0038809122526038786,  -0.0001084456223089688, 0.0008523547108047095,
           2.8078582128442894e-05,  -0.00010943147929529757, -3.113556407621969e-06, 6.230006701220761e-06}}};
  return all;
}

const Wavelet& wavelet_named(std::string_view name) {
  return *std::ranges::find_if(wavelets(), [&](const Wavelet& some) { return some.name == name; });
}

std::vector<std::string> wavelet_names() {
  std::vector<std::string> names;
  for (const Wavelet& some : wavelets()) names.emplace_back(some.name);
  return names;
}

WaveletFilters filters_of(const Wavelet& wavelet) {
  const std::size_t taps = wavelet.low.size();
  WaveletFilters filters{int_of(taps), {}, {}};
  for (std::size_t m = 0; m < taps; ++m) {
    filters.low[m] = wavelet.low[m];
    filters.high[m] = (m % 2 == 0 ? 1 : -1) * wavelet.low[taps - 1 - m];
  }
  return filters;
}

Bands analysed(const Plane& plane, const Wavelet& wavelet) {
  const WaveletFilters filters = filters_of(wavelet);
  const Halves along_rows = split_rows(plane, filters);
  const Halves low = split_rows(transposed(along_rows.low), filters),
               high = split_rows(transposed(along_rows.high), filters);
  return {transposed(low.low), transposed(high.low), transposed(low.high), transposed(high.high)};
}

Plane synthesised(const Bands& bands, const Wavelet& wavelet) {
  const WaveletFilters filters = filters_of(wavelet);
  const auto along_columns = [&](const Plane& low, const Plane& high) {
    return transposed(join_rows(transposed(low), transposed(high), filters));
  };
  return join_rows(along_columns(bands.low_low, bands.high_low),
                   along_columns(bands.low_high, bands.high_high), filters);
}

}  // namespace tandem::pipeline::stripes
