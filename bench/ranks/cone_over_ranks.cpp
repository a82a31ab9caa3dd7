// The speed of a cone beam over ranks with one GPU each (or the CPU, if there is none):
// mpirun -n R bench_ranks [SIZE [VIEWS [LINES_AT_ONCE [STEPS]]]] [--way host|nccl]
// The first rank prints one line of JSON: milliseconds of a projection, a back-projection and a step of CGLS,
// medians over repetitions of the slowest rank, the mismatch of the pair, and what all ranks sent in a step.
// One rank alone runs the projector of one process.

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/comm.hpp"
#include "../../core/error.hpp"
#include "../../core/gpu_messages.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/distributed/rank_traffic.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/cgls.hpp"
#include "../cone_case.hpp"

namespace {

using namespace tandem;

struct Asked {
  Index size = 512, views = 512, lines_at_once = 0;
  int steps = 3;
  std::string way{};  ///< empty: the fastest
};

Asked asked(int argc, char** argv) {
  Asked found;
  std::vector<long> numbers;
  for (int k = 1; k < argc; ++k)
    if (argv[k] == std::string_view("--way") && k + 1 < argc)
      found.way = argv[++k];
    else
      numbers.push_back(std::atol(argv[k]));
  require<GeometryError>(found.way.empty() || found.way == "host" || found.way == "nccl", "--way ", found.way,
                         ": give host or nccl");
  const auto number = [&](std::size_t k, long preset) { return numbers.size() > k ? numbers[k] : preset; };
  found.size = number(0, 512);
  found.views = number(1, found.size);
  found.lines_at_once = number(2, 0);
  found.steps = static_cast<int>(number(3, 3));
  return found;
}

LinearOperator over_ranks(const Comm& ranks, const bench::ConeCase& c, const Asked& asked, Device device) {
  constexpr Model model = Model::separable_footprint;
  if (ranks.is_alone()) return projector(c.scan, c.grid, model, device);
  const auto views = portion_of_rank(views_of(c.scan), ranks.rank(), ranks.size());
  const ConeBeam own = crop(c.scan, views, {0, c.scan.detector.rows});
  return rank_projector(
      ranks, {.grid = c.grid,
              .projections = projection_space(c.scan, device).portion(0, views.first, views.last),
              .lines_at_once = asked.lines_at_once,
              .of_part = [=](const VolumeGrid& lines) { return projector(own, lines, model, device); },
              .through_host = asked.way == "host"});
}

/// The median of the times of the slowest rank, ms, without the first one.
double milliseconds(const Comm& ranks, Stream& stream, int repeat, const std::function<void()>& work) {
  std::vector<double> times;
  for (int k = 0; k <= repeat; ++k) {
    stream.synchronize();
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    work();
    stream.synchronize();
    ranks.barrier();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  times.erase(times.begin());
  std::ranges::nth_element(times, times.begin() + repeat / 2);
  return times[repeat / 2];
}

/// Adds what all ranks sent in each of some steps.
void add_traffic(const Comm& ranks, double sent_a_step, nlohmann::json& row) {
  std::array bytes{sent_a_step};
  ranks.all_reduce(bytes);
  row["sent_bytes_a_step"] = bytes[0];
  row["way"] = name_of(rank_traffic().way);
}

void measure(const Comm& ranks, const Asked& o) {
  const auto [size, views, lines_at_once, steps, way] = o;
  const std::vector<Device> here = devices();
  const Device device = here.size() < 2 ? Device::cpu() : here[1 + ranks.rank() % (here.size() - 1)];
  Stream& stream = default_stream(device);
  require<DeviceError>(way != "nccl" || GpuMessages::between(ranks, device),
                       "--way nccl: this build has no NCCL, or not each rank has a GPU of its own");
  const bench::ConeCase c(size, views);
  const LinearOperator A = over_ranks(ranks, c, o, device);
  Array x(A.domain()), b(A.range()), y(A.range());
  fill(x, 1, stream), fill(b, 1, stream);
  nlohmann::json row = {{"ranks", ranks.size()},
                        {"device", description(device)},
                        {"size", size},
                        {"views", views},
                        {"lines_at_once", lines_at_once}};
  row["forward_ms"] = milliseconds(ranks, stream, steps, [&] { A.apply(1, x, 0, y, stream); });
  row["backward_ms"] = milliseconds(ranks, stream, steps, [&] { A.apply_adjoint(1, b, 0, x, stream); });
  constexpr Index most = 512;  // random numbers of larger vectors take minutes
  if (size <= most) row["mismatch"] = adjointness(A, 2).mismatch;
  fill(x, 0, stream);
  Cgls solver(A, b, std::move(x));
  const ActiveBlocks active(A.domain().block_count(), true);
  const double before = rank_traffic().sent;
  row["cgls_step_ms"] = milliseconds(ranks, stream, steps, [&] { solver.step(active); });
  add_traffic(ranks, (rank_traffic().sent - before) / (steps + 1), row);
  if (ranks.is_first()) std::cout << row.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const bool several = std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE");
  const Comm ranks =
      several ? Comm::start({[](const auto& failures) { std::cerr << failures.front().text << '\n'; },
                             [](int code) { ::_exit(code); }})
              : Comm();
  try {
    measure(ranks, asked(argc, argv));
  } catch (const std::exception& error) {
    if (!ranks.fail(1, error.what())) std::cerr << error.what() << '\n';
    return 1;
  }
  ranks.leave();
}
