// Interpolation on the cores in float32, and its exact transpose as a gather (parallel.hpp has both loops).
// Both compute a coefficient from the same numbers (batch.cuh). With float16 coefficients the gather is the
// transpose of mma.cu.

#include <vector>

#include "gather.cuh"
#include "parallel.hpp"
#include "products.cuh"

namespace tandem::kernels::cuda {

namespace {

template <int half_width>
__global__ void __launch_bounds__(threads, 4)
    backward(BackwardShape n, const ParallelView* __restrict__ views, const float4* __restrict__ sinogram,
             float4* volume) {
  alu_block<half_width>(n, views, sinogram, volume);
}

/// The hats of the back-projection.
struct Hats {
  float height, slope;
  __device__ explicit Hats(const ParallelView& view) : height(view.height), slope(view.slope) {}
  static TANDEM_HOST_DEVICE double radius(const ParallelView& view, double bins_a_pixel) {
    return view.height / (view.slope * bins_a_pixel);
  }
  __device__ float operator()(const Anchor& anchor, float step_x, float step_y, int dx, int dy,
                              int bin) const {
    const Split at = split(position_in(anchor, step_x, step_y, dx, dy));
    return hat(height, slope, at.fraction, bin - anchor.bin - at.below);
  }
};

/// The hats of the tensor back-projection, rounded to float16.
struct HalfHats : Hats {
  using Hats::Hats;
  __device__ float operator()(const Anchor& anchor, float step_x, float step_y, int dx, int dy,
                              int bin) const {
    const float e =
        position_in({0, anchor.offset + ahead}, step_x, step_y, dx, dy) - (bin - anchor.bin + ahead);
    return __half2float(__float2half_rn(fmaxf(fmaf(-slope, fabsf(e), height), 0.0f)));
  }
};

void alu_backward(const ParallelViews& packed, const Execution&, float alpha, Image<const float> projections,
                  float beta, Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const BackwardShape n = backward_shape(packed, projections, volume);
  const bool narrow = packed.half_width == 1;
  const auto kernel = narrow ? backward<1> : backward<0>;
  note_launch(narrow ? "alu backward" : "alu backward, wide hats");
  allow_all_shared_memory(kernel);
  backward_by_fours(alpha, projections, beta, volume, s, [&](Index, const float4* sinogram, float4* sums) {
    kernel<<<n.blocks(), threads, n.shared_bytes(), s>>>(n, views->data(), sinogram, sums);
    after_launch();
  });
}

}  // namespace

void alu_forward(const ParallelViews& packed, Precision precision, float alpha, Image<const float> volume,
                 float beta, Image<float> projections, Stream& stream) {
  const auto run = precision == Precision::float16 ? forward_by<HalfHats> : forward_by<Hats>;
  run("alu forward " + std::string(name_of(precision)), packed, alpha, volume, beta, projections, stream);
}

void forward_on_cores(const ParallelViews& views, const Execution&, float alpha, Image<const float> volume,
                      float beta, Image<float> projections, Stream& stream) {
  alu_forward(views, Precision::float32, alpha, volume, beta, projections, stream);
}

std::vector<std::string> with_forward_on_cores(std::vector<std::string> more) {
  for (const char* slices : {"4", "8", "16"}) more.push_back(std::string("alu forward float32, ") + slices);
  return more;
}

double views_memory(tandem::Shape projections) {  // and their groups
  return 2 * double{sizeof(ParallelView)} * projections[0];
}

double forward_memory(tandem::Shape volume, tandem::Shape projections) {
  return views_memory(projections) + 64.0 * (2 * volume[1] * volume[2] + projections[0] * projections[2]);
}

double backward_memory(tandem::Shape volume, tandem::Shape projections, int sinograms) {
  const double rounded_up = 64.0 * projections[0];  // texels at the ends of rows
  return views_memory(projections) +
         16 * (sinograms * projections[0] * projections[2] + volume[1] * volume[2] + rounded_up);
}

namespace parallel_variants {

ParallelVariant alu() {
  return {.name = "alu",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = forward_on_cores,
          .backward = alu_backward,
          .working_memory = [](Precision, tandem::Shape volume, tandem::Shape projections,
                               Device) -> WorkingMemory {
            return {forward_memory(volume, projections), backward_memory(volume, projections, 1)};
          },
          .kernels =
              [](Device) {
                return with_forward_on_cores({"alu backward", "alu backward, wide hats"});
              },
          .coefficient = hat_coefficient,
          .fastest_from = [](Precision, const ParallelViews&) -> Index { return 1; },
          .limit = [](Precision, Direction direction, Chip chip) -> std::optional<Limit> {
            if (direction == Direction::forward) return std::nullopt;
            return Limit{"shared memory", shared_bytes(chip) / 8};  // two bins of 4 bytes
          }};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cuda
