// Level rows: a thread has a level cell.

#include "../../launches.hpp"
#include "../../level.hpp"
#include "../common/device_table.cuh"
#include "../common/elements.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128;

__global__ void __launch_bounds__(threads)
    take_level(const LevelView* __restrict__ views, Image<const float> in, Image<float> level) {
  for_own_elements(level, [&](Index v, Index row, Index bin) {
    element(level, v, row, bin) =
        level_cell(views[v], in.n1, in.n2, row, bin, [&](Index r, Index b) { return element(in, v, r, b); });
  });
}

void level_views(const LevelViews& views, Image<const float> in, Image<float> level, Stream& stream) {
  note_launch("level views");
  const auto list = views_on_device(views, stream);
  take_level<<<blocks_of_elements(level, threads), threads, 0, queue(stream)>>>(list->data(), in, level);
  after_launch();
}

}  // namespace

const LevelKernels level_kernels{level_views, nullptr};

}  // namespace tandem::kernels::cuda
