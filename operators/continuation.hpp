#pragma once

#include <functional>

#include "../geometry/beams/parallel.hpp"
#include "../kernels/ramp.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// How the rows of a detector go on, which lies within another one: both have the same axis, and a transform
/// of this length begins with the first bin of the wide one. Used only within operators/. The ramp of the
/// padded row must not meet what it goes on with a second time, from the other side of the circle. So the
/// shapes are not the tapers themselves, but those rows of the whole circle of which its ramp is what the
/// ramp of the unbounded line makes of the tapers. Lengths are those of the wide detector, so that half
/// acquisitions go on as whole scans do.
kernels::Continuation continuation(const Filter& filter, const Detector& own, const Detector& wide,
                                   Index length);

/// How many bins the rows of `own` begin after those of `wide`.
Index first_bin_of(const Detector& own, const Detector& wide);

/// What F does to the rays of a half acquisition before the ramp: weighs them, and adds bins. Rows with an
/// axis of their own stay where they are.
LinearOperator weigh_rays(const ParallelBeam& scan, Device device);

/// That of a scan whose rows come as they were measured: what they go on with counts as rays do that pass
/// just beyond their ends.
kernels::Continuation continuation(const Filter& filter, const ParallelBeam& scan, Index length);

/// The same for rows that `weigh_rays` made.
kernels::Continuation continuation_of_weighed_rows(const Filter& filter, const ParallelBeam& scan,
                                                   Index length);

/// Multiplies what the bins of so many rows count in end values by factor(row, end, bin). One row stands for
/// all.
void weigh_ends(kernels::Continuation& beyond, Index rows,
                const std::function<float(Index row, int end, Index bin)>& factor);

}  // namespace tandem
