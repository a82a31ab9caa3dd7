#pragma once

// Used only within operators/.

#include <vector>

#include "../linear_operator.hpp"

namespace tandem {

/// An operator between vectors on a team (`Device::team`), made from one operator for each member between its
/// shares. All members work at the same time. If the input is split and the output is copied, the output of
/// each member is a part of a sum. Then the members add up in one fixed order, and all have the same bits.
LinearOperator team_operator(Space domain, Space range, std::vector<LinearOperator> of_members);

}  // namespace tandem
