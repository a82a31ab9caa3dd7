#include "../level.hpp"

#include <vector>

#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "tables.hpp"
#include "update.hpp"

namespace tandem::kernels::cpu {

namespace {

void level_views(const LevelViews& views, Image<const float> in, Image<float> level, Stream&) {
  note_launch("level views");
  parallel_for(level.n0 * level.n1, [&](Index line) {
    const Index v = line / level.n1, row = line % level.n1;
    const LevelView& view = views.views[v];
    for (Index bin = 0; bin < level.n2; ++bin)
      level(v, row, bin) =
          level_cell(view, in.n1, in.n2, row, bin, [&](Index r, Index b) { return in(v, r, b); });
  });
}

void give_level_back(const LevelViews& views, float alpha, Image<const float> level, float beta,
                     Image<float> out, Stream&) {
  note_launch("level views, transposed");
  parallel_for(out.n0, [&](Index v) {
    const LevelView& view = views.views[v];
    std::vector<float> sums(out.n1 * out.n2);
    for (Index row = 0; row < level.n1; ++row)
      for (Index bin = 0; bin < level.n2; ++bin)
        from_level_cell(view, out.n1, out.n2, row, bin, [&](Index r, Index b, float weight) {
          sums[r * out.n2 + b] += weight * level(v, row, bin);
        });
    for (Index row = 0; row < out.n1; ++row)
      for (Index bin = 0; bin < out.n2; ++bin)
        update(out(v, row, bin), alpha * sums[row * out.n2 + bin], beta);
  });
}

}  // namespace

const LevelKernels level_kernels{level_views, give_level_back};

}  // namespace tandem::kernels::cpu
