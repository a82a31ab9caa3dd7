#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "regulariser.hpp"

namespace TANDEM_PUBLIC tandem {

/// A weight of a regulariser, and how far its solution is from data that it has not seen.
struct WeightTrial {
  double weight, error;
  double uncertainty;  ///< of the error: the standard error of a mean over so many data
};

struct WeightSearch {
  double share = 0.125;   ///< of the data are held out, in (0, 1)
  Index together = 8;     ///< neighbours along a row, and rows of one block, that are held out together
  int most_steps = 300;   ///< for one weight
  double settled = 0.01;  ///< an error changes by less in 20 steps; what it is known to, at best
  Bounds bounds{};
  unsigned seed = 1;
};

struct WeightFound {
  float weight = 0;
  std::vector<WeightTrial> trials;  ///< from the largest weight on
};

/// Chooses the weight W of `Pdhg` from the data alone, by cross-validation: some of the data are held out,
/// and the rest are solved for one W after another, each half of the last, until those held out are predicted
/// worse again. The error is the mean of sqrt(w) |b - Ax| over the three quarters of them
/// where it is smallest: the others are of edges, which voxels do not resolve whatever W is. Of all W whose
/// errors cannot be told from the least one, the largest is taken, as data forgive noise that a volume shows:
/// those within its standard error, or within what the steps leave of it. There is one W for all blocks. It
/// needs the memory of Pdhg, and on the host that of two projections. `observe` is called after each W.
/// Source: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2009, section 7.10 (the rule
/// of one standard error). There are no trials, and the weight is 0, if all that the data ask for is flat:
/// then no weight changes anything. @throws as Pdhg; GeometryError for a share that is not in (0, 1)
WeightFound find_weight(const LinearOperator& A, Array b, const Array& x, const Regulariser& regulariser,
                        std::optional<Array> data_weights = {}, const WeightSearch& how = {},
                        const std::function<void(const WeightTrial&)>& observe = {});

}  // namespace tandem
