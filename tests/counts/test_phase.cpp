// Phase retrieval as a step: its formula, what it undoes, its blocks of rows, and what it refuses.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../counts/steps/phase.hpp"
#include "../support/memory_reader.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::floats;
using test::ReferencesInMemory;

constexpr double pi = std::numbers::pi;

/// 20 keV, 50 mm behind the sample, pixels of 1 micrometre.
Preprocessing asked(const std::string& method, double delta_beta, bool minus_log = true) {
  Preprocessing how = preprocessing_of({{"retrieve-phase-method", method},
                                        {"retrieve-phase-method:energy", 20.0},
                                        {"retrieve-phase-method:distance", 50.0},
                                        {"retrieve-phase-method:delta-beta", delta_beta}},
                                       {0, 4096}, 0);
  how.minus_log = minus_log;
  how.optics = Optics{.bin_mm = 1e-3, .row_mm = 1e-3};
  return how;
}

/// The result for transmissions: flats of 1, no darks.
std::vector<float> retrieved(const Preprocessing& how, const std::vector<float>& views, Shape n,
                             Index first_row = 0, Index above = 0, Index below = 0) {
  ReferencesInMemory reader(floats({0, n[1], n[2]}, {}), floats({0, n[1], n[2]}, {}));
  Reference reference = read_reference(reader, {first_row, first_row + n[1]}, {0, n[2]}, how);
  reference.margin_above = above, reference.margin_below = below;
  Findings findings;
  const Space space({n[0], n[1] - above - below, n[2]}, Blocks::rows);
  const LineIntegrals lines = preprocess(floats(n, views), reference, how, space, findings);
  return {lines.y.data(), lines.y.data() + space.size()};
}

TEST(Phase, HasTheFormulasResponse) {
  const PhaseFilter filter = *phase_filter_of(asked("paganin", 500));
  const double wavelength = 1.239841984e-6 / 20, f = 0.1 / 1e-3, g = 0.03 / 1e-3;
  EXPECT_NEAR(filter.response(0.1, 0.03), 1 / (1 + pi * wavelength * 50 * 500 * (f * f + g * g)), 1e-12);
  EXPECT_EQ(filter.response(0, 0), 1);
  const PhaseFilter general = *phase_filter_of(asked("gpaganin", 500));
  const double a = wavelength * 50 * 500 / (4 * pi), w = 1e-3;
  EXPECT_NEAR(general.response(0.3, 0.2),
              1 / (1 - 2 * a / (w * w) * (std::cos(2 * pi * 0.3) + std::cos(2 * pi * 0.2) - 2)), 1e-12);
  EXPECT_NEAR(general.response(1e-4, 2e-4) / filter.response(1e-4, 2e-4), 1, 1e-7);
  EXPECT_GT(general.response(0.5, 0.5), filter.response(0.5, 0.5));
}

/// In a cone beam the effective distance is that of a parallel beam, and pixels are those at the sample.
TEST(Phase, OfAConeBeamHasItsEffectiveDistance) {
  Preprocessing how = asked("paganin", 500);
  const double parallel = phase_filter_of(how)->strength_mm2;
  how.optics->to_sample_mm = 50;
  EXPECT_NEAR(phase_filter_of(how)->strength_mm2, parallel / 2, 1e-15);
  how.values.erase("retrieve-phase-method:distance");
  how.optics->to_detector_mm = 150;
  EXPECT_NEAR(phase_filter_of(how)->strength_mm2, parallel * 0.75, 1e-15);
}

