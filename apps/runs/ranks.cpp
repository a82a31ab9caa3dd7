#include "ranks.hpp"

#include <unistd.h>
#include <tuple>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../../io/files/output.hpp"
#include "../command.hpp"
#include "lines.hpp"
#include "log_file.hpp"
#include "signals.hpp"

namespace tandem::apps {

namespace {

/// Rank and size from the environment of Open MPI, of MPICH or Intel MPI, or of Slurm's srun.
struct Started {
  int rank = 0, size = 1;
};
Started started() {
  constexpr std::array names{std::pair("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
                             std::pair("PMI_SIZE", "PMI_RANK"),
                             std::pair("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")};
  for (const auto& [size, rank] : names)
    if (const char* count = std::getenv(size)) {
      const char* own = std::getenv(rank);
      return {own ? std::atoi(own) : 0, std::atoi(count)};
    }
  return {};
}

std::vector<RankPlace>& places() {
  static std::vector<RankPlace>& all = *new std::vector<RankPlace>;
  return all;
}

RankPlace own_place() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const char* seen = std::getenv("CUDA_VISIBLE_DEVICES");
  return {host.data(), seen ? seen : "", thread_count()};
}

/// The ranks on the host of this rank: its number among them, and their count.
struct Neighbours {
  int number = 0, count = 0;
};
template <class Same>
Neighbours neighbours(const Same& same) {
  const int own = Comm::world().rank();
  Neighbours found;
  int rank = 0;
  for (const RankPlace& place : rank_places()) {
    if (same(place) && rank == own) found.number = found.count;
    if (same(place)) ++found.count;
    ++rank;
  }
  return found;
}
const RankPlace& own() { return rank_places()[Comm::world().rank()]; }

/// Refuses something for all processes: one of them says the error, and the others wait until they are ended.
void refuse_once(int rank, const std::string& what) {
  if (rank == 0) throw UsageError(what);
  std::signal(SIGTERM, SIG_DFL);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::_exit(2);
}

void print_error(const std::string& what) { say_apart("error: " + what); }

std::string words_of(const RankFailure& failure) {
  return "rank " + std::to_string(failure.rank) + " of " + std::to_string(Comm::world().size()) + " (" +
         places()[failure.rank].host + "): " + failure.text;
}

/// Tells the failures of ranks. If all ranks failed alike, no rank is named.
void tell(const std::vector<RankFailure>& failures) {
  const RankFailure& first = failures.front();
  const bool all = std::ssize(failures) == Comm::world().size() &&
                   std::ranges::all_of(failures, [&](const auto& one) { return one.text == first.text; });
  print_error(all || places().empty() ? first.text : words_of(first));
}

/// Ends a rank whose own thread does not end it in time, because it computes or waits.
void end_soon(int code) {
  std::this_thread::sleep_for(std::chrono::duration<double>(time_to_end()));
  take_last_word();
  const std::lock_guard no_file_gets_its_name(io::publishing());
  io::abandon_outputs();
  std::ignore = Comm::world().meet_at_the_end();
  io::clear_shared_outputs();
  ::_exit(code);
}

std::string hello(int argc, char** argv) {
  std::string text = std::string(TANDEM_VERSION) + '\n';
  for (int k = 1; k < argc; ++k) text += std::string(k > 1 ? " " : "") + argv[k];
  return text;
}

void require_same_program(int argc, char** argv) {
  const std::vector<std::string> all = Comm::world().all_gather(hello(argc, argv));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto version = [](const std::string& text) { return text.substr(0, text.find('\n')); };
    const auto options = [](const std::string& text) { return text.substr(text.find('\n') + 1); };
    std::ostringstream text;
    text << "ranks: rank " << rank << " on " << places()[rank].host;
    if (version(all[rank]) != version(all[0]))
      text << " is tandem " << version(all[rank]) << ", rank 0 is " << version(all[0])
           << "; start the same program on all hosts";
    else
      text << " has the options '" << options(all[rank]) << "', rank 0 has '" << options(all[0])
           << "'; give all ranks the same ones";
    throw UsageError(text.str());
  }
}

void learn_places() {
  const RankPlace own = own_place();
  const std::vector<std::string> texts =
      Comm::world().all_gather(own.host + '\n' + own.gpus_seen + '\n' + std::to_string(own.threads));
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    RankPlace& place = places().emplace_back();
    std::getline(lines, place.host);
    std::getline(lines, place.gpus_seen);
    lines >> place.threads;
  }
}

}  // namespace

