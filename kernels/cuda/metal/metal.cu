// Rays through metal: a thread has a row, or a voxel.

#include "../../launches.hpp"
#include "../../metal.hpp"
#include "../common/elements.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128, threads_a_row = 32;

/// Rows are few and long: small blocks share them out over the processors.
__global__ void __launch_bounds__(threads_a_row)
    mend_rows(MetalTrace trace, Image<const float> lengths, Image<const float> prior, Index first,
              Index together, Image<float> q) {
  const Index line = Index{blockIdx.x} * threads_a_row + threadIdx.x;
  if (line >= q.n0 * q.n1) return;
  const Index view = line / q.n1, row = line % q.n1, of = min((first + row) / together, prior.n1 - 1);
  MetalRow{&element(q, view, row, 0), &element(lengths, view, of, 0), &element(prior, view, of, 0), q.n2,
           trace}
      .mend();
}

void mend(const MetalTrace& trace, Image<const float> lengths, Image<const float> prior, Index first,
          Index together, Image<float> q, Stream& stream) {
  note_launch("mend rows");
  mend_rows<<<grid_of(ceil_div<Index>(q.n0 * q.n1, threads_a_row)), threads_a_row, 0, queue(stream)>>>(
      trace, lengths, prior, first, together, q);
  after_launch();
}

__global__ void __launch_bounds__(threads)
    add_to_data(DenserMaterial denser, Image<const float> s, Index first, Index together, Image<float> p) {
  for_own_elements(p, [&](Index view, Index row, Index bin) {
    const Index of = min((first + row) / together, s.n1 - 1);
    float& value = element(p, view, row, bin);
    value = static_cast<float>(denser(value, element(s, view, of, bin)));
  });
}

void add_denser(const DenserMaterial& denser, Image<const float> s, Index first, Index together,
                Image<float> p, Stream& stream) {
  note_launch("add denser material");
  add_to_data<<<blocks_of_elements(p, threads), threads, 0, queue(stream)>>>(denser, s, first, together, p);
  after_launch();
}

__global__ void __launch_bounds__(threads)
    put_voxels(const __grid_constant__ PlacesInGrid places, Image<const float> metal, Image<float> x) {
  for_own_elements(x, [&](Index iz, Index iy, Index ix) {
    const Index z = places.at(2, iz), y = places.at(1, iy), at = places.at(0, ix);
    if (z < 0 || y < 0 || at < 0) return;
    if (const float value = element(metal, z, y, at); value > 0) element(x, iz, iy, ix) = value;
  });
}

void put_back(const PlacesInGrid& places, Image<const float> metal, Image<float> x, Stream& stream) {
  note_launch("put metal back");
  put_voxels<<<blocks_of_elements(x, threads), threads, 0, queue(stream)>>>(places, metal, x);
  after_launch();
}

__global__ void __launch_bounds__(threads)
    straighten_data(const __grid_constant__ StraightenedCurve curve, double most, Image<float> y,
                    unsigned long long* above) {
  for_own_elements(y, [&](Index view, Index row, Index bin) {
    float& value = element(y, view, row, bin);
    if (!(value <= most)) atomicAdd(above, 1ull);
    value = static_cast<float>(curve(value));
  });
}

Index straighten(const StraightenedCurve& curve, double most, Image<float> y, Stream& stream) {
  note_launch("straighten");
  const Sent<double> there(std::span(curve.coefficients, curve.count), stream);
  StraightenedCurve on_gpu = curve;
  on_gpu.coefficients = there.data();
  const Count above(stream);
  straighten_data<<<blocks_of_elements(y, threads), threads, 0, queue(stream)>>>(on_gpu, most, y,
                                                                                 above.data());
  after_launch();
  return above.brought(stream);
}

}  // namespace

const MetalKernels metal_kernels{mend, add_denser, put_back, straighten};

}  // namespace tandem::kernels::cuda
