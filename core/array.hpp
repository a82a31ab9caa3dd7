#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "public.hpp"
#include "space.hpp"

namespace TANDEM_PUBLIC tandem {

/// A vector that another object owns. `part(i)` is the i-th part of a direct sum, `share(k)` what member k of
/// a team holds. On a team `data` is null.
struct VectorView {
  float* data;
  Space space;
  std::vector<float*> of_members{};  ///< the shares; empty unless on a team
  VectorView part(int i) const;
  VectorView share(int k) const;
};
struct ConstVectorView {
  const float* data;
  Space space;
  std::vector<float*> of_members{};  ///< read only
  ConstVectorView(const float* d, Space s) : data(d), space(std::move(s)) {}
  ConstVectorView(const VectorView& v) : data(v.data), space(v.space), of_members(v.of_members) {}
  ConstVectorView part(int i) const;
  ConstVectorView share(int k) const;
};

/// A vector that owns its memory, aligned to 64 bytes. It can be moved; a copy is written `clone`.
/// An array is made for a stream: on a GPU its memory is taken, and given back, in the order of that stream.
/// To use it on another stream, let that stream wait for an `Event`, and let its work end before the array is
/// destroyed.
class Array {
 public:
  /// Leaves the values unset and does not wait. @throws SpaceError if the stream is on another device;
  /// DeviceError naming the bytes if memory does not suffice
  Array(Space space, const Stream& stream);
  /// Sets all values to zero. The array is made for the default stream of the calling thread and waits for
  /// it, so every stream can use it. @throws DeviceError naming the bytes if memory does not suffice
  explicit Array(Space space);
  /// An array on a team, made of the shares of its members. @throws SpaceError unless these are the shares of
  /// `space`
  Array(Space space, std::vector<Array> shares);
  Array clone(Stream& stream) const;  ///< queued on `stream`; the copy is made for it
  Array clone() const;                ///< on the default stream of this thread; waits
  const Space& space() const { return space_; }
  float* data() { return data_.get(); }  ///< null on a team; see `VectorView::share`
  const float* data() const { return data_.get(); }
  Index size() const { return space_.size(); }
  /// Whether the array lies in host memory and was `Pinned` when it was made.
  bool is_pinned() const;
  operator VectorView() { return view(); }
  operator ConstVectorView() const { return view(); }

 private:
  struct Free {
    Device device = Device::cpu();
    std::size_t count = 0;           ///< floats
    std::shared_ptr<void> keeper{};  ///< on a GPU its stream
    void operator()(float* p);
  };
  enum class Values { unset, touched, zeros };
  friend Array zeros(Space space, const Stream& stream);
  friend Array on_device(const Array& array, Device device);
  Array(Space space, const Stream& stream, Values values);
  static std::unique_ptr<float[], Free> allocate(const Space& space, const Stream& stream, Values values);
  VectorView view() const;
  Space space_;
  std::unique_ptr<float[], Free> data_;
  std::vector<Array> shares_;  ///< none unless on a team
};

/// An array made for `stream`. It is set to zero on that stream, behind the work that is already queued.
/// @throws as the constructor of `Array` does
Array zeros(Space space, const Stream& stream);

/// The only transfer: between host and device, or between two devices, for equal shapes. It is queued on
/// `stream`, which is on one of the two devices, and does not wait. To a team each member gets its share;
/// from a team come all shares, or the copy of the first member. @throws SpaceError, DeviceError
void copy(ConstVectorView from, VectorView to, Stream& stream);

/// A copy on another device with the same shape and blocks. It is made for the default stream of this thread,
/// and the call waits.
Array on_device(const Array& array, Device device);
/// The same for an array that the caller gives up: there is no copy if it is already on that device.
Array on_device(Array&& array, Device device);

/// What kernels see: pointer, extents and strides (the innermost stride is 1). Plain data, passed by value.
template <class T>
struct Image {
  T* data;
  Index n0, n1, n2, s0, s1;
  T& operator()(Index i0, Index i1, Index i2) const { return data[i0 * s0 + i1 * s1 + i2]; }
};
Image<float> image(VectorView v);  ///< @throws SpaceError for a direct sum
Image<const float> image(ConstVectorView v);

/// Copies between images of equal extents whose lines follow each other, on the host or on the device of the
/// stream. It is queued on `stream`. It does not wait, unless one side is host memory that is not pinned.
/// @throws SpaceError, DeviceError
void copy(Image<const float> from, Image<float> to, Stream& stream);
/// The same for bytes.
void copy(Image<const std::byte> from, Image<std::byte> to, Stream& stream);

/// Copies a little from a GPU to pinned host memory by a kernel, so that it does not wait behind large copies
/// of other streams. Otherwise as `copy`.
void carry(Image<const float> from, Image<float> to, Stream& stream);

/// Pins an array in host memory for all GPUs. Copies then run at the full rate of the bus, while other work
/// goes on. The object must be destroyed before the array. Pinning takes a while, so pin once for many
/// transfers. Small arrays are not pinned, nor is any array if there is no GPU or if the driver refuses:
/// copies are then slower, and nothing else changes.
class Pinned {
 public:
  explicit Pinned(ConstVectorView host);
  bool held() const { return memory_ != nullptr; }

 private:
  std::shared_ptr<void> memory_;
};

}  // namespace tandem
