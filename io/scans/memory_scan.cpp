#include "memory_scan.hpp"

#include <algorithm>

#include "../../core/parallel.hpp"

namespace tandem::io {

namespace {

constexpr std::size_t place(FrameKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

MemoryScan::MemoryScan(ScanReader& scan) {
  info_ = scan.info();
  const Detector& d = detector_of(info_.scan);
  const Index views = views_of(info_.scan);
  const std::array<Index, 3> counts{views, info_.flats, info_.darks};
  for (const FrameKind kind : {FrameKind::projection, FrameKind::flat, FrameKind::dark})
    scan.read(kind, {0, counts[place(kind)]}, {0, d.rows}, {0, d.bins}, frames_[place(kind)]);
}

void MemoryScan::read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) {
  const FramesView from = *in_memory(kind, frames, rows, bins);
  const Index pixel = bytes_of(from.type);
  const Index line = bins.size() * pixel;
  into.type = from.type, into.shape = from.shape, into.first = frames.first;
  into.bytes.resize(frames.size() * rows.size() * line);
  parallel_for(frames.size(), [&](Index f) {
    for (Index r = 0; r < rows.size(); ++r)
      std::copy_n(from.data + (f * from.frame_step + r * from.row_step) * pixel, line,
                  into.bytes.data() + (f * rows.size() + r) * line);
  });
}

std::optional<FramesView> MemoryScan::in_memory(FrameKind kind, Range frames, Range rows, Range bins) {
  FramesView view = frames_[place(kind)];
  const Index first = frames.first * view.frame_step + rows.first * view.row_step + bins.first;
  view.data += first * bytes_of(view.type);
  view.shape = {frames.size(), rows.size(), bins.size()};
  view.first = frames.first;
  return view;
}

}  // namespace tandem::io
