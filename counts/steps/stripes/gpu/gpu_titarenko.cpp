#include "../../../../core/parallel.hpp"
#include "../../../../kernels/columns.hpp"
#include "../../../../kernels/products.hpp"
#include "../titarenko.hpp"
#include "gpu_sinograms.hpp"

namespace tandem::pipeline::stripes {

namespace {

Image<float> views_of(const Image<float>& y, Range views) {
  return {y.data + views.first * y.s0, views.size(), y.n1, y.n2, y.s0, y.s1};
}

/// Both ways of straightening a block of views begin with the same numbers.
struct Excess {
  std::vector<double> first, second;  ///< (row, bin)
};

Excess excess_of_block(const Image<const float>& block, Stream& stream) {
  const Device gpu = stream.device();
  const std::vector<double> sums = kernels::products(gpu)->sums_of_views(block, stream),
                            means = kernels::columns(gpu)->means(block, stream);
  Excess excess{std::vector<double>(means.size()), std::vector<double>(means.size())};
  parallel_for(block.n1, [&](Index row) {
    std::vector<double> own;
    for (Index view = 0; view < block.n0; ++view) own.push_back(sums[view * block.n1 + row]);
    const Index first = row * block.n2;
    const auto of_row = std::span(means).subspan(first, block.n2);
    std::ranges::copy(excess_of(of_row, own, BlockedTitarenko::first), excess.first.begin() + first);
    std::ranges::copy(excess_of(of_row, own, BlockedTitarenko::second), excess.second.begin() + first);
  });
  return excess;
}

/// Rows of data (view, row, bin).
void straighten(const Image<float>& y, const BlockedTitarenko& how, Stream& stream) {
  const Device gpu = stream.device();
  Array memory(Space({y.n0, y.n1, y.n2}, Blocks::whole, gpu), stream);
  const Image<float> other = image(VectorView(memory));
  copy(read_only(y), other, stream);
  for (const Range views : how.blocks_of(y.n0)) {
    const Image<float> block = views_of(y, views);
    const Excess excess = excess_of_block(read_only(block), stream);
    kernels::columns(gpu)->add(excess.first, block, stream);
    kernels::columns(gpu)->add(excess.second, views_of(other, views), stream);
  }
  std::vector<double> lifts;
  for (const float least : kernels::products(gpu)->multiply(read_only(other), y, stream))
    lifts.push_back(how.lift(least));
  kernels::products(gpu)->roots(lifts, y, stream);
}

double bytes_of_regularisation(Index views, Index bins) { return double{sizeof(float)} * (views * bins); }

}  // namespace

GpuWork straighten_on_gpu(const BlockedTitarenko& how) {
  return [how](GpuData& data) -> std::optional<Index> {
    const Image<float>& y = data.y;
    for_rows_together(y.n1, rows_together(y.n1, bytes_of_regularisation(y.n0, y.n2)),
                      [&](Range rows) { straighten(rows_of(y, rows), how, data.stream); });
    return 0;
  };
}

double gpu_bytes_of_blocks(Shape shape) {
  const auto [views, rows, bins] = shape;
  const double a_row = bytes_of_regularisation(views, bins);
  return a_row * rows_together(rows, a_row);
}

}  // namespace tandem::pipeline::stripes
