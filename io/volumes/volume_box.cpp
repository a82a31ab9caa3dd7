// Parts of volumes, as they are looked at.

#include <algorithm>
#include <cstring>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../scans/frame_source.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

constexpr Index page = 4096;         // bytes; the disk brings no fewer
constexpr Index at_once = 16 << 20;  // bytes that a thread reads to pick from

/// Every `step`-th number of `count`, from the first.
void pick(const std::byte* from, Index count, Index step, std::size_t bytes, std::byte* to) {
  if (step == 1) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (Index k = 0; k < count; k += step, to += bytes) std::memcpy(to, from + k * bytes, bytes);
}

/// How many of the wanted lines of a slice are read by one call, with those between them: one, if lines that
/// are not wanted lie on other pages.
Index lines_at_once(const VolumeBox& box, Index whole_line, Index line, bool by_lines) {
  const Index all = box.shape()[1], step = box.step[1];
  if (!by_lines) return all;
  if (step > 1 && whole_line >= page) return 1;
  return std::clamp<Index>(at_once / (line * step), 1, all);
}

}  // namespace

Shape VolumeBox::shape() const {
  Shape n;
  for (std::size_t axis = 0; axis < 3; ++axis) n[axis] = ceil_div(part[axis].size(), step[axis]);
  return n;
}

void VolumeSource::read(Range slices, float* stored) {
  read_box({{slices, {0, shape[1]}, {0, shape[2]}}}, 0, stored);
}

void VolumeSource::read_box(const VolumeBox& box, std::size_t level, float* stored) const {
  const Shape n = box.shape();
  const Range y = box.part[1], x = box.part[2];
  const std::size_t bytes = bytes_of(type);
  const Index line = x.size() * bytes, step = box.step[1];
  const Index whole_line = (level > 0 ? smaller[level - 1] : shape)[2] * bytes;
  const Index together = lines_at_once(box, whole_line, line, reads_lines());
  parallel_for(n[0], [&](Index k) {
    std::vector<std::byte> lines, picked(n[1] * n[2] * bytes);
    for (Index first = 0; first < n[1]; first += together) {
      const Index some = std::min(together, n[1] - first), top = y.first + first * step;
      const Range rows{top, top + (some - 1) * step + 1};
      lines.resize(rows.size() * line);
      read_part(level, box.part[0].first + k * box.step[0], rows, x, lines.data());
      for (Index row = 0; row < some; ++row)
        pick(lines.data() + row * step * line, x.size(), box.step[2], bytes,
             picked.data() + (first + row) * n[2] * bytes);
    }
    to_float(type, picked.data(), n[1] * n[2], reinterpret_cast<std::byte*>(stored + k * n[1] * n[2]));
  });
}

double VolumeSource::bytes_for(const VolumeBox& box) const {
  const Shape n = box.shape();
  const Index bytes = bytes_of(type);
  const Index line = box.part[2].size() * bytes;
  const Index lines = lines_at_once(box, shape[2] * bytes, line, reads_lines()) * box.step[1];
  const double threads = std::min<Index>(n[0], thread_count());
  return threads * (lines * line + n[1] * n[2] * bytes) + decoded_bytes();
}

}  // namespace tandem::io
