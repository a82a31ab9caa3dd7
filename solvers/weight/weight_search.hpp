#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "../../operators/linear_operator.hpp"
#include "../bounds.hpp"
#include "../regulariser.hpp"

namespace tandem {

/// A weight of a regulariser, and the distance of its solution from data that it has not seen.
struct WeightTrial {
  double weight, error;
  double uncertainty;  ///< standard error of `error`, which is a mean over data
  Index wider = 1;     ///< width of the voxels of this trial, in voxels of the problem
};

struct WeightSearch {
  double share = 0.125;   ///< share of the data that is held out, in (0, 1)
  Index together = 8;     ///< neighbours along a row, and rows of one block, that are held out together
  int most_steps = 300;   ///< most steps for one weight, from zero
  double settled = 0.01;  ///< an error that changes by less in 20 steps is settled; its least uncertainty
  Bounds bounds{};
  unsigned seed = 1;
};

/// The same problem in voxels and cells that are twice as wide. Cell k of a row is the mean of cells 2k and
/// 2k + 1, and likewise for rows, if there are several. Voxel k along x covers voxels 2k and 2k + 1, and
/// likewise along y, and along z if there are several slices that are one block. A last cell without a
/// partner is left out. `weights_times` is the factor from weights of voxels half as wide to weights of these
/// voxels (`weights_times_of`).
struct CoarserProblem {
  LinearOperator A;
  Regulariser regulariser;
  double weights_times = 1;
};

/// The factor of weights if voxels (width h) and cells (width s) become twice as wide, so that both problems
/// approximate the same continuous one. There are 1 / s data per length for each dimension of the detector,
/// so the misfit falls to 1/2 for each dimension that is binned. The variation sums differences h |dx| of
/// voxels. So it is the integral of |dx| times h / h^n, and falls to 1/2^(n - 1) if n dimensions become
/// wider. For slices and fans (1 and 2) and for cones (2 and 3) the weight stays the same.
double weights_times_of(int detector_dimensions, int volume_dimensions);

struct WeightFound {
  float weight = 0;
  std::vector<WeightTrial> trials;  ///< trials in the order in which they were made
  double applications = 0;          ///< applications of A or At; with wider voxels, by the number of voxels
};

/// The applications that a search with three coarser problems usually takes.
constexpr double usual_applications_of_search = 300;

/// A function that is called after every 20 steps with the trial, and with the applications of A until then.
using ObserveTrial = std::function<void(const WeightTrial&, double applications)>;

/// Chooses the weight W of `Pdhg` from the data alone, by cross-validation. Some of the data are held out,
/// and the rest are solved for one W after another. The error is the mean of sqrt(w) |b - Ax| over the three
/// quarters of the data held out where it is smallest; the others are at edges, which voxels do not resolve
/// for any W. Errors between trials are interpolated over log W. Several W have errors that are not
/// significantly above the least error: they are within its standard error, or within `settled`. The largest
/// of these would be right, since the data tolerate noise that a volume shows. The result is this W divided
/// by 1.5. There is one W for all blocks.
///
/// If there are coarser problems (`coarser`, each twice as coarse as the one before), the search begins in
/// the coarsest one with a large W, and halves it until errors no longer fall. Each finer problem begins at
/// the volume and the dual variables of the coarser one. It tries two W near the result of that one, in at
/// most 100 steps, and its own errors change the curve. Without coarser problems the whole search is done in
/// the given one.
///
/// It needs the memory of Pdhg with one more volume, and the memory of two projections on the host. Source:
/// Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2009, section 7.10 (the rule of one
/// standard error). There are no trials, and the weight is 0, if the data ask for a flat volume, since then
/// no weight changes anything, or if floats cannot hold the squares of its differences. @throws as Pdhg;
/// GeometryError for a share that is not in (0, 1); SpaceError if a coarser problem has other sizes
WeightFound find_weight(const LinearOperator& A, Array b, const Array& x, const Regulariser& regulariser,
                        std::optional<Array> data_weights = {}, const WeightSearch& how = {},
                        const std::vector<CoarserProblem>& coarser = {}, const ObserveTrial& observe = {});

}  // namespace tandem
