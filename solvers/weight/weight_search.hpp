#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "../../core/public.hpp"
#include "../../operators/linear_operator.hpp"
#include "../bounds.hpp"
#include "../regulariser.hpp"

namespace TANDEM_PUBLIC tandem {

/// A weight of a regulariser, and how far its solution is from data that it has not seen.
struct WeightTrial {
  double weight, error;
  double uncertainty;  ///< of the error: the standard error of a mean over so many data
  Index wider = 1;     ///< how many times as wide as those of the problem the voxels of this trial are
};

struct WeightSearch {
  double share = 0.125;   ///< of the data are held out, in (0, 1)
  Index together = 8;     ///< neighbours along a row, and rows of one block, that are held out together
  int most_steps = 300;   ///< for one weight, from zero
  double settled = 0.01;  ///< an error changes by less in 20 steps; what it is known to, at best
  Bounds bounds{};
  unsigned seed = 1;
};

/// The same problem in voxels and cells twice as wide: cell k of a row is the mean of cells 2k and 2k + 1,
/// and so for rows, where there are several; voxel k along x lies over voxels 2k and 2k + 1, and so along y,
/// and along z where there are several slices that are one block. What has no partner at the end of a row is
/// left out. `weights_times` makes weights of these voxels of those of voxels half as wide
/// (`weights_times_of`).
struct CoarserProblem {
  LinearOperator A;
  Regulariser regulariser;
  double weights_times = 1;
};

/// How weights go with the width of voxels h and cells s, so that both problems have one continuous form. Per
/// area, there are 1 / s data a dimension of the detector, so the misfit of one weight w a datum falls to 1/2
/// for each that is binned. The variation sums differences h |dx| of voxels, so it is the integral of |dx|
/// times h / h^n, and falls to 1/2^(n - 1) where n dimensions are wider. For slices and fans (1 and 2) and
/// for cones (2 and 3) the weight is the same.
double weights_times_of(int detector_dimensions, int volume_dimensions);

struct WeightFound {
  float weight = 0;
  std::vector<WeightTrial> trials;  ///< in their order
  double applications = 0;          ///< of A or its adjoint; those of wider voxels count by the voxels
};

/// What a search with three coarser problems usually takes.
constexpr double usual_applications_of_search = 300;

/// Is called after every 20 steps with the trial, and with the applications of A until then.
using ObserveTrial = std::function<void(const WeightTrial&, double applications)>;

/// Chooses the weight W of `Pdhg` from the data alone, by cross-validation: some of the data are held out,
/// and the rest are solved for one W after another. The error is the mean of sqrt(w) |b - Ax| over the three
/// quarters of the data held out where it is smallest: the others are of edges, which voxels do not resolve
/// whatever W is. Errors between trials are interpolated over log W. Of all W whose errors cannot be told
/// from the least one, the largest would do, as data forgive noise that a volume shows: those within its
/// standard error, or within what the steps leave of it. The result is this W over 1.5. There is one W for
/// all blocks.
///
/// Where there are coarser problems (`coarser`, each twice as coarse as the one before), W is halved from a
/// large one on in the coarsest, until errors no longer fall. Each finer one begins at the volume and the
/// dual variables of the one before, and tries two W beside what that one found, where its own errors change
/// the curve: at most 100 steps. Without coarser problems all is done in the one at hand.
///
/// It needs the memory of Pdhg with a volume more, and on the host that of two projections. Source: Hastie,
/// Tibshirani, Friedman, The Elements of Statistical Learning, 2009, section 7.10 (the rule of one standard
/// error). There are no trials, and the weight is 0, if all that the data ask for is flat: then no weight
/// changes anything; and if floats do not hold the squares of its differences. @throws as Pdhg; GeometryError
/// for a share that is not in (0, 1); SpaceError if a coarser problem has other sizes
WeightFound find_weight(const LinearOperator& A, Array b, const Array& x, const Regulariser& regulariser,
                        std::optional<Array> data_weights = {}, const WeightSearch& how = {},
                        const std::vector<CoarserProblem>& coarser = {}, const ObserveTrial& observe = {});

}  // namespace tandem