void begin_ranks(int argc, char** argv) {
  const auto [rank, size] = started();
  if (size <= 1) return;
  if (!Comm::is_built_in())
    refuse_once(rank, "ranks: " + std::to_string(size) +
                          " processes were started, and this tandem is built without MPI, so each would do "
                          "the same work; start one, or build with -DTANDEM_MPI=ON");
  const Comm all = Comm::start({tell, end_soon});
  if (all.is_alone())
    refuse_once(rank, "ranks: " + std::to_string(size) +
                          " processes were started, and each finds itself alone; start them with the mpirun "
                          "of the MPI that tandem was built with, or with srun --mpi=pmix");
  if (!all.is_first()) std::ignore = std::freopen("/dev/null", "w", stdout);
  learn_places();
  require_same_program(argc, argv);
}

const std::vector<RankPlace>& rank_places() {
  if (places().empty()) places().push_back(own_place());
  return places();
}

int ranks_on_this_host() {
  return neighbours([](const RankPlace& one) { return one.host == own().host; }).count;
}

int threads_of_this_rank() {
  int sum = 0;
  for (const RankPlace& place : rank_places())
    if (place.host == own().host) sum += place.threads;
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return sum > cores ? std::max(1, cores / ranks_on_this_host()) : own().threads;
}

std::vector<Device> devices_of_this_rank(const std::vector<Device>& all) {
  const auto [number, count] = neighbours(
      [](const RankPlace& one) { return one.host == own().host && one.gpus_seen == own().gpus_seen; });
  std::vector<Device> gpus;
  std::ranges::copy_if(all, std::back_inserter(gpus), [](Device device) { return device.is_cuda(); });
  if (gpus.empty() || Comm::world().is_alone()) return all;
  const auto here = int_of(gpus.size());
  if (here < count) return {gpus[number % here]};
  return {gpus.begin() + here * number / count, gpus.begin() + here * (number + 1) / count};
}

void require_same_plan(const io::Identity& identity) {
  if (Comm::world().is_alone()) return;
  std::string text;
  for (const auto& [name, value] : identity) text += name + " is " + value + '\n';
  const std::vector<std::string> all = Comm::world().all_gather(text);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::istringstream theirs(all[rank]), firsts(all[0]);
    std::string one, other;
    while (std::getline(firsts, one) && std::getline(theirs, other))
      require<GeometryError>(one == other, "ranks: on rank ", rank, " (", places()[rank].host, ") ", other,
                             ", and on rank 0 ", one,
                             "; all ranks need the same inputs and the same kind of device");
  }
}

RankLines say_ranks(const std::vector<Device>& own_devices, int threads) {
  const std::string text = joined(own_devices, ", ", [&](Device device) {
    return device.is_cuda() ? device.name() : "cpu, " + std::to_string(threads) + " threads";
  });
  RankLines lines;
  std::map<std::string, std::vector<int>> users;
  int rank = 0;
  for (const std::string& one : Comm::world().all_gather(text)) {
    const RankPlace& place = places()[rank];
    lines.devices.push_back("rank " + std::to_string(rank) + " on " + place.host + ": " + one);
    std::istringstream names(one);
    for (std::string name; std::getline(names >> std::ws, name, ',');)
      if (name.starts_with("cuda"))
        users[name + " of " + place.host + (place.gpus_seen.empty() ? "" : " (" + place.gpus_seen + ")")]
            .push_back(rank);
    ++rank;
  }
  for (const auto& [gpu, ranks] : users) {
    if (ranks.size() < 2) continue;
    lines.shared += (lines.shared.empty() ? "" : "; ") + gpu + ":";
    for (const int one : ranks) lines.shared += ' ' + std::to_string(one);
  }
  return lines;
}

void say_apart(const std::string& what) {
  const std::string text = one_line("tandem: ", what),
                    line = (::isatty(STDERR_FILENO) ? "\r\033[K" : "") + text + '\n';
  log_line(text);
  std::ignore = ::write(STDERR_FILENO, line.data(), line.size());
}

int say_failure(const std::string& what, int code) {
  const Comm all = Comm::world();
  const std::optional<int> told = all.fail(code, what);
  // a signal may come to all ranks before they know each other; then the first one says it
  const bool is_said = told || (all.is_alone() && caught_signal() != 0 && started().rank > 0);
  if (!is_said) print_error(what);
  if (all.is_alone()) return code;
  std::cout.flush();
  if (told) std::ignore = all.meet_at_the_end();
  io::clear_shared_outputs();
  // other threads may be within MPI, which must not be ended then
  ::_exit(told.value_or(code));
}

void leave_ranks() { Comm::world().leave(); }

}  // namespace tandem::apps
