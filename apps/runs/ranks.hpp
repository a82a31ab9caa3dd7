#pragma once

#include <string>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/device.hpp"
#include "../../io/files/identity.hpp"

namespace tandem::apps {

/// Begins the ranks, if `mpirun` or `srun` started several processes. Then `Comm::world()` has them, and all
/// but the first print nothing on standard output. @throws UsageError unless all have the same version and
/// the same command line, or if this build, or the way in which they were started, does not let them find
/// each other
void begin_ranks(int argc, char** argv);

/// The place of a rank.
struct RankPlace {
  std::string host;
  std::string gpus_seen;  ///< CUDA_VISIBLE_DEVICES; ranks that see different GPUs number them differently
  int threads = 0;        ///< the number of cores that it may use
};
/// The places of all ranks, by their numbers. A process that is alone has only its own.
const std::vector<RankPlace>& rank_places();

/// How many ranks are on the host of this one.
int ranks_on_this_host();
/// The default number of threads of this rank: its share of the cores, if ranks have the same cores.
int threads_of_this_rank();
/// The devices of this rank among those that all ranks of its host may take. Each rank has its own devices,
/// if there are enough.
std::vector<Device> devices_of_this_rank(const std::vector<Device>& all);

/// Collective. Requires that all ranks have the same plan. @throws GeometryError that names the first
/// difference
void require_same_plan(const io::Identity& identity);

/// Lines for people about the devices of each rank ("rank 1 on a: cuda:1"), and about GPUs that several ranks
/// share; `shared` is empty if there are none. `say_ranks` is collective.
struct RankLines {
  std::vector<std::string> devices;
  std::string shared;
};
RankLines say_ranks(const std::vector<Device>& own, int threads);

/// Says the last line of a program that fails. It is printed once for all ranks, which then all end, so that
/// this does not return. For a process alone it returns the exit code. Call it after `take_last_word`.
int say_failure(const std::string& what, int code);
/// Prints a line without the stream, which another thread may be using, over a progress line or "^C".
void say_apart(const std::string& what);
/// Ends a program that did not fail: waits for all ranks. If one fails meanwhile, all end with its code.
void leave_ranks();

}  // namespace tandem::apps
