#pragma once

#include <functional>

#include "../geometry/beams/parallel.hpp"
#include "../kernels/ramp.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// How the rows of the detector `own` are continued on the detector `wide`, which has the same axis. A
/// transform of this length begins with the first bin of `wide`, and it is cyclic. The ramp of a padded row
/// must not see its continuation a second time, from the other side of the circle. So the continuation is not
/// the taper itself. It is the row whose ramp on the circle is equal to the ramp of the taper on the
/// unbounded line. Lengths are those of `wide`, so that half acquisitions are continued like whole scans.
/// Used only within operators/.
kernels::Continuation continuation(const Filter& filter, const Detector& own, const Detector& wide,
                                   Index length);

/// The values at 1, 2, ... bins behind the end of a row that ends with the value one.
std::vector<double> taper(Padding padding, Index bins);

/// How many bins a taper has on the detector `wide`. @throws GeometryError for fewer than none
Index bins_of_taper(const Filter& filter, const Detector& wide);

/// The bin of `wide` where the rows of `own` begin.
Index first_bin_of(const Detector& own, const Detector& wide);

/// The part of F before the ramp for a half acquisition: it weighs rays, and adds bins. Rows with their own
/// axis stay where they are.
LinearOperator weigh_rays(const ParallelBeam& scan, Device device);

/// The continuation for a scan whose rows come as they were measured. It has the weights of the rays just
/// beyond the ends of a row.
kernels::Continuation continuation(const Filter& filter, const ParallelBeam& scan, Index length);

/// The continuation for rows that `weigh_rays` made.
kernels::Continuation continuation_of_weighed_rows(const Filter& filter, const ParallelBeam& scan,
                                                   Index length);

/// Multiplies the weights of bins in the end values by factor(row, end, bin), for `rows` rows. If this is 1,
/// the row stands for all rows.
void weigh_ends(kernels::Continuation& beyond, Index rows,
                const std::function<float(Index row, int end, Index bin)>& factor);

/// The continuation for rows that are moved and not filtered: the taper itself times the last value of a row.
kernels::Continuation continuation_of_moved(Padding padding, Index bins, Index first, Index length);

}  // namespace tandem
