#pragma once

#include "tables.hpp"

namespace tandem::kernels::cuda {

/// The samples that meet each block of cells. `reach` of columns says where samples can meet a cell.
void add_lists(const FourierPlan& plan, const std::vector<int>& reach, FourierTables& tables,
               const KeptOnDevices::Streams& streams);

}  // namespace tandem::kernels::cuda
