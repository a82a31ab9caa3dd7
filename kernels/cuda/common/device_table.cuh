#pragma once

#include <memory>
#include <span>

#include "../../../core/kept_on_devices.hpp"
#include "launch.cuh"

namespace tandem::kernels::cuda {

/// Numbers on a GPU that stay there with their value (KeptOnDevices).
template <class T>
class DeviceTable {
 public:
  DeviceTable() = default;
  /// Values that kernels on `streams.coming` set.
  DeviceTable(std::size_t count, const KeptOnDevices::Streams& streams) : count_(count) {
    if (count == 0) return;
    const int ordinal = streams.going.device().ordinal();
    void* data = tandem::cuda::allocate(ordinal, count * sizeof(T), streams.coming.native());
    data_ = {static_cast<T*>(data), Free{ordinal, streams.going.native()}};
  }
  DeviceTable(std::span<const T> values, const KeptOnDevices::Streams& streams)
      : DeviceTable(values.size(), streams) {
    if (!values.empty())
      tandem::cuda::send(streams.coming.device().ordinal(), data(), values.data(), values.size_bytes(),
                         streams.coming.native());
  }
  T* data() const { return data_.get(); }  ///< null if there are none
  std::size_t count() const { return count_; }

 private:
  struct Free {
    int ordinal = 0;
    void* stream = nullptr;
    void operator()(T* data) const { tandem::cuda::release(ordinal, data, stream); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

/// The views of a scan, as kernels read them.
template <class Views>
auto views_on_device(const Views& packed, const Stream& stream) {
  using Table = DeviceTable<typename decltype(packed.views)::value_type>;
  return packed.kept.template use<Table>(
      stream, [&](const KeptOnDevices::Streams& streams) { return Table(packed.views, streams); });
}

}  // namespace tandem::kernels::cuda
