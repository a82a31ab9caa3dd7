#pragma once

// Used only within io/.

#include <filesystem>
#include <functional>
#include <string>

namespace tandem::io {

/// Does `work`, which reads a file that others made, in a child process, because libhdf5 crashes or hangs on
/// some damaged files. It returns if the same work is safe here. The child is a copy of this process with the
/// same memory at the same addresses, so what the child survives, this process survives too. @throws
/// FileError if the child dies, takes longer than some seconds, or throws one; DeviceError if no process can
/// be started
void rehearse(const std::filesystem::path& path, const std::function<void()>& work);

/// Lets a child process do `work` as `rehearse` does, and returns the answer of the child: libhdf5 in this
/// process never meets the file. On some damaged files libhdf5 frees memory that is in use by others; the
/// child survives that, but this process would end later. @throws as `rehearse` does, and what `work` throws
std::string answer_of(const std::filesystem::path& path, const std::function<std::string()>& work);

/// Gives the work in a rehearsal some more seconds, for files that were found to be sound but large.
void take_longer(double seconds);

/// Makes `rehearse` do nothing, and `answer_of` start no child, in this process from now on. It is for the
/// fuzzer, whose process may die.
void stop_rehearsing();

/// Rehearses `work`, then does it and returns its result. @throws what `work` throws, and as `rehearse` does
template <class Work>
auto rehearsed(const std::filesystem::path& path, const Work& work) {
  rehearse(path, [&work] { static_cast<void>(work()); });
  return work();
}

}  // namespace tandem::io
