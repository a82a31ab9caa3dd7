#include "wide_volume.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "../core/ceil_div.hpp"

namespace tandem {

namespace {

/// The voxels along each axis among which all that are not 0 lie; the middle one if all are 0.
std::array<Range, 3> part_with_values(const Image<const float>& x) {
  std::array<Range, 3> part{Range{x.n2, 0}, Range{x.n1, 0}, Range{x.n0, 0}};
  const auto widen = [](Range& range, Index to) {
    range = {std::min(range.first, to), std::max(range.last, to + 1)};
  };
  for (Index z = 0; z < x.n0; ++z)
    for (Index y = 0; y < x.n1; ++y)
      for (Index k = 0; k < x.n2; ++k)
        if (x(z, y, k) != 0) widen(part[0], k), widen(part[1], y), widen(part[2], z);
  if (part[2].last == 0) part = {Range{0, 1}, Range{0, 1}, Range{0, 0}};
  return part;
}

/// All slices of a part of a volume.
Array part_of(const Image<const float>& from, Range x, Range y) {
  Array some(Space({from.n0, y.size(), x.size()}));
  float* to = some.data();
  for (Index z = 0; z < from.n0; ++z)
    for (Index line = y.first; line < y.last; ++line) to = std::copy_n(&from(z, line, x.first), x.size(), to);
  return some;
}

Range common(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

}  // namespace

Array line_integrals_of(ConstVectorView x, const VolumeGrid& grid, Range slices, Scan scan, Stream& stream) {
  if (rows_are_slices(scan)) detector_of(scan).rows = slices.size();
  const VolumeGrid part = region(grid, {0, grid.size[0]}, {0, grid.size[1]}, slices);
  const LinearOperator A = projector(scan, part, {}, stream.device());
  Array y(A.range(), stream);
  A.apply(1, ConstVectorView(x.data + slices.first * grid.size[0] * grid.size[1], A.domain()), 0, y, stream);
  return y;
}

WideVolume::WideVolume(const VolumeGrid& grid, const Array& volume) {
  const Image<const float> all = image(ConstVectorView(volume));
  const auto [x, y, z] = part_with_values(all);
  grid_ = region(grid, x, y, {0, grid.size[2]});
  slices_ = z;
  volume_ = std::make_shared<const Array>(part_of(all, x, y));
}

ConstVectorView WideVolume::on(Device device) const {
  if (!device.is_cuda()) return *volume_;
  const std::lock_guard lock(mutex_);
  auto& there = there_[device];
  if (!there) there = std::make_unique<const Array>(on_device(*volume_, device));
  return *there;
}

std::optional<WideVolume::Rays> WideVolume::along(const Scan& scan, RowsOfSlices rows, Stream& stream) const {
  const Index count = detector_of(scan).rows;
  if (!rows_are_slices(scan)) {
    const Range seen = common(slices_met(scan, grid_, {0, count}), slices_);
    if (seen.size() <= 0) return {};
    return Rays{line_integrals_of(on(stream.device()), grid_, seen, scan, stream), {}};
  }
  const Range slices =
      common({rows.first / rows.together, ceil_div(rows.first + count, rows.together)}, {0, grid_.size[2]});
  if (common(slices, slices_).size() <= 0) return {};
  return Rays{line_integrals_of(on(stream.device()), grid_, slices, scan, stream),
              {rows.first - slices.first * rows.together, rows.together}};
}

}  // namespace tandem
