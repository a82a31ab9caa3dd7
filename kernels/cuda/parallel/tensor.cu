// The choice of tensor products: those of every card, or Hopper's own, in both directions.

#include <algorithm>
#include <initializer_list>

#include "../common/batch.cuh"
#include "parallel.hpp"

namespace tandem::kernels::cuda {

namespace {

using enum Precision;

/// Hopper's tensor cores have instructions of their own, which no other card has.
bool is_hopper(Device device) { return compute_capability(device).major == 9; }

/// Whether the products fit that are faster: Hopper's own in float16, and those of every card in float32.
bool products_fit(const ParallelViews& views, Precision precision, Device device) {
  constexpr float most = 1 << 15;  // the largest height in float16
  if (std::any_of(views.views.begin(), views.views.end(), [](auto& v) { return v.height > most; }))
    return false;
  if (!is_hopper(device)) return mma_fits(views);
  return tensor_forward_fits(views) && (precision == float16 ? tensor_backward_fits(views) : mma_fits(views));
}

/// Whether some hats are narrower than a fifth of a bin, as those of Joseph's small pixels. Then the last
/// bits of a position count, which tensor products do not have (`ahead`).
bool needs_exact_positions(const ParallelViews& views) {
  return std::any_of(views.views.begin(), views.views.end(), [](auto& v) { return v.slope > 5 * v.height; });
}

/// Tensor products take as long for one slice as for 64. In float32 that is as long as alu takes for 16
/// slices, in float16 as long as texture takes for 8, on an H200 (docs/kernels/bounds.md, "Which variant is
/// fastest").
Index fastest_from(Precision precision, const ParallelViews& views) {
  if (precision == float16) return 9;
  return needs_exact_positions(views) ? 0 : 17;
}

void forward(const ParallelViews& views, const Execution& how, float alpha, Image<const float> volume,
             float beta, Image<float> projections, Stream& stream) {
  const auto run = is_hopper(stream.device()) ? tensor_forward : alu_forward;
  run(views, how.precision, alpha, volume, beta, projections, stream);
}

void backward(const ParallelViews& views, const Execution& how, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  if (how.precision == float16 && is_hopper(stream.device()))
    return tensor_backward(views, alpha, projections, beta, volume, stream);
  mma_backward(views, how.precision, alpha, projections, beta, volume, stream);
}

/// Batches have two bytes a lane.
WorkingMemory working_memory(Precision precision, tandem::Shape volume, tandem::Shape projections,
                             Device device) {
  const double lanes = precision == float32 || volume[0] > 64 ? 128 : 64;  // two planes of 64: float32
  const double views = views_memory(projections), pixels = volume[1] * volume[2],
               cells = projections[0] * projections[2];
  return {is_hopper(device) ? views + 2 * lanes * pixels + 1.01 * tensor_forward_sums
                            : forward_memory(volume, projections),
          views + 2 * lanes * cells};
}

std::vector<std::string> names(Device device) {
  std::vector<std::string> list;
  const auto add_products = [&](const std::string& kernel, std::initializer_list<int> lanes, int planes) {
    for (const int count : lanes)
      for (const bool unit : {true, false}) list.push_back(product_name(kernel, count, planes, unit));
  };
  add_products("mma backward", {64}, 2);
  if (is_hopper(device)) {
    add_products("wgmma backward", {64, 128}, 1);
    add_products("wgmma forward", {64, 128}, 1);
    add_products("wgmma forward", {64}, 2);
  } else {
    add_products("mma backward", {64, 128}, 1);
    for (const char* slices : {"4", "8", "16"}) list.push_back(std::string("alu forward float16, ") + slices);
    return with_forward_on_cores(list);
  }
  return list;
}

/// Limits for windows of 8 bins, or of 16 in Hopper's own products; float32 takes three products. Nothing is
/// known of other cards.
std::optional<Limit> limit(Precision precision, Direction direction, Chip chip) {
  if (chip.compute_capability.major != 9) return std::nullopt;
  const bool single = precision == float32;
  const double products = 2048 * chip.gigaclocks;  // multiply-adds of float16, dense
  const double window = direction == Direction::backward && single ? 8 : 16;
  return Limit{"tensor cores", products / window / (single ? 3 : 1)};
}

}  // namespace

namespace parallel_variants {

ParallelVariant tensor() {
  return {.name = "tensor",
          .grades = {{float32, true, bounds::products}, {float16, true, bounds::products}},
          .forward = forward,
          .backward = backward,
          .working_memory = working_memory,
          .kernels = names,
          .coefficient = hat_coefficient,
          .misfit = [](const ParallelViews& views, Precision precision, tandem::Shape,
                       Device device) -> const char* {
            return products_fit(views, precision, device)
                       ? nullptr
                       : "a tile of pixels meets more bins than a product has; take alu";
          },
          .fastest_from = fastest_from,
          .limit = limit};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cuda
