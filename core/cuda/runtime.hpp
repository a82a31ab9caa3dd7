#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "../device.hpp"

namespace tandem::cuda {

/// CUDA devices that the driver shows; 0 without a driver, or in a build without CUDA.
int device_count();
ComputeCapability compute_capability(int ordinal);  ///< {0, 0} where none can be told
std::string device_name(int ordinal);
/// Clocks of all multiprocessors together at their highest rate, 10^9 a second.
double gigaclocks(int ordinal);
std::string runtime_version();  ///< "13.0"; empty in a build without CUDA

/// A range in profiles on the calling thread, see `ProfileRange`; nothing in a build without CUDA.
void begin_range(const char* name);
void end_range();

// The rest throws DeviceError in a build without CUDA.

/// A cudaStream_t of its own (never the legacy stream), destroyed with the last copy of the pointer.
std::shared_ptr<void> make_stream(int ordinal);
void synchronize(int ordinal, void* stream);

/// A cudaEvent_t without a time, destroyed with the last copy of the pointer.
std::shared_ptr<void> make_event(int ordinal);
void record(void* event, void* stream);
void wait(void* stream, void* event);
void synchronize_event(void* event);

/// Bytes that can still be had: what the driver shows, and what the pool keeps unused.
std::size_t free_memory(int ordinal);

/// Memory of the device, in stream order, from the device's pool; its contents are not set.
void* allocate(int ordinal, std::size_t bytes, void* stream);
void fill_zeros(int ordinal, void* memory, std::size_t bytes, void* stream);
void release(int ordinal, void* memory, void* stream) noexcept;

/// Between any two of host and devices, in stream order.
void copy(int ordinal, void* to, const void* from, std::size_t bytes, void* stream);
/// The same of `count` pieces of `bytes` each, that begin `to_step` and `from_step` bytes apart.
void copy_pieces(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
                 std::size_t bytes, std::size_t count, void* stream);

/// Pins host memory for all devices, by way of this one, until the last copy of the pointer goes; null where
/// the driver refuses, and in a build without CUDA.
std::shared_ptr<void> pin(int ordinal, const void* memory, std::size_t bytes);

}  // namespace tandem::cuda
