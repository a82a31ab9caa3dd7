#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../../kernels/outliers.hpp"
#include "../pixels.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

using kernels::bin_within;
using kernels::Border;
using kernels::OutlierRule;

/// The bins of a row that may be outliers. A value is above the median of n others by the threshold if it is
/// above so many of them by the threshold that the median must be one of them. This takes no median.
class Suspects {
 public:
  explicit Suspects(std::size_t bins) : above_(bins, 0), below_(bins, 0) {}

  /// Counts, in the window of each bin, the values of a line at one offset. Bins whose window leaves the row
  /// there stay suspects.
  void count(std::span<const float> row, const float* line, Index offset, float threshold) {
    const Index bins = row.size();
    const Index first = std::max<Index>(0, -offset), last = bins - std::max<Index>(0, offset);
    const float *y = row.data(), *other = line + offset;
    for (Index b = first; b < last; ++b) {
      above_[b] += y[b] - other[b] >= threshold;
      below_[b] += other[b] - y[b] >= threshold;
    }
  }
  int above(std::size_t bin) const { return above_[bin]; }
  int below(std::size_t bin) const { return below_[bin]; }

 private:
  std::vector<int> above_, below_;
};

/// The finite values of a window.
void gather(std::span<const float* const> lines, Index bins, Index bin, const OutlierRule& rule,
            std::vector<float>& finite) {
  finite.clear();
  for (const float* line : lines)
    for (Index b = bin - rule.size / 2; b < bin - rule.size / 2 + rule.size; ++b)
      if (const float value = line[bin_within(b, bins, bin, rule.border)]; std::isfinite(value))
        finite.push_back(value);
}

/// @pre there is one
float median(std::vector<float>& finite, std::size_t window) {
  const auto middle = finite.begin() + (finite.size() - window % 2) / 2;
  std::ranges::nth_element(finite, middle);
  return *middle;
}

bool all_finite(const float* line, std::size_t bins) {
  bool finite = true;
  for (std::size_t b = 0; b < bins; ++b) finite &= std::isfinite(line[b]);
  return finite;
}

/// Replaces values of `row` that are far from the median of their window by that median. `lines`: original
/// rows of the same length, including this row. The window of a bin has `size` bins of each line. If `size`
/// is even, it has one bin more before the bin than behind it. If two values are in the middle, the median is
/// the larger one of an even window, and the lower one of an odd window. Values that are not finite stay and
/// do not count. @returns how many values it replaced. Cost: one comparison for each value of the window, and
/// a selection for each value that is replaced.
Index replace_outliers(std::span<float> row, std::span<const float* const> lines, const OutlierRule& rule) {
  const Index bins = row.size();
  const Index window = lines.size() * rule.size;
  const bool finite = std::ranges::all_of(lines, [&](const float* l) { return all_finite(l, row.size()); });
  const Index before = rule.size / 2, behind = rule.size - 1 - before;
  Suspects suspects(row.size());
  for (const float* line : lines)
    for (Index offset = -before; finite && offset <= behind; ++offset)
      suspects.count(row, line, offset, rule.threshold);
  const Index rank = (window - window % 2) / 2;  // rank of the median
  const auto may_be_one = [&](Index b) {
    if (!finite || b < before || b + behind >= bins) return true;
    const std::size_t at = b;
    return suspects.above(at) > rank || (rule.dark && suspects.below(at) >= window - rank);
  };
  std::vector<float> values;
  std::vector<std::pair<Index, float>> found;
  for (Index b = 0; b < bins; ++b) {
    const float y = row[b];
    if (!may_be_one(b) || !std::isfinite(y)) continue;
    gather(lines, bins, b, rule, values);
    const float m = median(values, window);
    if (y - m >= rule.threshold || (rule.dark && m - y >= rule.threshold)) found.emplace_back(b, m);
  }
  for (const auto& [b, m] : found) row[b] = m;
  return found.size();
}

const Option<PositiveNumber> dezinger_threshold{
    "dezinger:threshold", "counts that a zinger is above the median, or more (default 5000)",
    PositiveNumber{4e9, "counts"}};
const Option<OneOf> dezinger_window{
    "dezinger:window",
    "the window has so many bins of the row, so many bins and rows of the projection, or a "
    "cube of neighbouring views too (default row)",
    OneOf{{"row", "projection", "cube"}}};
const Option<OneOf> dezinger_sign{"dezinger:sign",
                                  "outliers above the median alone, or on both sides (default bright)",
                                  OneOf{{"bright", "both"}}};
