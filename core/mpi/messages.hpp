#pragma once

#include <cstddef>
#include <optional>
#include <string>

// Used only within core/. What the rest of core/ needs of MPI, for the processes of `mpirun` or `srun`.

namespace tandem::mpi {

/// Whether this build has MPI. In a build without it, `start` throws and nothing else is called.
bool is_built_in();

/// This process among all.
struct World {
  int rank = 0, size = 1;
};
/// Begins MPI for several threads. @throws DeviceError if that fails
World start();
/// Ends MPI. All ranks call it.
void finish() noexcept;

/// Messages of one channel never meet those of the other.
enum class Channel { work, control };

// All calls return when they are done. While they wait they leave the core to others. @throws DeviceError

void barrier();
/// False if not all ranks have come within this time.
bool barrier_within(double seconds);
/// Each rank gives so many bytes, the same number; all get those of all, by ranks.
void all_gather(const void* own, std::size_t bytes, void* all);
void broadcast(void* data, std::size_t bytes, int from);
void send(Channel channel, const void* data, std::size_t bytes, int to, int tag);
void receive(Channel channel, void* data, std::size_t bytes, int from, int tag);
/// Both at the same time, for work. Where there are no bytes, there is no message.
void exchange(const void* own, std::size_t own_bytes, int to, void* other, std::size_t other_bytes, int from,
              int tag);

struct Message {
  int from = 0, tag = 0;
  std::string bytes;
};
/// A message with any tag up to `last_tag`, if one has arrived.
std::optional<Message> arrived(Channel channel, int last_tag);

}  // namespace tandem::mpi
