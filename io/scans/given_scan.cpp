#include "given_scan.hpp"

#include <algorithm>

#include "../../core/names.hpp"
#include "beams/beam.hpp"

namespace tandem::io {

namespace {

constexpr const char* name_of_given = "the array";

class GivenFrames final : public FrameSource {
 public:
  explicit GivenFrames(const FramesView& frames)
      : FrameSource(name_of_given, frames.type, frames.shape), frames_(frames) {}

  std::optional<FramesView> in_memory(Range frames, Range rows, Range bins) const override {
    FramesView some = frames_;
    const Index first = frames.first * some.frame_step + rows.first * some.row_step + bins.first;
    some.data += first * bytes_of(some.type);
    some.shape = {frames.size(), rows.size(), bins.size()};
    some.first = frames.first;
    return some;
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const FramesView from = *in_memory(frames, rows, bins);
    const Index pixel = bytes_of(from.type), line = bins.size() * pixel;
    for (Index f = 0; f < frames.size(); ++f)
      for (Index r = 0; r < rows.size(); ++r, out += line)
        std::copy_n(from.data + (f * from.frame_step + r * from.row_step) * pixel, line, out);
  }

 private:
  FramesView frames_;
};

FrameSources sources_of(const FramesView& frames) {
  FrameSources sources;
  if (frames.shape[0] > 0) sources.push_back(std::make_unique<GivenFrames>(frames));
  return sources;
}

}  // namespace

std::unique_ptr<ScanReader> open_given_scan(const GivenScan& given, const OpenOptions& options) {
  const Detector& detector = detector_of(given.scan);
  Acquisition found;
  found.info.format = "array";
  if (given.pitch_is_known) {
    found.info.pixel_size_mm = detector.bin_pitch;
    found.row_pitch_mm = detector.row_pitch;
  }
  found.info.axis_bin = axis_of(given.scan);
  found.kind = kind_of(given.scan);
  found.angles = angles_of(given.scan);
  found.angles_where = name_of_given;
  find_beam_fields(found.kind)->take(given.scan, found);
  const auto frames = [&given](FrameKind kind) { return sources_of(row_of(given.frames, kind)); };
  found.projections = frames(FrameKind::projection);
  found.flats = frames(FrameKind::flat);
  found.darks = frames(FrameKind::dark);
  return reader_of(name_of_given, std::move(found), options);
}

}  // namespace tandem::io
