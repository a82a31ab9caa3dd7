#include "curve_watch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "../../core/comm.hpp"
#include "../plan/grids.hpp"
#include "../watch/truth.hpp"

namespace tandem::pipeline {

namespace {

/// The slice that is looked at: the middle one, unless somebody wants another one of these.
Index looked_at(const Work& work, Range slices) {
  const Index middle = slices.first + slices.size() / 2;
  const Index wanted = work.beside.onlooker ? work.beside.onlooker->slice.value_or(middle) : middle;
  return slices.first <= wanted && wanted < slices.last ? wanted : middle;
}

}  // namespace

CurveWatch::CurveWatch(Work& work, Range slices, CurveSums& sums, LiveView& live)
    : work_(work),
      local_(first_written(work.plan.job, slices) + looked_at(work, slices) - slices.first),
      z_(looked_at(work, slices)),
      sums_(sums),
      live_(live),
      shows_(of_first(work.plan.flow.shared.vectors, live_.looks())) {}

/// The pixels of a slice of the solver that are written.
std::vector<float> CurveWatch::written(std::vector<float> slice) const {
  const Plan& plan = work_.plan;
  if (slice.empty() || plan.job.solved.size == plan.job.grid.size) return slice;
  Array solved(Space({1, plan.job.solved.size[1], plan.job.solved.size[0]}));
  std::ranges::copy(slice, solved.data());
  const Array part = cut_out(plan.job, 0, 1, std::move(solved));
  return {part.data(), part.data() + part.size()};
}

void CurveWatch::take(AnySolver& solver, std::vector<float>& slice) {
  const ConstVectorView x = ConstVectorView(solver.solution()).share(0);
  const auto [nz, ny, nx] = x.space.shape();
  const Index area = nx * ny;
  const float* there = x.data + local_ * area;
  slice.resize(area);
  if (const Device device = x.space.device(); device.is_cuda() && area > 0)
    work_.copy_to(reinterpret_cast<std::byte*>(slice.data()),
                  {there, Space({1, ny, nx}, Blocks::whole, device)}, 4 * area);
  else
    std::copy_n(there, area, slice.data());
  slice = work_.plan.flow.shared.vectors.gather(slice);  // strips of ranks follow one another along y
  slice = written(std::move(slice));
}

/// Shows the middle slice to people who watch, at most once a second.
void CurveWatch::show(int iteration, AnySolver& solver) {
  if (!shows_ || !of_first(work_.plan.flow.shared.vectors, live_.due())) return;
  std::vector<float> slice;
  take(solver, slice);
  if (!live_.looks()) return;
  const auto [nx, ny, nz] = work_.plan.job.grid.size;
  const int all = *work_.plan.job.options.iterations;
  live_.show({{"iterate", z_, nz, shrunk(slice, nx, ny),
               "iteration " + std::to_string(iteration) + " of " + std::to_string(all)}});
}

void CurveWatch::look(int iteration, AnySolver& solver) {
  if (iteration > 0) show(iteration, solver);
  if (!work_.beside.curves) return;
  std::swap(before_, now_);
  take(solver, now_);
  if (iteration > sums_.changes.last() && !before_.empty()) {
    double change = 0, size = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const double d = double{now_[i]} - before_[i];
      change += d * d;
      size += double{now_[i]} * now_[i];
    }
    sums_.changes.add(iteration, change);
    sums_.sizes.add(iteration, size);
  }
  if (is_due(iteration, sums_.errors)) compare(iteration);
  if (is_rarely_due(iteration)) ask(iteration, solver);
}

void CurveWatch::finish(int iteration, AnySolver& solver) {
  if (!work_.beside.curves) return;
  compare(iteration);
  ask(iteration, solver);
}

void CurveWatch::compare(int iteration) {
  if (!work_.beside.truth || iteration == sums_.errors.last()) return;
  const Quality quality = work_.beside.truth->compared(z_, now_.data());
  const double error = quality.rmse / work_.beside.truth->range();
  sums_.errors.add(iteration, error * error);
  sums_.similarities.add(iteration, quality.ssim);
}

void CurveWatch::ask(int iteration, AnySolver& solver) {
  if (iteration <= sums_.objective.last()) return;
  const std::vector<double> objective = solver.objective();
  if (objective.empty()) return;
  ++applications_;
  sums_.objective.add(iteration, std::accumulate(objective.begin(), objective.end(), 0.0));
}

namespace {

/// A function of two curves that have the same iterations.
Curve combined(const Curve& a, const Curve& b, double (*of)(double, double)) {
  Curve all = a;
  std::transform(a.values.begin(), a.values.end(), b.values.begin(), all.values.begin(), of);
  return all;
}

Curve scaled(Curve curve, const std::function<double(double)>& scale) {
  for (double& value : curve.values) value = scale(value);
  return curve;
}

}  // namespace

Curves curves_of(const std::vector<Iterated>& chunks) {
  const auto sum = [&](Curve CurveSums::*which) {
    std::vector<const Curve*> some;
    for (const Iterated& chunk : chunks) some.push_back(&(chunk.curves.*which));
    return sum_of(some);
  };
  const double count = chunks.size();
  Curves all;
  all.change = combined(sum(&CurveSums::changes), sum(&CurveSums::sizes),
                        [](double change, double size) { return size > 0 ? std::sqrt(change / size) : 0; });
  all.objective = sum(&CurveSums::objective);
  all.psnr =
      scaled(sum(&CurveSums::errors), [&](double squares) { return -10 * std::log10(squares / count); });
  all.ssim = scaled(sum(&CurveSums::similarities), [&](double similarity) { return similarity / count; });
  if (!all.change.iterations.empty() || !all.psnr.iterations.empty() || !all.objective.iterations.empty())
    for (const Iterated& chunk : chunks) all.slices.push_back(chunk.slices.first + chunk.slices.size() / 2);
  return all;
}

}  // namespace tandem::pipeline
