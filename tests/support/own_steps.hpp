#pragma once

#include <algorithm>
#include <vector>

#include "../../counts/steps/chain.hpp"

namespace tandem::test {

/// The steps of the table, and `own` before the one that takes the logarithm.
inline std::vector<pipeline::Step> steps_with(const pipeline::Step& own) {
  std::vector<pipeline::Step> all(pipeline::steps().begin(), pipeline::steps().end());
  const auto at =
      std::ranges::find_if(all, [](const pipeline::Step& step) { return step.name == "minus-log"; });
  all.insert(at, own);
  return all;
}

/// All transmissions of a sinogram become twice as large.
inline std::span<const pipeline::Step> with_doubled_rows() {
  using namespace pipeline;
  static const std::vector<Step> all =
      steps_with({.name = "doubled", .on_sinogram = [](const Preprocessing&) -> SinogramWork {
                    return [](Sinogram& all_views) {
                      for (Index view = 0; view < all_views.y.n0; ++view)
                        for (Index b = 0; b < all_views.y.n2; ++b) all_views.y(view, all_views.row, b) *= 2;
                      ++all_views.notes["doubled"];
                      return Index{0};
                    };
                  }});
  return all;
}

/// Each row of a view becomes the mean of the rows up to two away that are there. It says that it replaced a
/// value in each row that it keeps.
inline std::span<const pipeline::Step> with_means_of_rows() {
  using namespace pipeline;
  static const std::vector<Step> all =
      steps_with({.name = "means",
                  .on_projection = [](const Preprocessing&) -> ProjectionWork {
                    return [](Projection& of) {
                      const Image<float>& y = of.y;
                      for (Index b = 0; b < y.n2; ++b) {
                        std::vector<float> column;
                        for (Index r = 0; r < y.n1; ++r) column.push_back(y(0, r, b));
                        for (Index r = 0; r < y.n1; ++r) {
                          const Index first = std::max<Index>(0, r - 2), last = std::min(y.n1, r + 3);
                          float sum = 0;
                          for (Index k = first; k < last; ++k) sum += column[static_cast<std::size_t>(k)];
                          y(0, r, b) = sum / static_cast<float>(last - first);
                        }
                      }
                      return of.kept.size();
                    };
                  },
                  .margin = [](const Preprocessing&) -> RowMargin { return {2}; }});
  return all;
}

/// Each row becomes the mean of its block of three, counted from the first row of the file, and of a row on
/// either side.
inline std::span<const pipeline::Step> with_means_of_blocks() {
  using namespace pipeline;
  static constexpr RowMargin margin{1, 3};
  static const std::vector<Step> all = steps_with(
      {.name = "blocks",
       .on_projection = [](const Preprocessing&) -> ProjectionWork {
         return [](Projection& of) {
           const Image<float>& y = of.y;
           const Index top = of.reference.first_row / of.reference.rows_together;
           const std::vector<float> came(y.data, y.data + y.n1 * y.s1);
           for (Index r = of.kept.first; r < of.kept.last; ++r) {
             const Range needed = margin.around({top + r, top + r + 1}),
                         rows{std::max<Index>(0, needed.first - top), std::min(y.n1, needed.last - top)};
             for (Index b = 0; b < y.n2; ++b) {
               float sum = 0;
               for (Index k = rows.first; k < rows.last; ++k)
                 sum += came[static_cast<std::size_t>(k * y.s1 + b)];
               y(0, r, b) = sum / static_cast<float>(rows.size());
             }
           }
           return of.kept.size();
         };
       },
       .margin = [](const Preprocessing&) { return margin; }});
  return all;
}

/// Each pixel of the counts of the file becomes the larger one of itself and the one of the view before.
inline std::span<const pipeline::Step> with_larger_counts() {
  using namespace pipeline;
  static const std::vector<Step> all = [] {
    std::vector<Step> some(steps().begin(), steps().end());
    some.insert(some.begin(), {.name = "larger",
                               .before_binning = true,
                               .on_projection = [](const Preprocessing&) -> ProjectionWork {
                                 return [](Projection& of) {
                                   if (of.view == 0) return Index{0};
                                   const auto* before = reinterpret_cast<const float*>(of.counts.data) +
                                                        (of.view - 1) * of.counts.frame_step;
                                   Index larger = 0;
                                   for (Index r = 0; r < of.y.n1; ++r)
                                     for (Index b = 0; b < of.y.n2; ++b) {
                                       const float other = before[r * of.counts.row_step + b];
                                       if (other > of.y(0, r, b)) of.y(0, r, b) = other, ++larger;
                                     }
                                   return larger;
                                 };
                               }});
    return some;
  }();
  return all;
}

}  // namespace tandem::test
