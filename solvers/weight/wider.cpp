#include "wider.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"

namespace tandem {

namespace {

/// The number of narrower cells in a wider one along an axis.
Index cells_in_one(Index narrow, Index wide) {
  require<SpaceError>(wide == narrow || wide == narrow / 2, "find_weight: ", wide, " cells in the place of ",
                      narrow, "; as many or half as many are needed");
  return wide == narrow ? 1 : 2;
}

/// The two voxels along an axis between which a narrower voxel lies, and its distance from the first one, as
/// a part of their distance.
struct Between {
  Index first, second;
  float part;
};

Between between(Index narrow, Index count, bool halved) {
  if (!halved) return {narrow, narrow, 0};
  const Index below = narrow % 2 == 1 ? narrow / 2 : narrow / 2 - 1;
  const auto within = [&](Index k) { return std::clamp<Index>(k, 0, count - 1); };
  return {within(below), within(below + 1), narrow % 2 == 1 ? 0.25f : 0.75f};
}

bool is_halved(Index narrow, Index wide) {
  require<SpaceError>(wide == narrow || wide == (narrow + 1) / 2, "find_weight: ", wide,
                      " voxels in the place of ", narrow, "; as many or half as many are needed");
  return wide != narrow;
}

/// A whole slice, of which each rank may have some lines.
std::vector<float> slice_of(const ConstVectorView& volume, Index slice) {
  const Shape own = volume.space.shape();
  const Index size = own[1] * own[2];
  std::vector<float> lines(volume.data + slice * size, volume.data + (slice + 1) * size);
  if (!volume.space.is_portion()) return lines;
  const Comm ranks = Comm::world();
  std::vector<float> whole = ranks.gather(lines);
  const std::string bytes =
      ranks.broadcast({reinterpret_cast<const char*>(whole.data()), whole.size() * sizeof(float)});
  whole.resize(bytes.size() / sizeof(float));
  std::memcpy(whole.data(), bytes.data(), bytes.size());
  return whole;
}

/// Interpolates lines of a narrower slice from two wider slices. `whole` is the shape of the narrower volume.
struct SliceBetween {
  const std::vector<float>& below;
  const std::vector<float>& above;
  float part;
  Shape wide, whole;
};

void fill_line(const SliceBetween& from, Index y, float* line) {
  const Index nx = from.wide[2];
  const Between rows = between(y, from.wide[1], is_halved(from.whole[1], from.wide[1]));
  const bool halved = is_halved(from.whole[2], nx);
  const auto across = [&](Index x) {
    const auto at = [&](const std::vector<float>& slice, Index row) { return slice[row * nx + x]; };
    const auto in = [&](const std::vector<float>& slice) {
      return (1 - rows.part) * at(slice, rows.first) + rows.part * at(slice, rows.second);
    };
    return from.part == 0 ? in(from.below) : (1 - from.part) * in(from.below) + from.part * in(from.above);
  };
  for (Index x = 0; x < from.whole[2]; ++x) {
    const Between bins = between(x, nx, halved);
    line[x] = halved ? (1 - bins.part) * across(bins.first) + bins.part * across(bins.second) : across(x);
  }
}

/// Fills a narrower volume from a wider one, both on the host.
void fill_from_wider(const ConstVectorView& wider, const VectorView& narrow) {
  const Shape wide = wider.space.whole().shape(), whole = narrow.space.whole().shape(),
              own = narrow.space.shape();
  const bool halved = is_halved(whole[0], wide[0]);
  std::pair<Index, Index> held{-1, -1};
  std::vector<float> below, above;
  for (Index z = 0; z < own[0]; ++z) {
    const Between slices = between(z, wide[0], halved);
    if (held != std::pair(slices.first, slices.second)) {
      below = slice_of(wider, slices.first);
      above = slices.second == slices.first ? below : slice_of(wider, slices.second);
      held = {slices.first, slices.second};
    }
    const SliceBetween from{below, above, slices.part, wide, whole};
    parallel_for(own[1], [&](Index line) {
      fill_line(from, narrow.space.first_of_portion() + line, narrow.data + (z * own[1] + line) * own[2]);
    });
  }
}

}  // namespace

WeighedData in_wider_cells(const WeighedData& data, const Space& space) {
  const Space there = space.on(Device::cpu());
  WeighedData wider{Array(there), Array(there)};
  const Image<const float> y = image(ConstVectorView(data.values)), w = image(ConstVectorView(data.weights));
  const Image<float> means = image(VectorView(wider.values)), weights = image(VectorView(wider.weights));
  const Index rows = cells_in_one(y.n1, means.n1), bins = cells_in_one(y.n2, means.n2);
  parallel_for(means.n0, [&](Index view) {
    for (Index row = 0; row < means.n1; ++row)
      for (Index bin = 0; bin < means.n2; ++bin) {
        double sum = 0, weighed = 0;
        for (Index i = row * rows; i < (row + 1) * rows; ++i)
          for (Index k = bin * bins; k < (bin + 1) * bins; ++k) {
            const double weight = w(view, i, k);
            sum += weight, weighed += weight * y(view, i, k);
          }
        means(view, row, bin) = sum > 0 ? static_cast<float>(weighed / sum) : 0;
        weights(view, row, bin) = static_cast<float>(sum / (rows * bins));
      }
  });
  return wider;
}

Array in_narrower_voxels(const Array& wider, const Space& space) {
  const Array here = on_device(wider, Device::cpu());
  Array narrow(space.on(Device::cpu()));
  for (int part = 0; part < space.parts(); ++part)
    fill_from_wider(ConstVectorView(here).part(part), VectorView(narrow).part(part));
  return on_device(std::move(narrow), space.device());
}

}  // namespace tandem
