// Lanes are neighbours along x. A task has some lines of one slice; it adds up one view after the other.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/trial_slices.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../launches.hpp"
#include "../trial_slices.hpp"
#include "dispatch.hpp"
#include "tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Places = hn::RebindToSigned<Lanes>;
using Floats = hn::Vec<Lanes>;

/// A number of a view along a line of pixels.
struct AlongLine {
  float first, step;
  AlongLine(const OverSlice& all, float y) : first(all.at(0, y)), step(all.along_x) {}
  HWY_INLINE Floats at(Floats x) const {
    const Lanes d;
    return hn::MulAdd(hn::Set(d, step), x, hn::Set(d, first));
  }
};

/// What pixels see of a frame: the sum over four rows of values between two bins.
HWY_INLINE Floats seen(const Image<const float>& frames, const float* frame, Floats bin, Floats row) {
  const Lanes d;
  const Places places;
  const auto whole_bin = hn::Floor(bin), whole_row = hn::Floor(row), a = hn::Sub(bin, whole_bin),
             f = hn::Sub(row, whole_row), g = hn::Sub(hn::Set(d, 1), f), sixth = hn::Set(d, 1.0F / 6),
             most = hn::Set(d, 2.0F / 3), half = hn::Set(d, 0.5F);
  const auto outer = [&](Floats t) HWY_ATTR { return hn::Mul(hn::Mul(t, hn::Mul(t, t)), sixth); };
  const auto inner = [&](Floats t) HWY_ATTR {
    const auto square = hn::Mul(t, t);
    return hn::Sub(most, hn::NegMulAdd(hn::Mul(half, t), square, square));
  };
  const auto first = hn::Add(hn::Mul(hn::Sub(hn::ConvertTo(places, whole_row), hn::Set(places, 1)),
                                     hn::Set(places, static_cast<int>(frames.s1))),
                             hn::ConvertTo(places, whole_bin));
  auto sum = hn::Zero(d);
  const auto add = [&](const float* line, Floats weight) HWY_ATTR {
    const auto left = hn::GatherIndex(d, line, first), right = hn::GatherIndex(d, line + 1, first);
    sum = hn::MulAdd(weight, hn::MulAdd(a, hn::Sub(right, left), left), sum);
  };
  add(frame, outer(g));
  add(frame + frames.s1, inner(f));
  add(frame + 2 * frames.s1, inner(g));
  add(frame + 3 * frames.s1, outer(f));
  return sum;
}

/// Adds a view to the pixels of a line, which goes on for a vector.
void add_line(const TrialPlace& place, const Image<const float>& frames, Index view, float y, Range pixels,
              float middle, float* line) {
  const Lanes d;
  const float* frame = frames.data + view * frames.s0;
  const AlongLine bins(place.bin, y), rows(place.row, y), depths(place.depth, y);
  const auto end_of_bins = hn::Set(d, static_cast<float>(frames.n2 - 1)),
             end_of_rows = hn::Set(d, static_cast<float>(frames.n1 - 2)),
             end_of_pixels = hn::Set(d, static_cast<float>(pixels.last) - middle), one = hn::Set(d, 1);
  const Index lanes = hn::Lanes(d);
  for (Index x = pixels.first; x < pixels.last; x += lanes) {
    const auto at = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<float>(x) - middle)),
               near = hn::Div(one, depths.at(at)), bin = hn::Mul(bins.at(at), near),
               row = hn::Mul(rows.at(at), near);
    const auto inside = hn::And(hn::And(hn::And(hn::Ge(bin, hn::Zero(d)), hn::Lt(bin, end_of_bins)),
                                        hn::And(hn::Ge(row, one), hn::Lt(row, end_of_rows))),
                                hn::Lt(at, end_of_pixels));
    if (hn::AllFalse(d, inside)) continue;
    // Lanes that miss the frame look at its first cells.
    const auto value = hn::IfThenElseZero(
        inside, seen(frames, frame, hn::IfThenElseZero(inside, bin), hn::IfThenElse(inside, row, one)));
    hn::StoreU(hn::MulAdd(hn::Mul(near, near), value, hn::LoadU(d, line + x)), d, line + x);
  }
}

/// Makes some lines of a slice.
void make_lines(const TrialSlices& trials, const Image<const float>& frames, Index slice, Range lines,
                const Image<float>& slices) {
  const auto middle = static_cast<float>(0.5 * (trials.width - 1));
  const TrialPlace* places = trials.places.data() + slice / 2 * frames.n0;
  const Index stride = trials.width + static_cast<Index>(hn::Lanes(Lanes()));
  std::vector<float> sums(lines.size() * stride, 0);
  for (Index view = slice % 2; view < frames.n0; view += 2)
    for (Index line = lines.first; line < lines.last; ++line) {
      const float y = static_cast<float>(line) - middle,
                  half = std::sqrt(trials.radius * trials.radius - y * y);
      if (!(half >= 0)) continue;
      const Range pixels{std::max<Index>(0, ceil_index(middle - half)),
                         std::min(trials.width, floor_index(middle + half) + 1)};
      add_line(places[view], frames, view, y, pixels, middle, sums.data() + (line - lines.first) * stride);
    }
  for (Index line = lines.first; line < lines.last; ++line)
    std::copy_n(sums.data() + (line - lines.first) * stride, trials.width, &slices(slice, line, 0));
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

namespace {

HWY_EXPORT(make_lines);

void back_project(const TrialSlices& trials, Image<const float> frames, Image<float> slices, Stream&) {
  note_launch("trial slices");
  constexpr Index lines_a_task = 32;
  const Index tasks = ceil_div(trials.width, lines_a_task);
  parallel_for(slices.n0 * tasks, [&](Index task) {
    const Index slice = task / tasks, first = task % tasks * lines_a_task;
    TANDEM_DISPATCH(make_lines)
    (trials, frames, slice, {first, std::min(trials.width, first + lines_a_task)}, slices);
  });
}

}  // namespace

const TrialKernels trial_kernels{back_project};

}  // namespace tandem::kernels::cpu
#endif
