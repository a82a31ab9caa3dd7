#pragma once

#include "hierarchical.hpp"

namespace tandem::kernels {

/// Makes the tree of groups of views, with the planes and the numbers that each of them needs: `n` has all
/// the rest.
void make_groups(const ConeBeam& scan, Grouping grouping, HierarchicalViews& n);

}  // namespace tandem::kernels
