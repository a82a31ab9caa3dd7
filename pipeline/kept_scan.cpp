#include "kept_scan.hpp"

#include <algorithm>
#include <array>

#include "../core/names.hpp"

namespace tandem::pipeline {

namespace {

bool lies_within(Range all, Range some) { return all.first <= some.first && some.last <= all.last; }

}  // namespace

void KeptScan::read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) {
  const io::FramesView from = kept(kind, frames, rows, bins);
  const Index pixel = bytes_of(from.type), line = bins.size() * pixel;
  into = {from.type, from.shape, {}, from.first};
  into.bytes.resize(frames.size() * rows.size() * line);
  for (Index k = 0; k < frames.size(); ++k)
    for (Index row = 0; row < rows.size(); ++row)
      std::copy_n(from.data + (k * from.frame_step + row * from.row_step) * pixel, line,
                  into.bytes.data() + (k * rows.size() + row) * line);
}

std::optional<io::FramesView> KeptScan::in_memory(io::FrameKind kind, Range frames, Range rows, Range bins) {
  return kept(kind, frames, rows, bins);
}

io::FramesView KeptScan::kept(io::FrameKind kind, Range frames, Range rows, Range bins) {
  const auto has = [&](const Part& part) {
    return part.kind == kind && part.bins == bins && lies_within(part.frames, frames) &&
           lies_within(part.rows, rows);
  };
  const auto found = std::ranges::find_if(parts_, has);
  if (found != parts_.end()) {
    parts_.splice(parts_.begin(), parts_, found);
  } else {
    Part part{kind, frames, rows, bins};
    scan_.read(kind, frames, rows, bins, part.pixels);
    parts_.push_front(std::move(part));
  }
  const Part& part = parts_.front();
  io::FramesView some = part.pixels;
  some.data += ((frames.first - part.frames.first) * some.frame_step +
                (rows.first - part.rows.first) * some.row_step) *
               bytes_of(some.type);
  some.shape = {frames.size(), rows.size(), bins.size()};
  some.first = frames.first;
  return some;
}

void KeptScan::forget(std::size_t most) {
  std::size_t held = 0;
  std::array<bool, 3> seen{};
  std::erase_if(parts_, [&](const Part& part) {
    held += part.pixels.bytes.size();
    return std::exchange(row_of(seen, part.kind), true) && held > most;
  });
}

}  // namespace tandem::pipeline
