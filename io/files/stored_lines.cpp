#include "stored_lines.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"

namespace tandem::io {

namespace {

constexpr Index task_bytes = 2 << 20;  // read by one thread in one go

/// Calls visit(file, offset, bytes) for each extent that holds some of the bytes.
template <class Visit>
void for_extents(std::span<const Extent> extents, Index offset, Index bytes, const Visit& visit) {
  for (const Extent& extent : extents) {
    const Index here = std::clamp<Index>(extent.bytes - offset, 0, bytes);
    if (here > 0) visit(extent.file, extent.offset + offset, here);
    bytes -= here;
    offset = std::max<Index>(offset - extent.bytes, 0);
  }
}

}  // namespace

Lines::Lines(std::span<const Index> extents, const BoxPlace& from, const BoxPlace& to) {
  Index from_step = 1, to_step = 1;
  bool side_by_side = true;
  for (std::size_t axis = extents.size(), slot = count_.size(); axis-- > 0;) {
    from_ += from.first[axis] * from_step;
    to_ += to.first[axis] * to_step;
    side_by_side = side_by_side && from_step == length_ && to_step == length_;
    if (side_by_side) {
      length_ *= extents[axis];
    } else {
      --slot;
      count_[slot] = extents[axis];
      from_step_[slot] = from_step;
      to_step_[slot] = to_step;
    }
    from_step *= from.shape[axis];
    to_step *= to.shape[axis];
  }
}

std::pair<Index, Index> Lines::at(Index line) const {
  std::pair<Index, Index> begin{from_, to_};
  for (std::size_t slot = count_.size(); slot-- > 0; line /= count_[slot]) {
    begin.first += line % count_[slot] * from_step_[slot];
    begin.second += line % count_[slot] * to_step_[slot];
  }
  return begin;
}

void StoredBytes::expect(Index offset, Index bytes) const {
  for_extents(extents, offset, bytes,
              [&](std::size_t file, Index at, Index count) { files[file].expect(at, count); });
}

void StoredBytes::read(Index offset, Index bytes, std::byte* out) const {
  for_extents(extents, offset, bytes, [&](std::size_t file, Index at, Index count) {
    files[file].read(at, count, out);
    out += count;
  });
}

void expect_part(const StoredBytes& from, const NumberForm& form, const Lines& lines, const LinePart& part) {
  for (Index k = part.lines.first; k < part.lines.last; ++k)
    from.expect((lines.at(k).first + part.numbers.first) * form.bytes, part.numbers.size() * form.bytes);
}

void read_part(const StoredBytes& from, const NumberForm& form, const Lines& lines, const LinePart& part,
               std::byte* out) {
  const Index pixel = bytes_of(form.type), bytes = part.numbers.size() * form.bytes;
  std::vector<std::byte> stored(form.convert ? bytes : 0);
  for (Index k = part.lines.first; k < part.lines.last; ++k) {
    const auto [begin, end] = lines.at(k);
    std::byte* pixels = out + (end + part.numbers.first) * pixel;
    from.read((begin + part.numbers.first) * form.bytes, bytes, form.convert ? stored.data() : pixels);
    if (form.convert) form.convert(stored.data(), part.numbers.size(), pixels);
  }
}

void read_lines(const StoredBytes& from, const NumberForm& form, const Lines& lines, std::byte* out) {
  if (lines.length() == 0 || lines.size() == 0) return;
  const Index most = task_bytes / form.bytes;
  const Index together = std::max<Index>(1, most / lines.length()), cuts = ceil_div(lines.length(), most);
  parallel_for(ceil_div(lines.size(), together) * cuts, [&](Index task) {
    const Index line = task / cuts * together, number = task % cuts * most;
    const LinePart part{{line, std::min(lines.size(), line + together)},
                        {number, std::min(lines.length(), number + most)}};
    expect_part(from, form, lines, part);
    read_part(from, form, lines, part, out);
  });
}

}  // namespace tandem::io
