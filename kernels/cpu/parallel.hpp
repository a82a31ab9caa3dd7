#pragma once

#include "../parallel.hpp"

namespace tandem::kernels::cpu {

void parallel_forward(const ParallelViews& views, Execution how, float alpha, Image<const float> volume,
                      float beta, Image<float> projections, Stream& stream);
void parallel_backward(const ParallelViews& views, Execution how, float alpha, Image<const float> projections,
                       float beta, Image<float> volume, Stream& stream);
std::vector<std::string> parallel_names(Device device);
WorkingMemory working_memory(Execution how, Shape volume, Shape projections, Device device);

}  // namespace tandem::kernels::cpu
