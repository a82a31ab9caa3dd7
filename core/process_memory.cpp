#include "process_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace tandem {

namespace {

/// A number of /proc/self/status, which begins with this process. The numbers of getrusage go on from the
/// program that started it.
std::size_t status_bytes(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  std::string key;
  for (double kib = 0; file >> key;) {
    if (key == wanted && file >> kib) return static_cast<std::size_t>(1024 * kib);
    file.ignore(1000, '\n');
  }
  return 0;
}

}  // namespace

std::size_t spare_host_memory() {
  double spare = std::size_t{1} << 31;  // if nothing can be asked
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (double kib = 0; file >> key;) {
    if (key == "MemAvailable:" && file >> kib) spare = 1024 * kib;
    file.ignore(1000, '\n');
  }
  // a container may be allowed less (cgroup v2)
  double limit = 0, used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    spare = std::min(spare, limit - used);
  return static_cast<std::size_t>(0.7 * std::max(0.0, spare));
}

std::size_t held_memory() { return status_bytes("VmRSS:"); }
std::size_t peak_memory() { return status_bytes("VmHWM:"); }

}  // namespace tandem
