#include "view_samples.hpp"

#include <algorithm>

#include "../../core/host_memory.hpp"

namespace tandem::pipeline {

void ViewSamples::add(Range views, const Array& y) {
  if (rows_.size() == 0) return;
  const Image<const float> all = image(ConstVectorView(y));
  bins_ = all.n2;
  const Device device = y.space().device();
  Stream& stream = default_stream(device);
  for (Index view = views.first; view < views.last; ++view) {
    if (view > 0 && view * count / views_ == (view - 1) * count / views_) continue;
    const PinHostMemory pinned(device);
    Array one(Space({1, rows_.size(), all.n2}), default_stream(Device::cpu()));
    carry({&all(view - views.first, rows_.first, 0), 1, rows_.size(), all.n2, all.s0, all.s1},
          image(VectorView(one)), stream);
    stream.synchronize();
    values_.insert(values_.end(), one.data(), one.data() + one.size());
    ++kept_;
  }
}

std::optional<Array> ViewSamples::all() const {
  if (kept_ == 0) return {};
  Array y(Space({kept_, rows_.size(), bins_}));
  std::copy(values_.begin(), values_.end(), y.data());
  return y;
}

}  // namespace tandem::pipeline
