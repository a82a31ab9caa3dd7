// A parallel beam through frequencies on a GPU (docs/kernels/fourier.md; O'Sullivan 1985, Fessler and Sutton
// 2003). With Y_v(k) the transform of row v, padded to `length` = P bins, and h_v the bin of a pixel:
//
//   x(pixel) = sum over views v and |k| <= highest of Y_v(k) exp(2 pi i k h_v / P) / P
//
// The back-projection adds all these waves at once, for up to 64 slices (`lanes`) that lie side by side:
//
//   rows_to_samples   a block has a line of 4 or 8 slices, which stays in shared memory (lines.cu):
//     for each view v:  samples[v][k] = of_frequency[k] of_view[v] phase(v, k) FFT(row v)[k]
//   samples_to_cells  a warp has 4 x 4 cells and the list of samples that meet them; sums in registers:
//     for each sample of the list, 8 at a time through shared memory, at (p, q) = k (step_x, step_y):
//       for each cell (x, y) of the block:  sum[x][y] += window(p - x) window(q - y) samples[v][k]
//     as products on tensor cores, [slices x 8 samples] times [8 samples x 8 cells] (products.cuh)
//   cells_to_pixels   the same kernels as for rows, on lines of cells:
//     for each x:  FFT along y, in place
//     for each y:  volume[y][x] <- alpha gain_x[x] gain_y[y] FFT along x + beta volume[y][x]
//
// The window is of Kaiser and Bessel, 5 to 7 cells wide, and gains divide by its transform. Volumes are real:
// the grid is half a plane, x >= 0, and a sample beyond its edge counts as its conjugate at -k. The
// projection is the transpose, in reverse order: pixels_to_cells, cells_to_samples, samples_to_rows. In
// cells_to_samples a warp has 32 samples of a ray, a lane two slices, and each sample sums its own window.

#include <algorithm>

#include "../../../core/error.hpp"
#include "../../launches.hpp"
#include "../fourier.hpp"
#include "gridding.hpp"
#include "lines.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int most_lanes = 64;  ///< two for each lane of a warp

/// Slices side by side: as many as there are, in twos, fours or eights.
int lanes_for(Index slices) {
  if (slices >= most_lanes) return most_lanes;
  const Index whole = slices <= 2 ? 2 : slices <= 4 ? 4 : 8;
  return int_of(ceil_div(slices, whole) * whole);
}

/// Bytes of the samples of all views, and of the cells.
double bytes_of(const FourierSizes& n, Index views, int lanes) {
  const double numbers = views * n.samples() + n.columns() * n.cells_y;
  return numbers * lanes * sizeof(float2);
}

/// Bytes of rows as long as their transforms: so they come back from beyond their ends.
double bytes_of_circles(const FourierViews& views, int lanes) {
  if (views.beyond.zeros()) return 0;
  return 1.0 * views.plan->rays.size() * views.plan->length * lanes * sizeof(float);
}

DeviceTable<float2> moves_of(const FourierViews& views, const KeptOnDevices::Streams& streams) {
  std::vector<double> left;
  for (const double shift : views.row_shifts) left.push_back(-shift);
  return phase_table(left, *views.plan, streams);
}

/// The factors of samples, and what rows go on with.
struct KeptWeights {
  DeviceTable<float> of_frequency, of_view, before, after, shares;
  DeviceTable<float2> moves, phases;
};

KeptOnDevices::Use<KeptWeights> weights_of(const FourierViews& views, const Stream& stream) {
  return views.kept.use<KeptWeights>(stream, [&](const KeptOnDevices::Streams& at) {
    return KeptWeights{{views.weights, at},
                       {views.view_weights, at},
                       {views.beyond.before, at},
                       {views.beyond.after, at},
                       {views.beyond.shares, at},
                       moves_of(views, at),
                       phase_table(views.centres, *views.plan, at)};
  });
}

/// What an application holds on the device.
struct Work {
  const FourierPlan& plan;
  KeptOnDevices::Use<FourierTables> kept;
  KeptOnDevices::Use<KeptWeights> kept_weights;
  const FourierTables& tables;
  DevicePlan there;  ///< the plan about the axis of the views
  int lanes;
  cudaStream_t stream;
  Scratch<float2> samples, grid;
  FourierWeights weights;

  Work(const FourierViews& views, bool forward, Index slices, Stream& s)
      : plan(*views.plan),
        kept(tables_for(plan, s)),
        kept_weights(weights_of(views, s)),
        tables(*kept),
        there(tables.plan),
        lanes(fitting_lanes(views, forward, slices, s.device())),
        stream(queue(s)),
        samples(plan.samples() * tables.plan.views * lanes, stream),
        grid(plan.columns() * plan.cells_y * lanes, stream),
        weights{kept_weights->of_frequency.data(),
                kept_weights->of_view.data(),
                {kept_weights->moves.data(), tables.plan.phases.sixteenth},
                {kept_weights->before.data(), kept_weights->after.data(),
                 views.beyond.end_values(kept_weights->shares.data())}} {
    there.phases.table = kept_weights->phases.data();
  }

  FourierSlices group(Index first, Index slices) const {
    return {first, at_most(lanes, slices - first), lanes};
  }

 private:
  /// The number of lanes, fewer if memory has no room for more: slices do not change each other's bits.
  static int fitting_lanes(const FourierViews& views, bool forward, Index slices, Device device) {
    int lanes = lanes_for(slices);
    if (lanes <= 8) return lanes;
    const double free = free_memory(device);
    const auto bytes = [&](int lanes) {
      return bytes_of(*views.plan, views.plan->rays.size(), lanes) +
             (forward ? bytes_of_circles(views, lanes) : 0);
    };
    while (lanes > 8 && bytes(lanes) > free) lanes = ceil_div(lanes / 2, 8) * 8;
    return lanes;
  }
};

void backward(const FourierViews& views, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  note_launch("Fourier backward");
  require_lines_to_fit(*views.plan, stream.device());
  const Work work(views, false, volume.n0, stream);
  for (Index first = 0; first < volume.n0; first += work.lanes) {
    const FourierSlices at = work.group(first, volume.n0);
    rows_to_samples(work.there, at, work.weights, projections, work.samples.data(), stream);
    samples_to_cells(work.plan, work.tables, work.lanes, work.samples.data(), work.grid.data(), stream);
    cells_to_pixels(work.there, at, work.grid.data(), {alpha, beta}, volume, stream);
  }
}

void forward(const FourierViews& views, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  note_launch("Fourier forward");
  require_lines_to_fit(*views.plan, stream.device());
  const Work work(views, true, volume.n0, stream);
  for (Index first = 0; first < volume.n0; first += work.lanes) {
    const FourierSlices at = work.group(first, volume.n0);
    pixels_to_cells(work.there, at, volume, work.grid.data(), stream);
    cells_to_samples(work.plan, work.tables, work.lanes, work.grid.data(), work.samples.data(), stream);
    samples_to_rows(work.there, at, work.weights, work.samples.data(), {alpha, beta}, projections, stream);
  }
}

}  // namespace

double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device) {
  require_lines_to_fit(sizes, device);
  return table_bytes(sizes, views) + bytes_of(sizes, views, lanes_for(slices));
}

namespace fourier_variants {

FourierVariant fourier() { return fourier_row(forward, backward); }

}  // namespace fourier_variants

}  // namespace tandem::kernels::cuda
