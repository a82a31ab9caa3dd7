#pragma once

#include <optional>

#include "../../core/array.hpp"
#include "weight_search.hpp"

namespace tandem {

/// How cells of a projection lie over those of the finest problem: so many of its rows and bins each.
struct Cells {
  Index rows = 1, bins = 1;
  Index finest_bins;  ///< of a row of the finest problem
};

/// Data are held out in small patches of each view, since one alone would be too easy to predict from its
/// neighbours. Where rows are blocks of their own, a patch is of one row. Wider cells have the same patches.
struct HeldOut {
  Array weights;      ///< of the data that remain; 0 for the others
  Array only_others;  ///< sqrt(w) of the others; 0 for those that remain

  HeldOut(Array w, const Cells& cells, const WeightSearch& how);
};

struct Mean {
  double value = 0, standard_error = 0;
};

/// The mean of factor |misfit| where the factor is not zero, of the smallest three quarters. Both lie on the
/// host. Of a portion, all ranks.
Mean trimmed_mean(const Array& factors, const Array& misfit);

}  // namespace tandem
