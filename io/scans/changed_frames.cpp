#include "changed_frames.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../../geometry/vector3.hpp"

namespace tandem::io {

namespace {

constexpr Index together = 64 << 20;  // bytes of frames that are turned together

/// Frames of another source, in another shape.
class ChangedFrames : public FrameSource {
 public:
  ChangedFrames(const Shape& shape, std::unique_ptr<FrameSource> source)
      : FrameSource(source->where(), source->type(), shape), source_(std::move(source)) {
    notes = source_->notes;
  }
  std::size_t decoded_bytes() const override { return source_->decoded_bytes(); }
  std::string packing() const override { return source_->packing(); }

 protected:
  std::unique_ptr<FrameSource> source_;
};

class SomeFrames final : public ChangedFrames {
 public:
  /// Frames first, first + step, ... below `last`.
  SomeFrames(std::unique_ptr<FrameSource> source, Range frames, Index step)
      : ChangedFrames{{ceil_div(frames.size(), step), source->shape()[1], source->shape()[2]},
                      std::move(source)},
        first_(frames.first),
        step_(step) {}

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const Index bytes = rows.size() * bins.size() * bytes_of(type());
    parallel_for(frames.size(), [&](Index k) {
      const Index frame = first_ + (frames.first + k) * step_;
      source_->read({frame, frame + 1}, rows, bins, out + k * bytes);
    });
  }

 private:
  Index first_, step_;
};

class OrientedFrames final : public ChangedFrames {
 public:
  OrientedFrames(std::unique_ptr<FrameSource> source, const Orientation& how)
      : ChangedFrames{shape_of(source->shape(), how), std::move(source)}, how_(how) {}
  std::size_t decoded_bytes() const override {
    const Index frame = shape()[1] * shape()[2] * bytes_of(type());
    return source_->decoded_bytes() + std::max(frame, std::min(together, shape()[0] * frame));
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const Range stored_rows = how_.flip_rows ? mirrored(rows, shape()[1]) : rows;
    const Range stored_bins = how_.flip_columns ? mirrored(bins, shape()[2]) : bins;
    const Index bytes = rows.size() * bins.size() * bytes_of(type());
    const Index most = std::max<Index>(1, together / std::max<Index>(bytes, 1));
    std::vector<std::byte> stored;
    for (Index frame = frames.first; frame < frames.last; frame += most) {
      const Range some{frame, std::min(frame + most, frames.last)};
      stored.resize(some.size() * bytes);
      if (how_.transpose)
        source_->read(some, stored_bins, stored_rows, stored.data());
      else
        source_->read(some, stored_rows, stored_bins, stored.data());
      parallel_for(some.size(), [&](Index k) {
        turn(stored.data() + k * bytes, rows.size(), bins.size(), out + (frame - frames.first + k) * bytes);
      });
    }
  }

 private:
  static Shape shape_of(const Shape& s, const Orientation& how) {
    return how.transpose ? Shape{s[0], s[2], s[1]} : s;
  }
  static Range mirrored(Range range, Index count) { return {count - range.last, count - range.first}; }

  void turn(const std::byte* stored, Index rows, Index bins, std::byte* out) const {
    const Index pixel = bytes_of(type());
    const Index row_step = how_.transpose ? 1 : bins, bin_step = how_.transpose ? rows : 1;
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b, out += pixel) {
        const Index row = how_.flip_rows ? rows - 1 - r : r, bin = how_.flip_columns ? bins - 1 - b : b;
        std::memcpy(out, stored + (row * row_step + bin * bin_step) * pixel, pixel);
      }
  }

  Orientation how_;
};

/// Frames of one row as one image with as many rows; or the rows of one image as frames.
class OtherWay final : public ChangedFrames {
 public:
  explicit OtherWay(std::unique_ptr<FrameSource> source)
      : ChangedFrames{{source->shape()[1], source->shape()[0], source->shape()[2]}, std::move(source)} {}
  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    source_->read(rows, frames, bins, out);  // one of the two counts is 1, so the order of pixels is the same
  }
};

