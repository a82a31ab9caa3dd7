#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../core/execution.hpp"
#include "../geometry/views.hpp"
#include "../kernels/bounds.hpp"
#include "../operators/linear_operator.hpp"

namespace tandem::apps {

/// The numbers by which kernels choose their form. The shapes of all pairs together make every kernel run.
struct CheckShape {
  Index slices;      ///< slices, and as many rows
  double voxel = 1;  ///< for parallel and flexible beams: width of a voxel along x and y, bins
  FootprintTuning tuning{};
};

/// A problem on which a pair is checked: a parallel beam, whose views and detector cone beams take.
struct CheckCase {
  ParallelBeam scan;
  VolumeGrid grid;
  CheckShape shape;
  Device device;
  Execution how;  ///< resolved; for pairs that can be executed in more than one way
};

struct CheckedPair {
  std::string name;
  bool matched;
  std::optional<Model> parallel{};  ///< model of its parallel-beam projector, if it has several executions
  std::optional<Model> cone{};      ///< model of its cone-beam projector
  bool filtered = false;            ///< whether it takes what the filter of FDK makes
  bool flexible = false;            ///< whether its beam is a flexible one
  std::vector<CheckShape> shapes;
  std::function<LinearOperator(const CheckCase&)> make;
};

const std::vector<CheckedPair>& checked_pairs();

/// A case of 90 views whose bins cover the diagonal of a grid with voxels of one bin. For matched pairs its
/// angles are irregular on purpose.
CheckCase check_case(const CheckedPair& pair, const CheckShape& shape, Index size, Device device);
/// A case with nine voxels along x and y, seven views and, for cone beams, at most nine slices. It is so
/// small that all entries can be compared.
CheckCase small_case(const CheckedPair& pair, const CheckShape& shape, Device device);

/// The bounds of the errors of a matched pair, from its row in the table of variants.
kernels::Bounds bounds_of(const CheckedPair& pair, const Execution& how, Device device);

/// The names of all kernels in the tables of a device.
std::vector<std::string> kernel_names(Device device);

}  // namespace tandem::apps