const Option<WholeNumber> dezinger_size{
    "dezinger",
    "replace zingers and hot pixels: size of the median's window (default: no pixel is replaced)",
    WholeNumber{2, 1000},
    {dezinger_threshold, dezinger_window, dezinger_sign}};

/// What `--dezinger` and its kin ask for: outliers, and along which axes their window lies.
struct Dezinger {
  enum class Window { row, projection, cube };  ///< bins; bins and rows; bins, rows and frames
  Window window;
  OutlierRule rule;

  Index rows() const { return window == Window::row ? 1 : rule.size; }
  Index frames() const { return window == Window::cube ? rule.size : 1; }
};

using Window = Dezinger::Window;

constexpr std::array<std::string_view, 3> windows{"row", "projection", "cube"};

/// How a window goes on at the borders: as tomopy's filters of one, two and three dimensions do.
Border border_of(Window window) {
  return window == Window::row          ? Border::mirror
         : window == Window::projection ? Border::reflect
                                        : Border::own;
}

std::string dezinger_conflict(const StepValues& values) {
  const bool cube = dezinger_window.of(values) == "cube";
  const Index size = dezinger_size.of(values).value_or(3);
  if (cube && size % 2 == 0)
    return spelled("dezinger") + " " + std::to_string(size) + ":window=cube: an odd size is needed";
  return {};
}

/// Empty unless outliers are asked for in this window. @throws GeometryError for one that is wider than a row
std::optional<Dezinger> dezinger_of(const Preprocessing& how, Window window) {
  const StepValues& values = how.values;
  const auto size = dezinger_size.of(values);
  const std::string asked = dezinger_window.of(values).value_or("row");
  if (!size || asked != tandem::row_of(windows, window)) return {};
  const Index bins = how.bins << how.binning;
  require<GeometryError>(bins == 0 || *size <= bins, spelled("dezinger") + " ", *size,
                         ": the window is wider than a row of ", bins, " bins; give at most ", bins);
  return Dezinger{window,
                  {.size = *size,
                   .threshold = static_cast<float>(dezinger_threshold.of(values).value_or(5000)),
                   .dark = dezinger_sign.of(values) == "both",
                   .border = border_of(window)}};
}

/// Replaces outliers in one frame (row, bin) of the image `y`. `planes`: the frames of the window as they
/// came, in C order, one of them this frame. Adds to `replaced` how many it replaced in each row.
void replace(const Dezinger& how, const Image<float>& y, Index frame, std::span<const float* const> planes,
             std::span<Index> replaced) {
  const Index rows = y.n1, bins = y.n2, size = how.rows();
  std::vector<const float*> lines;
  for (Index r = 0; r < rows; ++r) {
    lines.clear();
    for (const float* plane : planes)
      for (Index k = r - size / 2; k < r - size / 2 + size; ++k)
        lines.push_back(plane + bin_within(k, rows, r, how.rule.border) * bins);
    replaced[r] += replace_outliers(std::span(&y(frame, r, 0), bins), lines, how.rule);
  }
}

/// The same in all views on a GPU. Empty if the window is too large.
GpuWork on_gpu(const Preprocessing& how, Window window) {
  constexpr Index widest = 1000;  // pixels
  const auto asked = dezinger_of(how, window);
  if (!asked || asked->frames() * asked->rows() * asked->rule.size > widest) return {};
  return [asked = *asked](GpuData& data) -> std::optional<Index> {
    const auto [views, rows, bins] = data.how.counts;
    const Index together = data.how.rows_together;
    const Index bytes = views * rows * bins * bytes_of(data.how.type);
    const Device gpu = data.stream.device();
    Array changed(Space({1, 1, ceil_div<Index>(bytes, sizeof(float))}, Blocks::whole, gpu), data.stream);
    auto* to = reinterpret_cast<std::byte*>(changed.data());
    const kernels::FrameOutliers task{data.how.type,
                                      data.how.counts,
                                      asked.rule,
                                      asked.frames(),
                                      asked.rows(),
                                      {data.heeded().first * together, data.heeded().last * together},
                                      data.y.n2 * data.how.bins_together};
    const Index replaced = kernels::outliers(gpu)->replace(task, data.counts, to, data.stream);
    data.changed_counts = std::move(changed), data.counts = to;
    return replaced;
  };
}

