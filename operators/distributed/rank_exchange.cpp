#include "rank_exchange.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "../../core/array.hpp"
#include "../../core/ceil_div.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/names.hpp"

namespace tandem {

namespace {

std::atomic<std::size_t> bytes_sent, bytes_received;
std::atomic<RankWay> last_way;

template <class T>
Image<T> line(std::span<T> values) {
  const auto n = std::ssize(values);
  return {values.data(), 1, 1, n, n, n};
}

/// The k-th piece of some values; it may be smaller than `size`, or empty.
template <class T>
std::span<T> piece_of(std::span<T> values, std::size_t k, std::size_t size) {
  const std::size_t first = std::min(k * size, values.size());
  return values.subspan(first, std::min(size, values.size() - first));
}

/// Host memory for two pieces on their way out of a device, and two on their way in.
class Landing {
 public:
  static constexpr std::size_t most = std::size_t{4} << 20;  // floats of a piece
  Landing(std::size_t piece, Device by)
      : piece_(piece), memory_(pinned(4 * piece, by)), data_(memory_.data()) {}
  std::size_t piece() const { return piece_; }
  std::span<float> own(std::size_t k, std::size_t count) const { return {data_ + k % 2 * piece_, count}; }
  std::span<float> other(std::size_t k, std::size_t count) const {
    return {data_ + (2 + k % 2) * piece_, count};
  }

 private:
  static Array pinned(std::size_t count, Device by) {
    const PinHostMemory pin(by);
    return {Space({1, 1, static_cast<Index>(count)}), default_stream(Device::cpu())};
  }
  std::size_t piece_;
  Array memory_;
  float* data_;
};

}  // namespace

std::string_view name_of(RankWay way) {
  constexpr std::array<std::string_view, 4> names{"", "MPI", "MPI, through the host's memory", "NCCL"};
  return row_of(names, way);
}

RankTraffic rank_traffic() { return {1.0 * bytes_sent, 1.0 * bytes_received, last_way}; }

RankExchange::RankExchange(const RankLink& link, Stream& stream)
    : link_(link),
      stream_(stream),
      copies_(stream.device(), Priority::urgent),
      ready_(stream.device()),
      from_gpu_to_gpu_(link.through_host ? nullptr : GpuMessages::between(link.ranks, stream.device())) {}

RankWay RankExchange::way() const {
  if (from_gpu_to_gpu_) return RankWay::gpu_to_gpu;
  return link_.through_host || stream_.device().is_cuda() ? RankWay::through_host : RankWay::host;
}

void RankExchange::begin(std::span<const float> out, int to, std::span<float> in, int from) {
  if (out.empty() && in.empty()) return;
  bytes_sent += out.size_bytes();
  bytes_received += in.size_bytes();
  last_way = way();
  ready_.record(stream_);
  if (!from_gpu_to_gpu_) {
    done_ = std::async(std::launch::async, [=, this] { carry(out, to, in, from); });
    return;
  }
  copies_.wait(ready_);
  from_gpu_to_gpu_->exchange(out, to, in, from, copies_);
}

void RankExchange::end() {
  if (from_gpu_to_gpu_) from_gpu_to_gpu_->wait(copies_);
  if (done_.valid()) done_.get();
}

/// Waits for what is on its way before buffers are freed, also after an error.
RankExchange::~RankExchange() {
  try {
    end();
  } catch (const std::exception&) {  // there is an error already
  }
}

void RankExchange::carry(std::span<const float> out, int to, std::span<float> in, int from) {
  if (way() == RankWay::through_host) return carry_through_host(out, to, in, from);
  link_.ranks.exchange(std::as_bytes(out), to, std::as_writable_bytes(in), from);
}

/// Exchanges values through the host. While ranks exchange a piece, the next one comes from the device, and
/// the one before goes to it.
void RankExchange::carry_through_host(std::span<const float> out, int to, std::span<float> in, int from) {
  const Device device = stream_.device();
  const auto room = link_.on_host.use<Landing>(copies_, [&](const auto&) {
    return Landing(std::min<std::size_t>(link_.most, Landing::most), device);
  });
  const std::size_t size = room->piece();
  Event fetched(device);
  const auto fetch = [&](std::size_t k) {
    const auto some = piece_of(out, k, size);
    if (!some.empty()) copy(line(some), line(room->own(k, some.size())), copies_);
    fetched.record(copies_);
  };
  copies_.wait(ready_);
  fetch(0);
  for (std::size_t k = 0; k < ceil_div(std::max(out.size(), in.size()), size); ++k) {
    fetched.synchronize();
    fetch(k + 1);
    const auto there = piece_of(in, k, size);
    const auto own = room->own(k, piece_of(out, k, size).size()), other = room->other(k, there.size());
    link_.ranks.exchange(std::as_bytes(own), to, std::as_writable_bytes(other), from);
    if (!there.empty()) copy(line(std::span<const float>(other)), line(there), copies_);
  }
  copies_.synchronize();
}

}  // namespace tandem
