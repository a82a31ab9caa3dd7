#include "metal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../core/ceil_div.hpp"
#include "../core/parallel.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "frame_stack.hpp"
#include "median.hpp"
#include "slice_picture.hpp"

namespace tandem::calibration {

namespace {

// The limits were chosen on 47 scans of an outside simulator (docs/preprocessing.md).
constexpr double denser = 5;        ///< metal over the main material
constexpr double too_rough = 0.3;   ///< noise over the main material, from which on smooth voxels decide
constexpr Index fewest_voxels = 4;  ///< voxels that a piece of metal has
constexpr double longest_way = 1 / 16.0;  ///< within metal, of a ray that counts as free of it; bins
constexpr double most_rays = 0.5;
constexpr double more_than_main = 1.5;  ///< the share of it from which on a part is another material
constexpr double least_told = 0.02;     ///< share of the largest line integral of the prior
constexpr double radius = 0.49;         ///< share of the width of the grid: beyond it are no whole turns

using Voxels = UnsetVector<float>;

/// Each slice smoothed by one voxel.
Voxels smoothed_slices(const Voxels& volume, const VolumeGrid& grid) {
  const std::vector<float> kernel = gaussian_kernel(1, false);
  const Index width = grid.size[0], height = grid.size[1], side = std::max(width, height);
  Voxels smooth(volume.size());
  for (Index z = 0; z < grid.size[2]; ++z) {
    SlicePicture slice{side, std::vector<float>(side * side, 0.0f)};
    for (Index y = 0; y < height; ++y)
      std::copy_n(&volume[(z * height + y) * width], width, &slice.values[y * side]);
    slice = convolved(slice, kernel, kernel);
    for (Index y = 0; y < height; ++y)
      std::copy_n(&slice.values[y * side], width, &smooth[(z * height + y) * width]);
  }
  return smooth;
}

/// For each voxel of a slice, whether it lies in the circle that counts.
std::vector<char> within_circle(const VolumeGrid& grid) {
  const double most = radius * std::min(grid.size[0] * grid.pitch[0], grid.size[1] * grid.pitch[1]);
  std::vector<char> within(grid.size[0] * grid.size[1]);
  for (Index y = 0; y < grid.size[1]; ++y)
    for (Index x = 0; x < grid.size[0]; ++x)
      within[y * grid.size[0] + x] =
          std::hypot(grid.x(x) - grid.centre[0], grid.y(y) - grid.centre[1]) < most;
  return within;
}

/// Some four million of the voxels that count, at most.
template <class Value>
std::vector<float> sample_of(Index voxels, const std::vector<char>& within, const Value& value) {
  const Index area = std::ssize(within), step = 1 + voxels / (Index{1} << 22);
  std::vector<float> some;
  for (Index k = 0; k < voxels; k += step)
    if (within[k % area])
      if (const std::optional<float> one = value(k)) some.push_back(*one);
  return some;
}

/// Calls use(neighbour) for the voxels that share a face with one.
template <class Use>
void for_each_face(Index voxel, const VolumeGrid& grid, const Use& use) {
  const auto [nx, ny, nz] = grid.size;
  const Index x = voxel % nx, y = voxel / nx % ny, z = voxel / (nx * ny);
  if (x > 0) use(voxel - 1);
  if (x + 1 < nx) use(voxel + 1);
  if (y > 0) use(voxel - nx);
  if (y + 1 < ny) use(voxel + nx);
  if (z > 0) use(voxel - nx * ny);
  if (z + 1 < nz) use(voxel + nx * ny);
}

/// What a voxel is. Around metal are voxels that have a part of it, or that noise or smoothing made dense.
enum Kind : char { no_metal, around_metal, metal };

/// Takes pieces of few voxels away, which touch each other by faces. What is more than half of the largest
/// value of its piece is metal. @returns how many voxels are left
Index keep_large_pieces(std::vector<Kind>& kinds, const Voxels& volume, const VolumeGrid& grid) {
  std::vector<char> seen(kinds.size());
  Index kept = 0;
  std::vector<Index> piece;
  for (Index start = 0; start < std::ssize(kinds); ++start) {
    if (!kinds[start] || seen[start]) continue;
    piece.assign(1, start), seen[start] = 1;
    for (std::size_t next = 0; next < piece.size(); ++next)
      for_each_face(piece[next], grid, [&](Index beside) {
        if (kinds[beside] && !std::exchange(seen[beside], 1)) piece.push_back(beside);
      });
    const bool keeps = std::ssize(piece) >= fewest_voxels;
    kept += keeps ? std::ssize(piece) : 0;
    float most = 0;
    for (const Index voxel : piece) most = std::max(most, volume[voxel]);
    for (const Index voxel : piece)
      kinds[voxel] = !keeps ? no_metal : volume[voxel] > most / 2 ? metal : around_metal;
  }
  return kept;
}

/// The search, step by step, on one device.
class Finder {
 public:
  Finder(Array lines, const Scan& scan, const VolumeGrid& grid, Device device)
      : scan_(scan),
        grid_(grid),
        stream_(default_stream(device)),
        make_(fbp(scan, grid, {}, {}, device)),
        lines_(on_device(std::move(lines), device)),
        within_(within_circle(grid)),
        volume_(values_of(make_ * lines_)),
        kinds_(volume_.size(), no_metal) {}