/// The same in all frames of an image, for flats and darks.
ReferenceWork on_references(const Preprocessing& how, Window window) {
  const auto asked = dezinger_of(how, window);
  if (!asked) return {};
  return [asked = *asked](const Image<float>& frames, std::span<Index> replaced) {
    const Index frame = frames.n1 * frames.n2, size = asked.frames();
    const std::vector<float> as_they_came(frames.data, frames.data + frames.n0 * frame);
    std::vector<std::vector<Index>> of_frame(frames.n0);
    parallel_for(frames.n0, [&](Index f) {
      std::vector<const float*> planes;
      for (Index k = f - size / 2; k <= f + size / 2; ++k)
        planes.push_back(as_they_came.data() + bin_within(k, frames.n0, f, asked.rule.border) * frame);
      auto& found = of_frame[f];
      found.assign(replaced.size(), 0);
      replace(asked, frames, f, planes, found);
    });
    for (const auto& found : of_frame)
      for (std::size_t r = 0; r < replaced.size(); ++r) replaced[r] += found[r];
  };
}

RowWork on_row(const Preprocessing& how) {
  const auto asked = dezinger_of(how, Window::row);
  if (!asked) return {};
  return [rule = asked->rule](ViewRow& row) {
    const std::vector<float> as_it_came(row.y.begin(), row.y.end());
    const float* const line = as_it_came.data();
    return replace_outliers(row.y, {&line, 1}, rule);
  };
}

ProjectionWork on_projection(const Preprocessing& how) {
  const auto asked = dezinger_of(how, Window::projection);
  if (!asked) return {};
  return [asked = *asked](Projection& view) {
    const Image<float>& y = view.y;
    const std::vector<float> as_it_came(y.data, y.data + y.n1 * y.n2);
    const float* const plane = as_it_came.data();
    std::vector<Index> replaced(y.n1, 0);
    replace(asked, y, 0, {&plane, 1}, replaced);
    return std::accumulate(replaced.begin() + view.kept.first, replaced.begin() + view.kept.last, Index{0});
  };
}

/// The counts of one view, row by row.
std::vector<float> numbers_of(const io::FramesView& counts, Index view) {
  const auto [views, rows, bins] = counts.shape;
  std::vector<float> numbers(rows * bins);
  with_pixels(counts, [&, rows = rows, bins = bins](const auto* pixels) {
    for (Index r = 0; r < rows; ++r)
      std::copy_n(pixels + view * counts.frame_step + r * counts.row_step, bins, numbers.data() + r * bins);
  });
  return numbers;
}

ProjectionWork on_cube(const Preprocessing& how) {
  const auto asked = dezinger_of(how, Window::cube);
  if (!asked) return {};
  return [asked = *asked](Projection& view) {
    const Index views = view.counts.shape[0], half = asked.frames() / 2;
    std::vector<std::vector<float>> frames;
    std::vector<const float*> planes;
    for (Index v = view.view - half; v <= view.view + half; ++v) {
      frames.push_back(numbers_of(view.counts, bin_within(v, views, view.view, asked.rule.border)));
      planes.push_back(frames.back().data());
    }
    std::vector<Index> replaced(view.y.n1, 0);
    replace(asked, view.y, 0, planes, replaced);
    return std::accumulate(replaced.begin() + view.kept.first, replaced.begin() + view.kept.last, Index{0});
  };
}

double bytes_a_thread(const Preprocessing& how, Shape frame) {
  const auto asked = dezinger_of(how, Window::cube);
  return asked ? 4.0 * (asked->frames() * frame[1] * frame[2] << (2 * how.binning)) : 0;
}

/// What the steps of all windows have in common.
template <Window window>
Step with_window(Step step) {
  step.before_binning = step.of_cells = true;
  step.on_gpu = [](const Preprocessing& how) { return on_gpu(how, window); };
  step.on_references = [](const Preprocessing& how) { return on_references(how, window); };
  return step;
}

/// Rows that a row needs above and below, after binning.
template <Window window>
RowMargin margin(const Preprocessing& how) {
  const auto asked = dezinger_of(how, window);
  return {asked ? rows_with(how, asked->rows() / 2) : 0};
}

}  // namespace

Step dezinger_step() {
  return with_window<Window::row>(
      {.name = "dezinger",
       .help = "counts far above the median of the bins around them become that median",
       .options = {dezinger_size},
       .on_row = on_row,
       .conflict = dezinger_conflict});
}

Step dezinger_projection_step() {
  return with_window<Window::projection>(
      {.name = "dezinger-projection",
       .help = "the same with a window of bins and rows ({dezinger} N:window=projection)",
       .on_projection = on_projection,
       .margin = margin<Window::projection>});
}

Step dezinger_cube_step() {
  return with_window<Window::cube>(
      {.name = "dezinger-cube",
       .help = "the same with a window of bins, rows and views ({dezinger} N:window=cube)",
       .needs_all_views = true,
       .on_projection = on_cube,
       .margin = margin<Window::cube>,
       .bytes_a_thread = bytes_a_thread});
}

}  // namespace tandem::pipeline
