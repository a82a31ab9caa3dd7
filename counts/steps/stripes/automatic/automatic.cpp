#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "../../../../core/parallel.hpp"
#include "../columns.hpp"
#include "../stripe_method.hpp"
#include "faint.hpp"
#include "search.hpp"
#include "soft.hpp"

namespace tandem::pipeline::stripes {

namespace {

/// A strength in words, which many rows have in common.
std::string in_words(double strength) {
  constexpr std::array percents{0.03, 0.1, 0.3, 1.0, 3.0, 10.0};
  const auto above = std::ranges::upper_bound(percents, 100 * strength);
  if (above == percents.end()) return "over 10 %";
  std::ostringstream words;
  words << "under " << *above << " %";
  return words.str();
}

}  // namespace

void FoundStripes::note(Notes& notes) const {
  if (dead > 0) ++notes["dead or failing columns interpolated"];
  if (wide) ++notes["wide stripes taken out"];
  if (faint) ++notes["faint stripes taken out"];
  if (soft) ++notes["soft stripes taken out"];
  if (dead == 0 && !is_to_be_taken_out()) ++notes["no stripes found, unchanged"];
  if (!is_to_be_taken_out() || !left) return;
  double squares = 0;
  for (const double c : constants) squares += c * c;
  ++notes["stripes taken out: " + in_words(std::sqrt(squares / constants.size()))];
  ++notes["stripes left: " + in_words(*left)];
}

std::vector<double> FoundStripes::negative() const {
  std::vector<double> all;
  for (const double c : constants) all.push_back(-c);
  return all;
}

void note_too_few(Notes& notes) { ++notes["too few views or bins to know stripes, unchanged"]; }

void find_wide(FoundStripes& found, std::span<const float> jumps, const ColumnsAt& columns,
               std::optional<double> axis) {
  found.constants.assign(jumps.size() + 1, 0.0);
  for (const WideStripe& stripe : wide_stripes(jumps, columns, axis)) {
    found.wide = true;
    std::ranges::copy(stripe.constants, found.constants.begin() + stripe.bins.first);
  }
}

void find_faint(FoundStripes& found, const ColumnSpreads& fourth, Index views,
                const std::function<std::vector<float>()>& second) {
  const Strength strength = strength_of(fourth, views);
  found.faint = strength.is_significant();
  if (!found.faint) return;
  const std::vector<double> constants = constants_of(second(), strength);
  for (std::size_t b = 0; b < constants.size(); ++b) found.constants[b] += constants[b];
}

void find_soft(FoundStripes& found, const BlockMedians& medians, std::optional<double> axis) {
  const SoftStripes more = soft_stripes(medians, found.constants, axis);
  for (std::size_t b = 0; b < more.constants.size(); ++b) {
    found.soft = found.soft || more.constants[b] != 0;
    found.constants[b] += more.constants[b];
  }
  found.left = more.left;
}

std::vector<float> FoundStripes::factors() const {
  std::vector<float> factors;
  for (const double c : constants) factors.push_back(static_cast<float>(std::exp(c)));
  return factors;
}

namespace {

/// Line integrals, (bin, view).
Plane columns_of(const Plane& sinogram, bool transmissions) {
  Plane columns = transposed(sinogram);
  if (transmissions)
    parallel_for_blocks(columns.rows, 16, [&](Range some) {
      const auto first = columns.values.begin() + some.first * columns.columns;
      for (auto v = first; v != first + some.size() * columns.columns; ++v)
        *v = -std::log(std::max(*v, least_transmission));
    });
  return columns;
}

/// Takes constants out of line integrals, or factors out of transmissions.
void take_out(Plane& sinogram, const FoundStripes& found, bool transmissions) {
  if (!transmissions) return add_to_columns(sinogram, {0, sinogram.rows}, found.negative());
  const std::vector<float> factors = found.factors();
  for (Index view = 0; view < sinogram.rows; ++view)
    for (Index b = 0; b < sinogram.columns; ++b) sinogram(view, b) *= factors[b];
}

void look_and_remove(Plane& sinogram, const Preprocessing& how, Notes& notes) {
  if (sinogram.rows < fewest_views || sinogram.columns < fewest_bins) return note_too_few(notes);
  const Index views = sinogram.rows;
  FoundStripes found{.dead = remove_useless_columns(sinogram)};
  Plane columns = columns_of(sinogram, how.minus_log);
  const bool sees_soft = views >= fewest_views_of_profiles;
  const BlockMedians medians = sees_soft ? block_medians_of(columns) : BlockMedians{};
  const auto some_columns = [&](Range bins) {
    Plane some(bins.size(), views);
    std::copy_n(columns.row(bins.first), some.values.size(), some.values.begin());
    return some;
  };
  find_wide(found, spreads_of(columns, differences(1), views / 2).medians, some_columns, how.axis);
  for (Index b = 0; b < columns.rows && found.wide; ++b)
    for (float* v = columns.row(b); v != columns.row(b) + views; ++v)
      *v = static_cast<float>(*v - found.constants[b]);
  find_faint(found, spreads_of(columns, differences(4), views / 2), views,
             [&] { return spreads_of(columns, differences(2), views / 2).medians; });
  if (sees_soft) find_soft(found, medians, how.axis);
  found.note(notes);
  if (found.is_to_be_taken_out()) take_out(sinogram, found, how.minus_log);
}

}  // namespace

/// Looks for dead columns, for wide stripes, for faint and for soft ones, and takes out what is there beyond
/// doubt.
Method automatic_method() {
  return {.name = "auto",
          .help = "looks for stripes, takes out what is there beyond doubt, and says what it did",
          .heeds_axis = true,
          .planes = 4,
          .begin = [](const Preprocessing& how) -> Work {
            return [how](Plane& sinogram, Notes& notes) { look_and_remove(sinogram, how, notes); };
          },
          .on_gpu = [](const Preprocessing& how) { return look_on_gpu(how); },
          .gpu_bytes = [](const Preprocessing&, Shape shape) { return gpu_bytes_of_look(shape); }};
}

}  // namespace tandem::pipeline::stripes
