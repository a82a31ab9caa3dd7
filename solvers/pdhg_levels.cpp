// How PDHG leads voxels to two levels.

#include <cmath>

#include "../core/error.hpp"
#include "../operators/vector.hpp"
#include "pdhg.hpp"

namespace tandem {

void validate(const Levels& levels) {
  require<GeometryError>(std::isfinite(levels.low) && std::isfinite(levels.high) && levels.low < levels.high,
                         "levels: ", levels.low, " and ", levels.high,
                         "; the first must be below the second");
  require<GeometryError>(levels.first_steps > 0 && levels.steps_a_stage > 0, "levels: ", levels.first_steps,
                         " steps, and ", levels.steps_a_stage, " a stage; positive numbers are needed");
  require<GeometryError>(levels.most > 0 && levels.most < 1, "levels: a concave term of ", levels.most,
                         " times the diagonal of At w A; a number between 0 and 1 is needed");
}

/// Begins a stage, if one is due. The slope of the concave term is G (low + high - 2 x).
void Pdhg::begin_stage() {
  const Levels& levels = *options_.levels;
  const int after = static_cast<int>(steps_.front()) - levels.first_steps;
  if (after < 0 || after % levels.steps_a_stage != 0 || after >= Levels::stages * levels.steps_a_stage)
    return;
  const int stages_before = after / levels.steps_a_stage;
  const auto stage = static_cast<float>(stages_before + 1);
  if (after == 0) {
    axpby(1, solution(), 0, staged_->without, stream_);
    staged_->misfits = weighted_misfits_of_solution();
  }
  std::vector<float> ends, twice;
  for (const float of_voxel : diagonal_) {
    const float most = levels.most * of_voxel * stage / Levels::stages;
    ends.push_back(most * (levels.low + levels.high)), twice.push_back(-2 * most);
  }
  fill(staged_->slope, 1, stream_);
  axpby(twice, solution(), ends, staged_->slope, stream_);
}

/// After the last stage, gives blocks back their volume without levels if levels do not fit their data.
void Pdhg::judge_levels() {
  constexpr double much = 1.2;  // volumes of two levels fitted within 1.03, in six scans of two samples
  if (static_cast<int>(steps_.front()) != options_.levels->steps()) return;
  const std::vector<double> now = weighted_misfits_of_solution();
  std::vector<float> of_levels, without;
  for (std::size_t k = 0; k < now.size(); ++k) {
    const bool fits = now[k] <= much * staged_->misfits[k];
    of_levels.push_back(fits ? 1.0f : 0.0f), without.push_back(fits ? 0.0f : 1.0f);
  }
  axpby(without, staged_->without, of_levels, x_, stream_);
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  residual_norms_ = norm(r_, stream_);
  project();
}

}  // namespace tandem
