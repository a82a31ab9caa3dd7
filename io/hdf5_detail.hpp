#pragma once

// Shared by hdf5.cpp and hdf5_write.cpp.

#include <mutex>
#include <string>

namespace tandem::io::hdf5 {

/// Held around every call into libhdf5; also keeps it from printing.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

/// Why the last call failed, in the words of libhdf5's innermost function, on one line.
std::string reason();

}  // namespace tandem::io::hdf5
