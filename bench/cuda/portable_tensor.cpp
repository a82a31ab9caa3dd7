// The speed of the tensor back-projection in the form for every card, and its relative L2 difference from
// alu: bench_portable_tensor [SIZE [VIEWS]]. A Hopper takes this form only in float32.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "../../kernels/cuda/parallel/parallel.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/run.hpp"

namespace {

using namespace tandem;

double norm_of_all(const Array& a, Stream& stream) {
  double sum = 0;
  for (const double slice : norm(a, stream)) sum += slice * slice;
  return std::sqrt(sum);
}

void measure(Index size, Index views, Index slices, Precision precision) {
  const Device gpu = Device::cuda(0);
  Stream& stream = default_stream(gpu);
  ParallelBeam scan;
  scan.detector = {size, slices, 1, 1, 0.5 * (size - 1)};
  for (Index v = 0; v < views; ++v) scan.angles.push_back(std::numbers::pi * v / views);
  const VolumeGrid grid = fitting_grid(scan);
  const ParallelViews packed = pack(scan, grid, Model::pixel_driven);
  const LinearOperator A = projector(scan, grid, Model::pixel_driven, gpu, {"alu"});
  Random random(7);
  const Array q = drawn_array(A.range(), [&] { return static_cast<float>(random.uniform()) - 0.3f; });
  Array x(A.domain());
  std::vector<double> ms;
  for (int run = 0; run < 11; ++run) {
    stream.synchronize();
    const double start = seconds_now();
    kernels::cuda::mma_backward(packed, precision, packed.scale, image(q), 0, image(VectorView(x)), stream);
    stream.synchronize();
    ms.push_back(1e3 * (seconds_now() - start));
  }
  std::nth_element(ms.begin(), ms.begin() + 5, ms.end());
  const Array truth = adjoint(A) * q;
  axpby(-1, truth, 1, x, stream);
  std::printf("%s, %d slices: %.1f ms, %.0f GU/s, difference %.1e\n", name_of(precision).data(),
              static_cast<int>(slices), ms[5], 1.0 * size * size * (views * slices) / ms[5] * 1e-6,
              norm_of_all(x, stream) / norm_of_all(truth, stream));
}

}  // namespace

int main(int count, char** words) {
  const Index size = count > 1 ? std::atoi(words[1]) : 2048, views = count > 2 ? std::atoi(words[2]) : 2048;
  for (const Index slices : {64, 128}) measure(size, views, slices, Precision::float16);
  measure(size, views, 64, Precision::float32);
}
