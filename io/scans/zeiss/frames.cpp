#include "frames.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../../core/error.hpp"

namespace tandem::io {

namespace {

/// Frames of a compound file, each in one of its named streams.
class StreamFrames final : public FrameSource {
 public:
  StreamFrames(std::shared_ptr<const CompoundFile> file, const std::vector<std::string>& streams,
               PixelType type, Shape shape)
      : FrameSource(file->name(), type, shape), file_(std::move(file)) {
    const Index needed = shape[1] * shape[2] * bytes_of(type);
    for (const std::string& stream : streams) {
      const std::string place = file_->name() + ": " + stream;
      require<FileError>(file_->size(stream).has_value(), place, ": is missing; the file is damaged");
      require<FileError>(*file_->size(stream) >= needed, place, ": has ", *file_->size(stream), " bytes; ",
                         needed, " are needed for ", shape[1], " x ", shape[2],
                         " pixels; the file is damaged");
      extents_.push_back(file_->extents(stream));
    }
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    require_unchanged(file_->stamp(), file_->name());
    const std::array<Index, 2> stored{shape()[1], shape()[2]}, first{rows.first, bins.first},
        box{rows.size(), bins.size()}, corner{0, 0};
    const NumberForm form{static_cast<Index>(bytes_of(type())), type(), nullptr};
    const Index bytes = box[0] * box[1] * form.bytes;
    for (Index k = frames.first; k < frames.last; ++k)
      read_lines({file_->files(), extents_[k]}, form, Lines(box, {stored, first}, {box, corner}),
                 out + (k - frames.first) * bytes);
    require_unchanged(file_->stamp(), file_->name());
  }

 private:
  std::shared_ptr<const CompoundFile> file_;
  std::vector<std::vector<Extent>> extents_;  ///< where each frame lies
};

/// Reads a part of one frame as float32.
std::vector<float> floats_of(const FrameSource& source, Index frame, Range rows, Range bins) {
  std::vector<float> values(rows.size() * bins.size());
  source.read_as(PixelType::float32, {frame, frame + 1}, rows, bins,
                 reinterpret_cast<std::byte*>(values.data()));
  return values;
}

/// Counts over the mean flat of the same cell, moved by whole cells; beyond an edge stands the cell at the
/// edge.
class MovedTransmissions final : public FrameSource {
 public:
  MovedTransmissions(std::unique_ptr<FrameSource> frames, std::unique_ptr<FrameSource> flats,
                     std::vector<Move> moves)
      : FrameSource(frames->where(), PixelType::float32, frames->shape()),
        frames_(std::move(frames)),
        flats_(std::move(flats)),
        moves_(std::move(moves)) {}

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    for (Index k = frames.first; k < frames.last; ++k) {
      const std::vector<float> one = moved(k, rows, bins);
      std::memcpy(out, one.data(), one.size() * sizeof(float));
      out += one.size() * sizeof(float);
    }
  }

 private:
  /// The cells, out of `count`, that a moved range reads.
  static Range source_of(Range range, Index move, Index count) {
    return {std::clamp<Index>(range.first - move, 0, count - 1),
            std::clamp<Index>(range.last - 1 - move, 0, count - 1) + 1};
  }

  std::vector<float> moved(Index frame, Range rows, Range bins) const {
    std::vector<float> all(rows.size() * bins.size());
    if (all.empty()) return all;
    const Move move = moves_[frame];
    const Range r = source_of(rows, move.rows, shape()[1]), b = source_of(bins, move.bins, shape()[2]);
    const std::vector<float> counts = floats_of(*frames_, frame, r, b), flat = mean_flat(r, b);
    std::size_t at = 0;
    for (Index row = rows.first; row < rows.last; ++row)
      for (Index bin = bins.first; bin < bins.last; ++bin) {
        const Index from_row = std::clamp(row - move.rows, r.first, r.last - 1) - r.first,
                    from_bin = std::clamp(bin - move.bins, b.first, b.last - 1) - b.first;
        const std::size_t from = from_row * b.size() + from_bin;
        all[at++] = counts[from] / flat[from];
      }
    return all;
  }

  std::vector<float> mean_flat(Range rows, Range bins) const {
    const Index count = flats_->shape()[0];
    std::vector<float> mean = floats_of(*flats_, 0, rows, bins);
    for (Index k = 1; k < count; ++k) {
      const std::vector<float> more = floats_of(*flats_, k, rows, bins);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += more[i];
    }
    for (float& value : mean) value /= count;
    return mean;
  }

  std::unique_ptr<FrameSource> frames_, flats_;
  std::vector<Move> moves_;
};

}  // namespace

std::unique_ptr<FrameSource> frames_in_streams(std::shared_ptr<const CompoundFile> file,
                                               const std::vector<std::string>& streams, PixelType type,
                                               Index rows, Index bins) {
  return std::make_unique<StreamFrames>(std::move(file), streams, type,
                                        Shape{std::ssize(streams), rows, bins});
}

std::unique_ptr<FrameSource> moved_transmissions(std::unique_ptr<FrameSource> frames,
                                                 std::unique_ptr<FrameSource> flats,
                                                 std::vector<Move> moves) {
  return std::make_unique<MovedTransmissions>(std::move(frames), std::move(flats), std::move(moves));
}

}  // namespace tandem::io
