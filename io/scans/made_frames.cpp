#include "made_frames.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace tandem::io {

namespace {

class ConstantFrame final : public FrameSource {
 public:
  ConstantFrame(const std::string& where, float value, Index rows, Index bins)
      : FrameSource(where, PixelType::float32, {1, rows, bins}), value_(value) {}

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const std::vector<float> pixels(frames.size() * rows.size() * bins.size(), value_);
    std::memcpy(out, pixels.data(), pixels.size() * sizeof(float));
  }

 private:
  float value_;
};

class DividedFrames final : public FrameSource {
 public:
  DividedFrames(std::unique_ptr<FrameSource> source, double divisor)
      : FrameSource(source->where(), PixelType::float32, source->shape()),
        source_(std::move(source)),
        divisor_(divisor) {
    notes = source_->notes;
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    std::vector<float> values(frames.size() * rows.size() * bins.size());
    source_->read_as(PixelType::float32, frames, rows, bins, reinterpret_cast<std::byte*>(values.data()));
    for (float& value : values) value = static_cast<float>(value / divisor_);
    std::memcpy(out, values.data(), values.size() * sizeof(float));
  }

 private:
  std::unique_ptr<FrameSource> source_;
  double divisor_;
};

}  // namespace

std::unique_ptr<FrameSource> constant_frame(const std::string& where, float value, Index rows, Index bins) {
  return std::make_unique<ConstantFrame>(where, value, rows, bins);
}

std::unique_ptr<FrameSource> divided_frames(std::unique_ptr<FrameSource> source, double divisor) {
  return std::make_unique<DividedFrames>(std::move(source), divisor);
}

}  // namespace tandem::io
