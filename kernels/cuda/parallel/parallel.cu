// Which kernel does what: the parallel-beam table of CUDA.

#include <algorithm>
#include <string>

#include "../common/batch.cuh"
#include "../tables.hpp"
#include "parallel.hpp"

namespace tandem::kernels::cuda {

namespace {

using enum Variant;
using enum Precision;

// In the order in which they get faster.
constexpr OfferedExecution all[] = {{{standard, float32}, false}, {{texture, float32}, false},
                                    {{texture, float16}, false},  {{texture, uint8}, false},
                                    {{alu, float32}, true},       {{hybrid, float32}, false},
                                    {{tensor, float32}, true},    {{tensor, float16}, true}};

std::span<const OfferedExecution> executions(Device) { return all; }

/// Hopper's tensor cores have instructions of their own, which no other card has.
bool is_hopper(Device device) { return compute_capability(device).major == 9; }

/// Hopper's own back-projection is the faster one in float16; in the float32 grade that of every card is.
bool products_fit(Precision precision, const ParallelViews& views, Device device) {
  constexpr float most = 1 << 15;  // of a float16
  if (std::any_of(views.views.begin(), views.views.end(), [](auto& v) { return v.height > most; }))
    return false;
  if (!is_hopper(device)) return mma_fits(views);
  return tensor_forward_fits(views) && (precision == float16 ? tensor_backward_fits(views) : mma_fits(views));
}

const OfferedExecution* find(Execution e) {
  const auto found =
      std::find_if(std::begin(all), std::end(all), [&](auto& offered) { return offered.how == e; });
  return found == std::end(all) ? nullptr : found;
}

/// Hats that no texture draws, and rows or views too many for one, are interpolated on the cores.
Execution drawn(Execution e, const ParallelViews& views, tandem::Shape projections, Device device) {
  const bool by_texture = e.variant == standard || e.variant == texture || e.variant == hybrid;
  return !by_texture || textures_fit(views, e, projections, device) ? e : Execution{alu, float32};
}

/// Hats narrower than a fifth of a bin, of Joseph's small pixels: the last bits of a position, which tensor
/// products have not got (`ahead`), count there.
bool needs_exact_positions(const ParallelViews& views) {
  return std::any_of(views.views.begin(), views.views.end(), [](auto& v) { return v.slope > 5 * v.height; });
}

/// The fastest pair, as measured on an H200 (docs/performance.md, "Which variant is fastest"). Tensor
/// products take as long for one slice as for 64, in float32 as long as 16 by alu, in float16 as long as 8 by
/// texture.
Execution fastest(Precision precision, Pairing pairing, const ParallelViews& views, tandem::Shape projections,
                  Device device) {
  const Execution of_few =
      drawn({precision == float32 ? alu : texture, precision}, views, projections, device);
  const Index worth = pairing == Pairing::matched && !find(of_few)->matched ? 1
                      : precision == float16                                ? 9
                                                                            : 17;
  const bool products = find({tensor, precision}) && projections[1] >= worth &&
                        products_fit(precision, views, device) &&
                        !(precision == float32 && needs_exact_positions(views));
  return products ? Execution{tensor, precision} : of_few;
}

Execution resolve(Execution wanted, Pairing pairing, const ParallelViews& views, tandem::Shape projections,
                  Device device) {
  if (wanted.variant == automatic) return fastest(wanted.precision, pairing, views, projections, device);
  if (!find(wanted)) {
    std::string list;
    for (const OfferedExecution& e : all) list += (list.empty() ? "" : ", ") + name_of(e.how);
    require<DeviceError>(false, "device ", device.name(), ": no ", name_of(wanted), "; it has ", list);
  }
  require<GeometryError>(wanted.variant != tensor || products_fit(wanted.precision, views, device),
                         "variant tensor: a tile of pixels meets more bins than a product has; take alu");
  return drawn(wanted, views, projections, device);
}

/// Textures have no transpose: the cores compute that of the coefficients before textures round them to
/// 1/256.
void forward(const ParallelViews& views, Execution how, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  if (how.variant == tensor && is_hopper(stream.device()))
    return tensor_forward(views, how.precision, alpha, volume, beta, projections, stream);
  const Precision precision = how.variant == tensor ? how.precision : float32;
  alu_forward(views, precision, alpha, volume, beta, projections, stream);
}

void backward(const ParallelViews& views, Execution how, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  switch (how.variant) {
    case standard:
      return standard_backward(views, alpha, projections, beta, volume, stream);
    case texture:
      return texture_backward(views, how.precision, alpha, projections, beta, volume, stream);
    case hybrid:
      return hybrid_backward(views, alpha, projections, beta, volume, stream);
    case tensor:
      if (how.precision == float16 && is_hopper(stream.device()))
        return tensor_backward(views, alpha, projections, beta, volume, stream);
      return mma_backward(views, how.precision, alpha, projections, beta, volume, stream);
    default:
      return alu_backward(views, alpha, projections, beta, volume, stream);
  }
}

/// What the kernels ask of the pool: batches of 16 slices of volume, turned volume and projections, or of 4;
/// to the latter textures, too, come back where they do not fit. Tensor batches have two bytes a lane.
WorkingMemory working_memory(Execution how, tandem::Shape volume, tandem::Shape projections, Device device) {
  const auto pixels = static_cast<double>(volume[1] * volume[2]);
  const auto cells = static_cast<double>(projections[0] * projections[2]);
  const double views = 2 * sizeof(ParallelView) * static_cast<double>(projections[0]);  // and their groups
  const double rounded_up = 64 * static_cast<double>(projections[0]);          // texels at the ends of rows
  const double lanes = how.precision == float32 || volume[0] > 64 ? 128 : 64;  // two planes of 64: float32
  const bool by_products = how.variant == tensor && is_hopper(device);
  return {
      views + (by_products ? 2 * lanes * pixels + 1.01 * static_cast<double>(tensor_forward_sums)
                           : 64 * (2 * pixels + cells)),
      views + (how.variant == tensor ? 2 * lanes * cells
                                     : 16 * ((how.variant == hybrid ? 2 : 1) * cells + pixels + rounded_up))};
}

/// As `forward` and `backward` choose.
std::vector<std::string> names(Device device) {
  std::vector<std::string> list{"standard backward",        "texture backward float32",
                                "texture backward float16", "texture backward uint8",
                                "hybrid backward",          "alu backward",
                                "alu backward, wide hats",  "alu forward float32, 4",
                                "alu forward float32, 8",   "alu forward float32, 16"};
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
  }
  return list;
}

}  // namespace

const ParallelKernels parallel_kernels{forward, backward, executions, resolve, working_memory, names};

}  // namespace tandem::kernels::cuda
