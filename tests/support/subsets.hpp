#pragma once

#include <utility>
#include <vector>

#include "../../operators/projector.hpp"
#include "../../operators/subsets.hpp"

namespace tandem::test {

/// The projector of a scan, pixel-driven or with footprints, in so many subsets.
template <class Beam>
Subsets subsets_of(const Beam& scan, const VolumeGrid& grid, Index count) {
  auto views = view_subsets(scan.angles, Beam::period, count);
  std::vector<LinearOperator> parts;
  for (const auto& some : views) parts.push_back(projector(std::get<Beam>(with_views(scan, some)), grid));
  return {std::move(parts), std::move(views)};
}

}  // namespace tandem::test
