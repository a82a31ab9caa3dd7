#include "neighbours.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include "mpi/messages.hpp"

namespace tandem {

namespace {

/// The machine of a process, and the number that the process has there.
struct Address {
  std::array<char, 40> boot{};   ///< no two machines have the same
  std::uint64_t namespace_ = 0;  ///< the namespace in which the number holds
  std::int64_t process = 0;
  bool is_beside(const Address& other) const { return boot == other.boot && namespace_ == other.namespace_; }
};

Address own_address() {
  Address own;
  std::ifstream("/proc/sys/kernel/random/boot_id").read(own.boot.data(), own.boot.size());
  struct stat numbers {};
  if (::stat("/proc/self/ns/pid", &numbers) == 0) own.namespace_ = numbers.st_ino;
  own.process = ::getpid();
  return own;
}

/// A descriptor that can be read when the process has ended; negative where the kernel has none (before 5.3).
int handle_of(std::int64_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
#else
  return -1;
#endif
}

}  // namespace

Neighbours::Neighbours(int rank, int size) : own_(rank) {
  const Address own = own_address();
  std::vector<Address> all(size);
  mpi::all_gather(&own, sizeof own, all.data());
  for (int other = 0; other < size; ++other) {
    const Address& address = all[other];
    if (other == rank || !address.is_beside(own)) continue;
    if (const int handle = handle_of(address.process); handle >= 0) alive_.push_back({other, handle});
  }
}

std::optional<int> Neighbours::ended_within(int milliseconds) {
  std::vector<pollfd> asked;
  for (const Process& one : alive_) asked.push_back({one.handle, POLLIN, 0});
  if (::poll(asked.data(), asked.size(), milliseconds) <= 0) return std::nullopt;
  const auto ended = std::ranges::find_if(asked, [](const pollfd& one) { return one.revents != 0; });
  const auto which = alive_.begin() + (ended - asked.begin());
  const Process found = *which;
  ::close(found.handle);
  alive_.erase(which);
  return found.rank;
}

bool Neighbours::is_lowest() const {
  return std::ranges::none_of(alive_, [&](const Process& one) { return one.rank < own_; });
}

}  // namespace tandem
