#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "../device.hpp"

namespace tandem::cuda {

/// The number of CUDA devices that the driver shows; 0 if there is no driver, or in a build without CUDA.
int device_count();
int current_device();  ///< the current device of the calling thread; -1 if there is none
void make_current(int ordinal) noexcept;
ComputeCapability compute_capability(int ordinal);  ///< {0, 0} if it is not known
std::string device_name(int ordinal);
/// The clocks of all multiprocessors together, at their highest rate, in 10^9 per second.
double gigaclocks(int ordinal);
std::string runtime_version();  ///< for example "13.0"; empty in a build without CUDA

/// A range in profiles on the calling thread, see `ProfileRange`. In a build without CUDA they do nothing.
void begin_range(const char* name);
void end_range();

// In a build without CUDA all functions below throw DeviceError.

/// A new cudaStream_t (never the legacy stream), destroyed with the last copy of the pointer.
std::shared_ptr<void> make_stream(int ordinal, Priority priority = Priority::usual);
void synchronize(int ordinal, void* stream);

/// A new cudaEvent_t that takes no time stamp, destroyed with the last copy of the pointer.
std::shared_ptr<void> make_event(int ordinal);
void record(int ordinal, void* event, void* stream);
void wait(int ordinal, void* stream, void* event);
void synchronize_event(void* event);
bool has_passed(void* event);  ///< false also where work before it failed

/// How many bytes are left: what the driver shows, and what the pool keeps unused.
std::size_t free_memory(int ordinal);

/// Takes memory from the pool of the device, in stream order. Its contents are not set.
void* allocate(int ordinal, std::size_t bytes, void* stream);
void fill_zeros(int ordinal, void* memory, std::size_t bytes, void* stream);
void release(int ordinal, void* memory, void* stream) noexcept;

/// Copies between host and device, or between two devices, in stream order.
void copy(int ordinal, void* to, const void* from, std::size_t bytes, void* stream);
/// Copies from one device to another one, in stream order, whether or not they reach each other.
void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes,
                  void* stream);
/// Lets a device reach the memory of another one, so that copies take the link between them, if there is one.
void let_reach(int ordinal, int other);
/// Copies as `copy` does, for `count` pieces of `bytes` bytes each. They begin `to_step` and `from_step`
/// bytes apart.
void copy_pieces(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
                 std::size_t bytes, std::size_t count, void* stream);

/// Copies such pieces by a kernel. It is for small data that should not wait behind the large copies of other
/// streams. @pre both begin at multiples of 4 bytes, and so do all pieces; host memory is pinned
void carry(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
           std::size_t bytes, std::size_t count, void* stream);
/// Carries a few numbers to any host memory, and waits.
void bring(int ordinal, void* host, const void* device, std::size_t bytes, void* stream);
/// Carries a few numbers from any host memory, which may change at once. More than 1 MiB is copied.
void send(int ordinal, void* device, const void* host, std::size_t bytes, void* stream);

/// Pins host memory for all devices, through this one, until the last copy of the pointer is destroyed. The
/// pointer is null if the driver refuses, and in a build without CUDA.
std::shared_ptr<void> pin(int ordinal, const void* memory, std::size_t bytes);

}  // namespace tandem::cuda
