#include "dark_views.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/text.hpp"

namespace tandem::io {

namespace {

constexpr Index at_ends = 4, spread = 8;  // views that are looked at
constexpr double hardly_any = 0.01;       // share of the mean of the brightest view
constexpr double with_light = 100;        // counts

/// The mean of the middle row of a view.
double mean_of(const FrameSource& source, Index view) {
  const Shape& n = source.shape();
  std::vector<float> row(n[2]);
  source.read_as(PixelType::float32, {view, view + 1}, {n[1] / 2, n[1] / 2 + 1}, {0, n[2]},
                 reinterpret_cast<std::byte*>(row.data()));
  double sum = 0;
  for (const float value : row) sum += value;
  return sum / n[2];
}

}  // namespace

void note_dark_views(const FrameSources& views, const std::string& where, std::vector<std::string>& notes) {
  std::vector<std::pair<const FrameSource*, Index>> all;
  for (const auto& source : views) {
    if (source->type() == PixelType::float32) return;  // maybe line integrals
    for (Index k = 0; k < source->shape()[0]; ++k) all.emplace_back(source.get(), k);
  }
  std::set<Index> looked_at;
  const Index count = std::ssize(all);
  for (Index k = 0; k < std::min(at_ends, count); ++k) looked_at.insert({k, count - 1 - k});
  for (Index k = 1; k < spread; ++k) looked_at.insert(k * count / spread);
  std::vector<std::pair<double, Index>> means;
  try {
    for (const Index k : looked_at) means.emplace_back(mean_of(*all[k].first, all[k].second), k);
  } catch (const FileError&) {
    return;  // which the reading of the views tells
  }
  if (means.empty()) return;
  const auto [least, most] = std::ranges::minmax(means);
  if (most.first < with_light || least.first >= hardly_any * most.first) return;
  notes.push_back(words(where, ": image ", least.second, ", from 0, has a mean of ", least.first,
                        ", and image ", most.second, " one of ", most.first,
                        "; if there are darks or flats among the views, give "
                        "them by ",
                        spelled("darks"), " and ", spelled("flats"), " and keep them apart"));
}

}  // namespace tandem::io
