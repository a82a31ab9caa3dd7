#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "regulariser.hpp"

namespace tandem {

/// A weight of a regulariser, and how far its solution is from a volume of data that it has not seen.
struct WeightTrial {
  double weight, error;
};

struct WeightFound {
  float weight = 0;
  std::vector<WeightTrial> trials;  ///< in the order in which they were made
  double applications = 0;          ///< how often A or At was applied
};

/// The applications that a search usually takes.
constexpr double usual_applications_of_search = 115;

/// A function that is called after each trial, and with the applications of A until then.
using ObserveTrial = std::function<void(const WeightTrial&, double applications)>;

/// Volumes that a linear method, as FBP, makes of two halves of the views.
struct OfHalves {
  Array first, second;
  /// What the method makes of projections of x in the second half, minus what it makes of those in all views:
  /// the aliases that half of the views have and all have not. Empty: there are enough views.
  std::function<Array(const Array& x)> aliases = {};
  /// Whether views lack a large part of the turn. Then both volumes lack the same, which solutions do not.
  bool lack_a_part = false;
};

/// Chooses the weight W of `Pdhg` for all views, from two halves of them, by cross-validation. The equations
/// A x = b are those of the first half. The error of W is the root of the mean square of x - v, where x is
/// the solution for W, and v the volume of the second half, less aliases of a solution. It is taken over
/// voxels that nearly all views see. As noise of the halves is independent, the mean square is that of the
/// error of x, and a number that does not depend on W. What both halves have, as shadows of a hardened beam,
/// blur and rings, counts as the object, and no W is better for it.
///
/// The first W is 16 h |d|^2 / g(Kd), where d = (first - second) / sqrt(2) is the noise of a half, and h the
/// mean of the diagonal of At w A. For total variation that is about 9 h sigma, where sigma is the standard
/// deviation of d, and the best W of 33 scans was 0.7 to 9 times h sigma (docs/kernels/weight.md). Each W
/// after it is half of the one before, until the error rises. The result is at the vertex of the parabola
/// through the least error and the two beside it, over log W; or the first W, if errors rise from there.
/// Noise in At w b grows as the root of the number of views, so for all views W is sqrt(2) times that for
/// half of them, and so are the weights of the trials. There is one W for all blocks. There are no trials,
/// and the weight is 0, if there is no noise, or if floats cannot hold the squares of differences.
///
/// Where views lack a large part of the turn, there are no trials either, and W is 0.3 times the first one.
/// For arcs of 30 to 90 degrees of two measured discs, with levels, 0.2 to 0.5 times came nearest to their
/// segmentation.
///
/// It needs the memory of Pdhg, and four more volumes. Sources: Hastie, Tibshirani, Friedman, The Elements of
/// Statistical Learning, 2009, section 7.10; volumes of parts of the views: Hendriksen, Pelt, Batenburg, IEEE
/// Transactions on Computational Imaging 6, 2020. @throws as Pdhg
WeightFound find_weight(const LinearOperator& A, Array b, OfHalves halves, const Regulariser& regulariser,
                        std::optional<Array> data_weights = {}, const Bounds& bounds = {},
                        const ObserveTrial& observe = {});

}  // namespace tandem
