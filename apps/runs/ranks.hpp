#pragma once

#include <string>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/device.hpp"
#include "../../io/files/identity.hpp"

namespace tandem::apps {

/// Begins the ranks, if `mpirun` or `srun` started several processes: from then on `Comm::world()` has them.
/// All but the first print nothing on standard output. @throws UsageError unless all have the same version
/// and the same command line, and if this build, or the way in which they were started, does not let them
/// find each other
void begin_ranks(int argc, char** argv);

/// Where the ranks are, by their numbers.
struct RankPlace {
  std::string host;
  std::string gpus_seen;  ///< by CUDA_VISIBLE_DEVICES: ranks of a host that see others number them anew
  int threads = 0;        ///< as many cores as it may use
};
const std::vector<RankPlace>& rank_places();  ///< of this process alone if there are no others

/// How many ranks are on the host of this one.
int ranks_on_this_host();
/// Threads for this rank, if nobody says how many: its share of the cores where ranks have the same ones.
int threads_of_this_rank();
/// The devices of this rank, of those that all ranks of its host may take: each has some for itself, if there
/// are enough.
std::vector<Device> devices_of_this_rank(const std::vector<Device>& all);

/// All ranks: none goes on unless they plan the same. @throws GeometryError that names the first difference
void require_same_plan(const io::Identity& identity);

/// All ranks: what each has ("rank 1 on a: cuda:1"), for people; and on which GPUs several ranks are, empty
/// if there are none.
struct RankLines {
  std::vector<std::string> devices;
  std::string shared;
};
RankLines say_ranks(const std::vector<Device>& own, int threads);

/// The last line of a program that fails: printed once for all ranks, which then all end, and this does not
/// return. Of a process alone: @returns its exit code. Call it after `take_last_word`.
int say_failure(const std::string& what, int code);
/// The end of a program that did not fail: waits for all ranks. If one fails meanwhile, all end with its
/// code.
void leave_ranks();

}  // namespace tandem::apps