void mirror(std::optional<double>& position, Index count) {
  if (position) position = count - 1 - *position;
}

/// The frames first, first + step, ... of all sources together.
FrameSources every_frame(FrameSources sources, Index first, Index step) {
  FrameSources some;
  for (auto& source : sources) {
    const Index count = source->shape()[0];
    if (first < count) {
      some.push_back(std::make_unique<SomeFrames>(std::move(source), Range{first, count}, step));
      first += some.back()->shape()[0] * step;
    }
    first -= count;
  }
  return some;
}

}  // namespace

void take_views(Acquisition& found, Index first, Index step) {
  found.projections = every_frame(std::move(found.projections), first, step);
  for (PerFrame* each : {&found.info.times, &found.info.exposures, &found.info.monitor})
    each->views = every(each->views, first, step);
}

FrameSources between(FrameSources sources, Range frames) {
  FrameSources some;
  some.push_back(std::make_unique<SomeFrames>(std::move(sources.front()), frames, 1));
  return some;
}

std::unique_ptr<FrameSource> oriented(std::unique_ptr<FrameSource> source, const Orientation& how,
                                      bool lines) {
  if (!lines || source->shape()[1] != 1) return std::make_unique<OrientedFrames>(std::move(source), how);
  auto turned = std::make_unique<OrientedFrames>(std::make_unique<OtherWay>(std::move(source)), how);
  return std::make_unique<OtherWay>(std::move(turned));
}

namespace {

/// Turns the rows and bins of views, about the middle of the detector.
void orient(std::vector<FlexibleView>& views, const Orientation& how) {
  for (FlexibleView& view : views) {
    if (how.transpose) std::swap(view.bin_step, view.row_step);
    if (how.flip_columns) view.bin_step = -1 * view.bin_step;
    if (how.flip_rows) view.row_step = -1 * view.row_step;
  }
}

}  // namespace

void orient(Acquisition& found, const Orientation& how) {
  if (how.as_stored()) return;
  for (FrameSources* sources : {&found.projections, &found.flats, &found.darks})
    for (auto& source : *sources) source = oriented(std::move(source), how, found.lines);
  const Shape frame = found.projections.front()->shape();
  std::vector<double>& axes = found.row_axis_bins;
  if (how.transpose) {
    if (found.info.axis_bin || found.midplane_row || found.info.roll_deg || found.info.tilt_deg)
      found.info.notes.emplace_back(
          "images are transposed: the recorded axis, its lean and the midplane are left out");
    found.info.axis_bin.reset(), found.midplane_row.reset(), axes.clear();
    if (found.info.pixel_size_mm && found.row_pitch_mm)
      std::swap(*found.info.pixel_size_mm, *found.row_pitch_mm);
    std::swap(found.bin_shifts, found.row_shifts);
    for (Vector3& move : found.moves) std::swap(move[0], move[2]);
    found.info.roll_deg.reset(), found.info.tilt_deg.reset();
  }
  require<GeometryError>(
      !found.views || !found.views->curved || !how.transpose,
      spelled("orient") + " transpose: the views have a curved detector, whose rows stay rows; leave it out");
  if (found.views) orient(found.views->views, how);
  if (how.flip_rows && found.info.tilt_deg) *found.info.tilt_deg *= -1;
  if (how.flip_rows != how.flip_columns && found.info.roll_deg) *found.info.roll_deg *= -1;
  for (Vector3& move : found.moves)
    move = {how.flip_columns ? -move[0] : move[0], move[1], how.flip_rows ? -move[2] : move[2]};
  if (how.flip_rows) {
    mirror(found.midplane_row, frame[1]);
    std::reverse(axes.begin(), axes.end());
    for (double& shift : found.row_shifts) shift = -shift;
  }
  if (!how.flip_columns) return;
  for (double& shift : found.bin_shifts) shift = -shift;
  mirror(found.info.axis_bin, frame[2]);
  for (double& axis : axes) axis = frame[2] - 1 - axis;
}

}  // namespace tandem::io
