#include "rank_exchange.hpp"

#include "../core/host_memory.hpp"

namespace tandem {

namespace {

template <class T>
Image<T> line(T* data, std::size_t count) {
  const auto n = static_cast<Index>(count);
  return {data, 1, 1, n, n, n};
}

}  // namespace

RankExchange::RankExchange(const Comm& ranks, Stream& stream, Index most)
    : ranks_(ranks),
      stream_(stream),
      copies_(stream.device(), Priority::urgent),
      ready_(stream.device()),
      arrived_(stream.device()),
      from_gpu_to_gpu_(GpuMessages::between(ranks, stream.device())) {
  if (!stream.device().is_cuda() || most == 0 || from_gpu_to_gpu_) return;
  const PinHostMemory pinned(stream.device());
  for (std::optional<Array>* room : {&own_, &others_})
    room->emplace(Space({1, 1, most}), default_stream(Device::cpu()));
}

void RankExchange::begin(std::span<const float> out, int to, std::span<float> in, int from) {
  ready_.record(stream_);
  if (from_gpu_to_gpu_) {
    copies_.wait(ready_);
    from_gpu_to_gpu_->exchange(out, to, in, from, copies_);
    return arrived_.record(copies_);
  }
  done_ = std::async(std::launch::async, [=, this] { carry(out, to, in, from); });
}

void RankExchange::end() {
  stream_.wait(arrived_);
  if (done_.valid()) done_.get();
}

/// Where an error came in between, buffers go only after what is on its way.
RankExchange::~RankExchange() {
  try {
    end();
  } catch (const std::exception&) {  // there is one already
  }
}

void RankExchange::carry(std::span<const float> out, int to, std::span<float> in, int from) {
  if (!stream_.device().is_cuda())
    return ranks_.exchange(std::as_bytes(out), to, std::as_writable_bytes(in), from);
  copies_.wait(ready_);
  const std::span<float> own(out.empty() ? nullptr : own_->data(), out.size()),
      others(in.empty() ? nullptr : others_->data(), in.size());
  if (!out.empty()) copy(line(out.data(), out.size()), line(own.data(), own.size()), copies_);
  copies_.synchronize();
  ranks_.exchange(std::as_bytes(own), to, std::as_writable_bytes(others), from);
  if (!in.empty()) copy(line<const float>(others.data(), others.size()), line(in.data(), in.size()), copies_);
  copies_.synchronize();
}

}  // namespace tandem
