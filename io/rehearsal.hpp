#pragma once

// For io/ alone.

#include <filesystem>
#include <functional>

namespace tandem::io {

/// Does `work`, which reads a file that others made, in a child process: libhdf5 crashes or hangs on some
/// damaged files. Returns if the same work may be done here. The child is a copy of this process with the
/// same memory at the same addresses, so that what it survives is survived here.
/// @throws FileError if the child dies, takes longer than some seconds, or throws one; DeviceError if no
/// process can be started
void rehearse(const std::filesystem::path& path, const std::function<void()>& work);

/// For work in a rehearsal that has been found to be honest, but large: it may take so many seconds more.
void take_longer(double seconds);

/// From now on `rehearse` does nothing in this process, which may itself die: for the fuzzer.
void stop_rehearsing();

/// What `work` returns, after a rehearsal. @throws what `work` throws, and as `rehearse`
template <class Work>
auto rehearsed(const std::filesystem::path& path, const Work& work) {
  rehearse(path, [&work] { static_cast<void>(work()); });
  return work();
}

}  // namespace tandem::io