  /// Finds the voxels of metal. @returns whether there are any
  bool find_voxels(std::optional<double> threshold) {
    const Voxels smooth = smoothed_slices(volume_, grid_);
    const Index voxels = std::ssize(volume_);
    search_.main = main_of(smooth);
    search_.voxel = grid_.pitch[0];
    if (search_.main == 0) {
      search_.verdict = MetalVerdict::no_material;
      return false;
    }
    search_.threshold = threshold.value_or(denser * search_.main);
    std::vector<float> rest = sample_of(voxels, within_, [&](Index k) {
      const bool is_main = smooth[k] > search_.main / 2 && smooth[k] < 2 * search_.main;
      return is_main ? std::optional(std::abs(volume_[k] - smooth[k])) : std::nullopt;
    });
    constexpr double sigma_of_median = 1.4826;
    const bool rough = sigma_of_median * median_of(rest) / search_.main > too_rough;
    const Voxels& decides = rough ? smooth : volume_;
    for (Index k = 0; k < voxels; ++k)
      kinds_[k] = counts(k) && decides[k] > search_.threshold ? metal : no_metal;
    search_.voxels = keep_large_pieces(kinds_, decides, grid_);
    return search_.voxels > 0;
  }

  /// Finds the rays of the trace. @returns whether they are few enough
  bool find_trace(double longest) {
    Array grown(Space(grid_.shape()));
    for (Index k = 0; k < std::ssize(kinds_); ++k) {
      if (!kinds_[k]) continue;
      grown.data()[k] = 1;
      for_each_face(k, grid_, [&](Index beside) { grown.data()[beside] = 1; });
    }
    trace_.longest = static_cast<float>(longest);
    lengths_ = projected(grown);
    const Voxels lengths = values_of(*lengths_);
    search_.share = 1.0 * std::ranges::count_if(lengths, [&](float l) { return l > trace_.longest; }) /
                    static_cast<double>(lengths.size());
    grown_ = std::move(grown);
    return search_.share <= most_rays;
  }

  /// Makes the volume without metal, in two rounds.
  MetalFound without_metal() {
    trace_.least = std::numeric_limits<float>::infinity();  // across the trace, first
    Array values(Space(grid_.shape()));
    for (Index k = 0; k < values.size(); ++k) values.data()[k] = kinds_[k] == metal ? volume_[k] : 0;
    volume_ = values_of(make_ * mended(*lengths_));
    Array prior = prior_of(volume_);
    const Array told = projected(prior);
    trace_.least = static_cast<float>(least_told) * std::ranges::max(values_of(told));
    volume_ = values_of(make_ * mended(told));
    prior = prior_of(volume_);
    return {*std::move(grown_), std::move(prior), std::move(values), trace_};
  }

