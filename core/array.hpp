#pragma once

#include <memory>

#include "public.hpp"
#include "space.hpp"

namespace TANDEM_PUBLIC tandem {

/// A vector that somebody else owns. `part(i)` is the i-th summand of a direct sum.
struct VectorView {
  float* data;
  Space space;
  VectorView part(int i) const { return {data + space.offset(i), space.part(i)}; }
};
struct ConstVectorView {
  const float* data;
  Space space;
  ConstVectorView(const float* d, Space s) : data(d), space(std::move(s)) {}
  ConstVectorView(const VectorView& v) : data(v.data), space(v.space) {}
  ConstVectorView part(int i) const { return {data + space.offset(i), space.part(i)}; }
};

/// A vector that we own, aligned to 64 bytes. Move-only: copies are written `clone`.
/// An array is made for a stream: on a GPU its memory is had, and given back, in the order of that stream.
/// Who uses it on another stream lets that one wait for an `Event`, and has its work ended before the array
/// goes.
class Array {
 public:
  /// Its values are not set. Does not wait.
  /// @throws SpaceError if the stream is on another device; DeviceError naming the bytes if they cannot be
  /// had
  Array(Space space, const Stream& stream);
  /// Zeros, ready for every stream: made for the calling thread's default stream, which it waits for.
  /// @throws DeviceError naming the bytes if they cannot be had
  explicit Array(Space space);
  Array clone(Stream& stream) const;  ///< queued on `stream`, for which the copy is made
  Array clone() const;                ///< the same on the thread's default stream; waits
  const Space& space() const { return space_; }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  Index size() const { return space_.size(); }
  /// Whether it lies in host memory and was born `Pinned`.
  bool is_pinned() const { return !space_.device().is_cuda() && data_.get_deleter().keeper != nullptr; }
  operator VectorView() { return {data_.get(), space_}; }
  operator ConstVectorView() const { return {data_.get(), space_}; }

 private:
  struct Free {
    Device device = Device::cpu();
    std::shared_ptr<void> keeper{};  ///< a GPU's stream; of host memory what holds it pinned
    void operator()(float* p);
  };
  enum class Values { unset, zeros };
  friend Array zeros(Space space, const Stream& stream);
  Array(Space space, const Stream& stream, Values values);
  static std::unique_ptr<float[], Free> allocate(const Space& space, const Stream& stream, Values values);
  Space space_;
  std::unique_ptr<float[], Free> data_;
};

/// An array made for `stream` like any, and zeros behind what is queued there by now. @throws like `Array`
Array zeros(Space space, const Stream& stream);

/// The only transfer: host to device, device to host, device to device, equal shapes. Queued on `stream`,
/// which lies on one of the devices; does not wait. @throws SpaceError, DeviceError
void copy(ConstVectorView from, VectorView to, Stream& stream);

/// A copy on another device, with the same shape and blocks, made for the thread's default stream; waits.
Array on_device(const Array& array, Device device);
/// The same of an array that is given up: no copy if it lies there already.
Array on_device(Array&& array, Device device);

/// What kernels see: pointer, extents, strides (innermost 1). Plain data, passed by value.
template <class T>
struct Image {
  T* data;
  Index n0, n1, n2, s0, s1;
  T& operator()(Index i0, Index i1, Index i2) const { return data[i0 * s0 + i1 * s1 + i2]; }
};
Image<float> image(VectorView v);  ///< @throws SpaceError for a direct sum
Image<const float> image(ConstVectorView v);

/// Between images of equal extents whose lines follow each other, on the host or the stream's device. Queued
/// on `stream`; does not wait, unless it comes from or goes to host memory that is not pinned.
/// @throws SpaceError, DeviceError
void copy(Image<const float> from, Image<float> to, Stream& stream);

/// Pins an array in host memory for all GPUs, until one of both goes, this one first: copies then run at the
/// full rate of the bus, beside everything else. It takes a while: pin once for many transfers. Of small
/// arrays, where no GPU is, or where the driver refuses, copies are slower and nothing else changes.
class Pinned {
 public:
  explicit Pinned(ConstVectorView host);
  bool held() const { return memory_ != nullptr; }

 private:
  std::shared_ptr<void> memory_;
};

/// While it lives, arrays of 1 MiB and more that this thread makes in host memory are born `Pinned`, by way
/// of a GPU; the CPU: none are.
class PinArrays {
 public:
  explicit PinArrays(Device by);
  ~PinArrays();
  PinArrays(const PinArrays&) = delete;
  PinArrays& operator=(const PinArrays&) = delete;

 private:
  Device before_;
};

}  // namespace tandem
