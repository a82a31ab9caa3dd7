#include "start.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "../../core/spelled.hpp"
#include "../../operators/coverage.hpp"
#include "../../operators/vector.hpp"
#include "../plan/grids.hpp"
#include "written_volume.hpp"

namespace tandem::pipeline {

void clear_unseen(const LinearOperator& A, const Array& y, Array& x) {
  constexpr std::array shares{0.95, 0.8, 0.45};  // parts of the usual coverage
  Stream& stream = default_stream(x.space().device());
  const Coverage coverage(A);
  Array r(A.range(), stream);
  const auto misfits = [&](const Array& of) {
    axpby(1, y, 0, r, stream);
    A.apply(-1, of, 1, r, stream);
    return dot(r, r, stream);
  };
  std::vector<double> least = misfits(x);
  std::vector<float> take(least.size()), keep(least.size());
  for (const double share : shares) {
    Array cleared = coverage.above(share);
    multiply(x, cleared, stream);
    const std::vector<double> now = misfits(cleared);
    for (std::size_t k = 0; k < now.size(); ++k) {
      take[k] = now[k] < least[k] ? 1 : 0, keep[k] = 1 - take[k];
      least[k] = std::min(least[k], now[k]);
    }
    axpby(take, cleared, keep, x, stream);
    if (std::ranges::count(keep, 0.0f) == std::ssize(keep)) return;  // smaller shares clear nothing more
  }
}

Start::Start(Work& work) : work_(work), fbp_(work, work.plan.job.options.fbp_filter) {
  const Recipe& options = work.plan.job.options;
  if (options.initial == Initial::file)
    file_ = open_on_grid(work.plan.job.place(), options.initial_file, spelled("initial"), work.any_external);
}

Array Start::operator()(const Problem& problem, const Array& y, Range slices) {
  const bool given = work_.beside.onlooker && !work_.beside.onlooker->start.empty();
  if (!given && work_.plan.job.options.initial == Initial::fbp) return fbp(problem, y, slices);
  if (!given && !file_) return Array(problem.A.domain());
  Array x(problem.A.domain().on(Device::cpu()));
  read_into(
      work_, slices, [this](Range some, float* to) { read_written(some, to); }, 0, x);
  return work_.moved_to(work_.device(), std::move(x));
}

Array Start::fbp(const Problem& problem, const Array& y, Range slices) {
  Array x = fbp_.back_projected(problem, fbp_.filtered(problem, y.clone()), slices);
  if (!has_row_axes(problem.scan)) clear_unseen(problem.A, y, x);  // else A has other rows
  return x;
}

/// Reads the initial volume from the onlooker or the file.
void Start::read_written(Range slices, float* to) {
  const Onlooker* onlooker = work_.beside.onlooker;
  if (!onlooker || onlooker->start.empty()) return file_->read(slices, to);
  const Index area = work_.plan.job.grid.size[0] * work_.plan.job.grid.size[1];
  std::copy_n(onlooker->start.data() + slices.first * area, slices.size() * area, to);
}

}  // namespace tandem::pipeline
