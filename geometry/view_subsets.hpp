#pragma once

#include <span>
#include <vector>

#include "../core/public.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// Deals the views of a scan out to subsets, each of which sees the object from all around: every `count`-th
/// one of the views in their order (`order_of_views`). Sizes differ by one at the most. Subsets come in the
/// order in which to go through them: by the golden ratio, so that each one turns far from those just before
/// it. Source of the order: Koehler, IEEE NSS/MIC 2004. @throws GeometryError unless 1 <= count <= views
std::vector<std::vector<Index>> view_subsets(const Scan& scan, Index count);
/// The same for views in the order of their angles, modulo `period` (rad).
std::vector<std::vector<Index>> view_subsets(std::span<const double> angles, double period, Index count);

/// The scan with these of its views, in this order.
Scan with_views(Scan scan, std::span<const Index> views);

}  // namespace tandem