  /// What is dense in the volume as it is now, but for metal.
  std::optional<Array> dense_parts() const {
    const Voxels smooth = smoothed_slices(volume_, grid_);
    const double least = more_than_main * main_of(smooth);
    std::vector<Kind> dense(volume_.size(), no_metal);
    for (Index k = 0; k < std::ssize(dense); ++k)
      if (counts(k) && kinds_[k] == no_metal && least > 0 && smooth[k] > least) dense[k] = metal;
    if (keep_large_pieces(dense, volume_, grid_) == 0) return {};
    Array values(Space(grid_.shape()));
    for (Index k = 0; k < values.size(); ++k) values.data()[k] = dense[k] ? volume_[k] : 0;
    return values;
  }

  const MetalSearch& search() const { return search_; }

 private:
  bool counts(Index voxel) const { return within_[voxel % std::ssize(within_)] != 0; }

  double main_of(const Voxels& smooth) const {
    return main_attenuation(
        sample_of(std::ssize(smooth), within_, [&](Index k) { return std::optional(smooth[k]); }));
  }

  Array projected(const Array& volume) {
    return line_integrals_of(on_device(volume, stream_.device()), grid_, {0, grid_.size[2]}, scan_, stream_);
  }

  Array mended(const Array& prior) {
    Array y = lines_.clone(stream_);
    kernels::metal(stream_.device())
        .mend(trace_, image(ConstVectorView(*lengths_)), image(ConstVectorView(prior)), 0, 1,
              image(VectorView(y)), stream_);
    stream_.synchronize();
    return y;
  }

  /// A volume in which metal is the main material, and what is between air and that is drawn to either.
  Array prior_of(const Voxels& volume) const {
    const double main = search_.main;
    Array prior(Space(grid_.shape()));
    parallel_for_blocks(prior.size(), 1 << 16, [&](Range some) {
      for (Index k = some.first; k < some.last; ++k) {
        const double x = kinds_[k] ? 1 : volume[k] / main;
        prior.data()[k] =
            static_cast<float>(x > more_than_main ? volume[k] : main * std::clamp(2 * x - 0.5, 0.0, 1.0));
      }
    });
    return prior;
  }

  const Scan& scan_;
  const VolumeGrid& grid_;
  Stream& stream_;
  LinearOperator make_;
  Array lines_;
  std::vector<char> within_;
  Voxels volume_;  ///< the first one, then that without metal
  std::vector<Kind> kinds_;
  MetalSearch search_{};
  kernels::MetalTrace trace_{};
  std::optional<Array> grown_{}, lengths_{};
};

}  // namespace

std::string_view name_of(MetalVerdict verdict) {
  constexpr std::array<std::string_view, 5> names{"none", "mended", "left", "too much", "no material"};
  return names[static_cast<std::size_t>(verdict)];
}

double main_attenuation(std::vector<float> smooth) {
  constexpr int most_rounds = 50;
  constexpr double of_noise = 3, exact = 1e-3;
  double squares = 0, below = 0;  // air shows its noise where it is below zero
  for (const float value : smooth)
    if (value < 0) squares += 1.0 * value * value, ++below;
  const double noise = of_noise * std::sqrt(squares / std::max(below, 1.0));
  double main = 0, least = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const double above = std::max(least, noise);
    const auto end = std::partition(smooth.begin(), smooth.end(), [&](float value) { return value > above; });
    std::vector<float> body(smooth.begin(), end);
    main = median_of(std::move(body));
    if (std::abs(main / 2 - least) < exact * main) break;
    least = main / 2;
  }
  return main;
}

FirstVolume look_at_first_volume(Array lines, const Scan& scan, const VolumeGrid& grid, const FirstLook& how,
                                 Device device) {
  Finder finder(std::move(lines), scan, grid, device);
  FirstVolume first;
  if (how.at_metal && finder.find_voxels(how.threshold)) {
    const bool few = finder.find_trace(longest_way * how.finest);
    first.search = finder.search();
    first.search.verdict = few ? MetalVerdict::mended : MetalVerdict::too_much;
    if (!few) return first;
    first.metal = finder.without_metal();
  } else {
    first.search = finder.search();
  }
  first.dense = finder.dense_parts();
  return first;
}

}  // namespace tandem::calibration