/// A lens of a gaussian thickness t: intensities are I = exp(-mu t) - s/(4 pi^2) Laplacian(exp(-mu t)), in
/// closed form, and the step gives mu t back.
TEST(Phase, UndoesWhatItDescribes) {
  const Index rows = 90, bins = 101;
  const Preprocessing how = asked("paganin", 300);
  const double strength = phase_filter_of(how)->strength_mm2 / (4 * pi * pi) / 1e-6;  // pixels^2
  EXPECT_GT(std::sqrt(strength), 5);
  const double sigma = 7, peak = 0.8;  // p is 2e-9 at the nearest edge
  std::vector<float> intensities, due;
  for (Index r = 0; r < rows; ++r)
    for (Index b = 0; b < bins; ++b) {
      const double x = static_cast<double>(b) - 48, y = static_cast<double>(r) - 44, q = x * x + y * y,
                   p = peak * std::exp(-q / (2 * sigma * sigma)), s2 = sigma * sigma;
      // the Laplacian of exp(-p) is exp(-p) (|grad p|^2 - Laplacian p)
      const double laplacian = std::exp(-p) * (p * p * q / (s2 * s2) - p * (q / (s2 * s2) - 2 / s2));
      intensities.push_back(static_cast<float>(std::exp(-p) - strength * laplacian));
      due.push_back(static_cast<float>(p));
    }
  const std::vector<float> found = retrieved(how, intensities, {1, rows, bins});
  for (std::size_t i = 0; i < due.size(); ++i) ASSERT_NEAR(found[i], due[i], 1e-5) << i;
}

TEST(Phase, KeepsWhatIsFlat) {
  for (const char* method : {"paganin", "gpaganin"})
    for (const float y : retrieved(asked(method, 1000), std::vector<float>(2 * 3 * 17, 0.25f), {2, 3, 17}))
      EXPECT_NEAR(y, std::log(4.0), 2e-6);
}

/// A dense convolution in double, rows and bins going on at the edges as in the step. One row and one bin
/// too.
TEST(Phase, IsTheDenseFilter) {
  const PhaseFilter filter = *phase_filter_of(asked("gpaganin", 8));
  const Index reach = filter.reach(1e-3), n = 2 * (reach + 30);
  std::vector<double> kernel(static_cast<std::size_t>(n * n), 0);  // its response is even in both
  std::vector<std::vector<double>> of_rows(static_cast<std::size_t>(n),
                                           std::vector<double>(static_cast<std::size_t>(n)));
  for (Index k = 0; k < n; ++k)
    for (Index b = 0; b < n; ++b)
      for (Index l = 0; l < n; ++l)
        of_rows[static_cast<std::size_t>(k)][static_cast<std::size_t>(b)] +=
            filter.response(static_cast<double>(std::min(k, n - k)) / static_cast<double>(n),
                            static_cast<double>(std::min(l, n - l)) / static_cast<double>(n)) *
            std::cos(2 * pi * static_cast<double>(l * b % n) / static_cast<double>(n));
  for (Index r = 0; r < n; ++r)
    for (Index b = 0; b < n; ++b)
      for (Index k = 0; k < n; ++k)
        kernel[static_cast<std::size_t>(r * n + b)] +=
            of_rows[static_cast<std::size_t>(k)][static_cast<std::size_t>(b)] *
            std::cos(2 * pi * static_cast<double>(k * r % n) / static_cast<double>(n)) /
            static_cast<double>(n * n);
  Random random(9);
  for (const auto& [rows, bins] : {std::pair<Index, Index>{11, 13}, {1, 9}, {6, 1}}) {
    std::vector<float> image;
    for (Index i = 0; i < rows * bins; ++i) image.push_back(static_cast<float>(0.5 + random.uniform()));
    const std::vector<float> found = retrieved(asked("gpaganin", 8, false), image, {1, rows, bins});
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b) {
        double due = 0;
        for (Index i = -reach; i <= reach; ++i)
          for (Index j = -reach; j <= reach; ++j)
            due +=
                kernel[static_cast<std::size_t>((i + n) % n * n + (j + n) % n)] *
                static_cast<double>(image[static_cast<std::size_t>(
                    std::clamp<Index>(r + i, 0, rows - 1) * bins + std::clamp<Index>(b + j, 0, bins - 1))]);
        EXPECT_NEAR(found[static_cast<std::size_t>(r * bins + b)], due, 3e-6) << rows << ' ' << r << ' ' << b;
      }
  }
}

