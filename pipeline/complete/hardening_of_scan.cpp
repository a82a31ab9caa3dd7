#include "hardening_of_scan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "../../calibration/moments.hpp"
#include "../../calibration/second_material.hpp"
#include "../../core/error.hpp"
#include "../methods/method.hpp"
#include "rows_of_scan.hpp"
#include "tell_hardening.hpp"

namespace tandem::pipeline {

using calibration::Hardening;
using calibration::HardeningBy;

namespace {

Hardening hardening_in(const TellingRows& rows, const Listener& listener) {
  if (!rows.why_not.empty()) return {.why_not = rows.why_not};
  listener.stage({"find beam hardening", 0, 1, {}, "searches"});
  return calibration::find_hardening(rows.lines, rows.scan, std::ssize(rows.rows),
                                     HardeningBy::moments_and_slices, rows.made_of);
}

/// Whether there is so much left of the misfit that a second material may explain it.
bool may_have_a_second(const Hardening& one, const Recipe& recipe) {
  constexpr double noises = 2;
  return one.noise > 0 && one.after > noises * one.noise && method_named(recipe.method).filters;
}

/// The line integrals of the dense parts, along the rays of the rows.
std::vector<float> through_dense_parts(const FirstOfScan& first, const TellingRows& rows) {
  const WideVolume parts(first.grid, *first.found.dense);
  std::vector<float> dense(rows.lines.size(), 0.0f);
  for_rows(dense, rows, first.rows, [&](VectorView to, const Scan& scan, RowsOfSlices at) {
    const auto rays = parts.along(scan, at, default_stream(Device::cpu()));
    if (!rays) return;
    const Image<const float> from = image(ConstVectorView(rays->lines));
    const Image<float> all = image(to);
    for (Index v = 0; v < all.n0; ++v)
      for (Index k = 0; k < all.n1; ++k)
        std::copy_n(&from(v, (rays->rows.first + k) / rays->rows.together, 0), all.n2, &all(v, k, 0));
  });
  return dense;
}

}  // namespace

Hardening find_hardening(io::ScanReader& reader, const Recipe& recipe, const Listener& listener) {
  return hardening_in(rows_that_tell(reader, recipe, false, listener), listener);
}

HardeningOfScan take_hardening(Recipe& recipe, io::ScanReader& reader, std::optional<FirstOfScan> first,
                               const Listener& listener) {
  const Comm& ranks = recipe.ranks;
  std::array<double, calibration::ViewMoments::terms> coefficients{};
  double straight_from = 0;
  kernels::DenserMaterial denser;
  HardeningOfScan found;
  if (ranks.is_first()) {
    const bool mended = recipe.first.changes_lines();
    TellingRows rows = rows_that_tell(reader, recipe, mended, listener);
    mend_rows(rows, recipe.first);
    found.one = hardening_in(rows, listener);
    if (may_have_a_second(*found.one, recipe) &&
        (first || hindrance_of_first_volume(recipe, reader.info()).empty())) {
      if (!first) first = look_at_first_volume(reader, recipe, false, listener);
      const Range selected = selection_of(recipe, reader.info()).rows;
      const bool are_there =
          mended || !rows_are_slices(rows.scan) || selected.size() == detector_of(reader.info().scan).rows;
      if (!are_there) rows = rows_that_tell(reader, recipe, true, listener);
      if (first->found.dense && rows.why_not.empty())
        found.second =
            calibration::find_second_material(rows.lines, through_dense_parts(*first, rows), rows.scan,
                                              std::ssize(rows.rows), *found.one, rows.made_of);
    }
    tell_of_hardening(*found.one, found.second, listener);
    if (found.second && found.second->is_told()) {
      std::ranges::copy(found.second->polynomial, coefficients.begin());
      straight_from = found.second->straight_from, denser = found.second->denser;
    } else if (found.one->is_corrected()) {
      std::ranges::copy(found.one->polynomial, coefficients.begin());
      straight_from = found.one->straight_from;
    }
  }
  coefficients = of_first(ranks, coefficients);
  straight_from = of_first(ranks, straight_from);
  denser = of_first(ranks, denser);
  std::vector<double> polynomial(coefficients.begin(), coefficients.end());
  while (!polynomial.empty() && polynomial.back() == 0) polynomial.pop_back();
  recipe.steps.erase(recipe.steps.find(option::beam_hardening.name));
  if (polynomial.empty()) return found;
  option::beam_hardening.set(recipe.steps, std::move(polynomial));
  option::straight_from.set(recipe.steps, straight_from);
  if (denser.d1 == 0 && denser.d2 == 0) return found;
  const VolumeGrid grid = of_first(ranks, first ? first->grid : VolumeGrid{});
  const Array dense = of_first_rank(ranks, first ? &*first->found.dense : nullptr, grid);
  recipe.first.rows = of_first(ranks, first ? first->rows : RowsOfSlices{});
  recipe.first.dense = std::make_shared<const DenseParts>(grid, dense, denser);
  return found;
}

}  // namespace tandem::pipeline
