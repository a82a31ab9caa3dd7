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

/// What kernels choose their form by. Together the shapes of all pairs make every kernel run.
struct CheckShape {
  Index slices;      ///< and rows
  double voxel = 1;  ///< along x and y, bins; of parallel beams
  FootprintTuning tuning{};
};

/// One problem that a pair is checked on: a parallel beam, from which cone beams have views and detector.
struct CheckCase {
  ParallelBeam scan;
  VolumeGrid grid;
  CheckShape shape;
  Device device;
  Execution how;  ///< resolved; of pairs that can be executed in more than one way
};

struct CheckedPair {
  std::string name;
  bool matched;
  std::optional<Model> parallel{};  ///< of the projector in it, which can be executed in more than one way
  std::optional<Model> cone{};      ///< of the cone beam's projector in it
  bool filtered = false;            ///< behind FDK's filter
  std::vector<CheckShape> shapes;
  std::function<LinearOperator(const CheckCase&)> make;
};

const std::vector<CheckedPair>& checked_pairs();

/// A case of 90 views, irregular on purpose for matched pairs, whose bins cover the diagonal of voxels of a
/// bin.
CheckCase check_case(const CheckedPair& pair, const CheckShape& shape, Index size, Device device);
/// One of nine voxels along x and y, seven views and at most nine slices of cone beams, for all entries.
CheckCase small_case(const CheckedPair& pair, const CheckShape& shape, Device device);

/// What a matched pair may be off by, from its row in the table of variants.
kernels::Bounds bounds_of(const CheckedPair& pair, const Execution& how, Device device);

/// All names of kernels in the tables of operators of a device.
std::vector<std::string> kernel_names(Device device);

}  // namespace tandem::apps