/// A chunk with the margin that the step asks for has the bits of the whole.
TEST(Phase, OfAChunkHasTheBitsOfTheWhole) {
  const Preprocessing how = asked("paganin", 20);
  const RowMargin margin = margin_of(how);
  const Index rows = 3 * (margin.beside + margin.block), bins = 21;
  ASSERT_GT(margin.beside, 10);
  Random random(1);
  std::vector<float> views;
  for (Index i = 0; i < 2 * rows * bins; ++i) views.push_back(static_cast<float>(0.5 + random.uniform()));
  const std::vector<float> whole = retrieved(how, views, {2, rows, bins}, 5);
  for (const Range kept : {Range{margin.beside + margin.block, margin.beside + margin.block + 7},
                           Range{3, 40}, Range{rows - 2, rows}}) {
    const Range needed = margin.around({5 + kept.first, 5 + kept.last}),
                read{std::max<Index>(0, needed.first - 5), std::min(rows, needed.last - 5)};
    std::vector<float> part;
    for (Index v = 0; v < 2; ++v)
      part.insert(part.end(), views.begin() + (v * rows + read.first) * bins,
                  views.begin() + (v * rows + read.last) * bins);
    const std::vector<float> found = retrieved(how, part, {2, read.size(), bins}, 5 + read.first,
                                               kept.first - read.first, read.last - kept.last);
    for (Index v = 0; v < 2; ++v)
      for (Index i = 0; i < kept.size() * bins; ++i)
        ASSERT_EQ(found[static_cast<std::size_t>(v * kept.size() * bins + i)],
                  whole[static_cast<std::size_t>((v * rows + kept.first) * bins + i)])
            << kept.first << ' ' << v << ' ' << i;
  }
}

/// White noise comes down to 1 / (4 pi L^2) of its power, L = 11.1 pixels: by 31.9 dB. At the edges, which go
/// on as they are, it is more.
TEST(Phase, TakesNoiseAway) {
  constexpr Index rows = 280, bins = 340;
  Random random(8);
  std::vector<float> views;
  for (Index i = 0; i < rows * bins; ++i) views.push_back(static_cast<float>(0.95 + 0.1 * random.uniform()));
  const std::vector<float> found = retrieved(asked("paganin", 500, false), views, {1, rows, bins});
  const auto rms = [](const std::vector<float>& all) {
    constexpr Index edge = 40;
    double sum = 0;
    for (Index r = edge; r < rows - edge; ++r)
      for (Index b = edge; b < bins - edge; ++b)
        sum += std::pow(double{all[static_cast<std::size_t>(r * bins + b)]} - 1, 2);
    return std::sqrt(sum / static_cast<double>((rows - 2 * edge) * (bins - 2 * edge)));
  };
  EXPECT_GE(20 * std::log10(rms(views) / rms(found)), 30);
}

TEST(Phase, RefusesOptionsThatDoNotGoTogether) {
  const auto fault = [](const StepValues& values) -> std::string {
    try {
      preprocessing_of(values, {0, 16}, 0);
    } catch (const GeometryError& error) {
      return error.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string method = "retrieve-phase-method";
  EXPECT_TRUE(has(fault({{method, "paganin"}, {"retrieve-phase-method:energy", 20.0}}), "needs delta-beta"));
  EXPECT_TRUE(has(fault({{method, "paganin"}, {"retrieve-phase-method:delta-beta", 20.0}}), "needs energy"));
  EXPECT_TRUE(has(fault({{method, "gpaganin"},
                         {"retrieve-phase-method:energy", 20000.0},
                         {"retrieve-phase-method:delta-beta", 20.0}}),
                  "20000 eV are 20 keV"));
  EXPECT_TRUE(has(fault({{"retrieve-phase-method:energy", 20.0}}), "goes with paganin"));
  EXPECT_EQ(fault({{method, "none"}}), "");
  StepValues lines{{method, "paganin"},
                   {"retrieve-phase-method:energy", 20.0},
                   {"retrieve-phase-method:delta-beta", 20.0}};
  lines.insert_or_assign("minus-log", false);
  EXPECT_NO_THROW(preprocessing_of(lines, {0, 16}, 0));  // a search for the axis leaves the step out
}

}  // namespace
}  // namespace tandem::pipeline
