#pragma once

#include "../../core/array.hpp"
#include "weight_search.hpp"

namespace tandem {

/// The size of a cell of a projection, in rows and bins of the finest problem.
struct Cells {
  Index rows = 1, bins = 1;
  Index finest_bins;  ///< bins of a row of the finest problem
};

/// Data that are held out, and the others. They are held out in small patches of each view, since a single
/// datum would be too easy to predict from its neighbours. If rows are separate blocks, a patch has one row.
/// Wider cells have the same patches.
struct HeldOut {
  Array weights;      ///< weights w of the data that remain; 0 for data that are held out
  Array only_others;  ///< sqrt(w) of data that are held out; 0 for data that remain

  HeldOut(Array w, const Cells& cells, const WeightSearch& how);
};

struct Mean {
  double value = 0, standard_error = 0;
};

/// The mean of the smallest three quarters of factor |misfit|, where the factor is not zero. Both lie on the
/// host. Collective if they are portions.
Mean trimmed_mean(const Array& factors, const Array& misfit);

}  // namespace tandem
