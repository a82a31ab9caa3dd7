// Speed of a cone beam over ranks, one GPU each (or the CPU, where there is none):
// mpirun -n R bench_ranks [SIZE [VIEWS [LINES_AT_ONCE [STEPS]]]]
// The first rank prints one line of JSON: milliseconds of a projection, a back-projection and a step of CGLS,
// medians over repetitions of the slowest rank, and the mismatch of the pair. One rank alone runs the
// projector of one process.

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <nlohmann/json.hpp>

#include "../../core/comm.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/rank_projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/cgls.hpp"
#include "../cone_case.hpp"

namespace {

using namespace tandem;

LinearOperator over_ranks(const Comm& ranks, const bench::ConeCase& c, Index lines_at_once, Device device) {
  constexpr Model model = Model::separable_footprint;
  if (ranks.is_alone()) return projector(c.scan, c.grid, model, device);
  const auto views = portion_of_rank(static_cast<Index>(c.scan.angles.size()), ranks.rank(), ranks.size());
  const ConeBeam own = crop(c.scan, views, {0, c.scan.detector.rows});
  return rank_projector(
      ranks, {.grid = c.grid,
              .projections = projection_space(c.scan, device).portion(0, views.first, views.last),
              .lines_at_once = lines_at_once,
              .of_part = [=](const VolumeGrid& lines) { return projector(own, lines, model, device); }});
}

/// Median of the time that the slowest rank takes, ms; without the first.
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
  return times[static_cast<std::size_t>(repeat / 2)];
}

void measure(const Comm& ranks, Index size, Index views, Index lines_at_once, int steps) {
  const std::vector<Device> here = devices();
  const Device device = here.size() < 2 ? Device::cpu() : here[1 + ranks.rank() % (here.size() - 1)];
  Stream& stream = default_stream(device);
  const bench::ConeCase c(size, views);
  const LinearOperator A = over_ranks(ranks, c, lines_at_once, device);
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
  const ActiveBlocks active(static_cast<std::size_t>(A.domain().block_count()), true);
  row["cgls_step_ms"] = milliseconds(ranks, stream, steps, [&] { solver.step(active); });
  if (ranks.is_first()) std::cout << row.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int k, long preset) { return argc > k ? std::atol(argv[k]) : preset; };
  const bool several = std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE");
  const Comm ranks =
      several ? Comm::start({[](const auto& failures) { std::cerr << failures.front().text << '\n'; },
                             [](int code) { ::_exit(code); }})
              : Comm();
  try {
    const Index size = number(1, 512);
    measure(ranks, size, number(2, size), number(3, 0), static_cast<int>(number(4, 3)));
  } catch (const std::exception& error) {
    std::cerr << "bench_ranks: " << error.what() << '\n';
    ranks.fail(1, error.what());
    return 1;
  }
  ranks.leave();
}
