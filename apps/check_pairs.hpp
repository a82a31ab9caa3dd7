#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../core/execution.hpp"
#include "../geometry/scan.hpp"
#include "../kernels/bounds.hpp"
#include "../operators/linear_operator.hpp"

namespace tandem::apps {

/// The sizes by which kernels choose their variant. The shapes of all pairs together make every kernel run.
struct CheckShape {
  Index slices;      ///< number of slices, and of detector rows
  double voxel = 1;  ///< for parallel and flexible beams: width of a voxel in x and y, in bins
  FootprintTuning tuning{};
};

/// A problem on which a pair is checked: a parallel beam; cone beams are made from its views and detector.
struct CheckCase {
  ParallelBeam scan;
  VolumeGrid grid;
  CheckShape shape;
  Device device;
  Execution how;  ///< resolved; for pairs that can be executed in more than one way
};

/// A projector and a back-projector; `matched`: whether this is the transpose of that.
struct CheckedPair {
  std::string name;
  bool matched = true;
  std::optional<Model> parallel{};  ///< model of its parallel-beam projector, if it has several executions
  std::optional<Model> cone{};      ///< model of its cone-beam projector
  bool filtered = false;            ///< whether it back-projects data of the filter of FDK
  bool flexible = false;            ///< whether its beam is a flexible one
  std::vector<CheckShape> shapes{};
  std::function<LinearOperator(const CheckCase&)> make{};
};

const std::vector<CheckedPair>& checked_pairs();

/// A case of 90 views whose bins cover the diagonal of a grid with voxels of one bin. For matched pairs its
/// angles are irregular on purpose.
CheckCase check_case(const CheckedPair& pair, const CheckShape& shape, Index size, Device device);
/// A case with nine voxels along x and y, seven views and, for cone beams, at most nine slices. It is so
/// small that all entries of the matrix can be compared.
CheckCase small_case(const CheckedPair& pair, const CheckShape& shape, Device device);

/// The bounds of the errors of a matched pair, from its row in the table of variants.
kernels::Bounds bounds_of(const CheckedPair& pair, const Execution& how, Device device);

std::vector<std::string> kernel_names(Device device);

}  // namespace tandem::apps
