// The times from counts to line integrals in the memory of the device: of each step that costs something, and
// of all together.

#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "../core/parallel.hpp"
#include "../counts/gpu_counts.hpp"
#include "input.hpp"
#include "parallel_case.hpp"
#include "steps.hpp"

namespace tandem::bench {

namespace {

namespace p = tandem::pipeline;

constexpr float dark = 100, beam = 40000;

/// The counts of a disc that moves, in a beam with noise and zingers, with cells of different gains.
io::Frames counts_of(Shape n) {
  io::Frames frames{io::PixelType::uint16, n, {}};
  frames.bytes.resize(2 * n[0] * n[1] * n[2]);
  const Random random(3);
  parallel_for(n[0] * n[1], [&](Index line) {
    Random own = random.at(line);
    const Index view = line / n[1];
    const double turn = 2 * std::numbers::pi * view / n[0];
    for (Index b = 0; b < n[2]; ++b) {
      const double x = 1.0 * (2 * b - n[2]) / n[2] - 0.2 * std::cos(turn);
      const double gain = 1 + 0.02 * std::sin(7 * b * b + 3 * (line % n[1]));
      const double y =
          gain * std::exp(-2 * std::sqrt(std::max(0.0, 0.25 - x * x))) * (1 + 0.02 * own.uniform());
      const double zinger = own.uniform() < 3e-4 ? 20000 : 0;
      const auto count = static_cast<std::uint16_t>(std::min<double>(dark + beam * y + zinger, 65535));
      std::memcpy(&frames.bytes[2 * (line * n[2] + b)], &count, sizeof count);
    }
  });
  return frames;
}

/// Two sets of flats, linear in time.
p::Reference reference_of(Shape n) {
  p::Reference reference;
  const std::size_t cells = n[1] * n[2], rows = n[1];
  reference.rows = n[1], reference.bins = n[2], reference.flats = true;
  reference.dark.assign(cells, dark);
  reference.counts.assign(rows, 1), reference.replaced.assign(rows, 0), reference.not_finite.assign(rows, 0);
  for (const float span : {beam, 0.97f * beam}) {
    const float floor = p::transmission_floor(span, 1, true);
    reference.sets.push_back({std::vector<float>(cells, span), std::vector<float>(cells, 1e-6f),
                              std::vector<float>(cells, floor),
                              std::vector<p::FloorRange>(rows, {floor, floor})});
  }
  for (Index view = 0; view < n[0]; ++view) {
    const float late = static_cast<float>(view) / n[0];
    reference.mixes.push_back({0, 1, 1 - late, late});
  }
  return reference;
}

struct Chunk {
  io::Frames counts;
  p::Reference reference;
  Space space;
  explicit Chunk(Shape n) : counts(counts_of(n)), reference(reference_of(n)), space(n, Blocks::rows) {}
};

p::Preprocessing how_of(const p::StepValues& values, Index bins) {
  p::Preprocessing how = p::preprocessing_of(values, {0, bins}, 0);
  how.optics = p::Optics{.bin_mm = 1, .row_mm = 1};
  return how;
}

/// The largest and the relative difference between the devices, for some rows.
std::pair<double, double> errors_of(const Chunk& few, const p::Preprocessing& how, Device gpu) {
  p::Findings unheeded;
  const Array here = preprocess(few.counts, few.reference, how, few.space, unheeded).y;
  const auto there =
      preprocess_on_gpu(p::on_gpu(few.counts, gpu), few.reference, how, few.space.on(gpu), unheeded);
  const Array brought = on_device(there->y, Device::cpu());
  double most = 0, apart = 0, size = 0;
  for (Index i = 0; i < here.size(); ++i) {
    const double y = here.data()[i], d = brought.data()[i] - y;
    most = std::max(most, std::abs(d)), apart += d * d, size += y * y;
  }
  return {most, std::sqrt(apart / size)};
}

/// A line for a chain of steps. Its first chain, counts alone, is the time that all chains have in common.
Rows::value_type timed(const Axes& axes, const Case& c, const Chunk& all, const Chunk& few,
                       const ChainOfSteps& chain) {
  const p::Preprocessing how = how_of(chain.values, c.scan.detector.bins);
  p::Findings unheeded;
  if (!axes.device.is_cuda())
    return line(c, chain.name,
                median_ms(axes, [&] { preprocess(all.counts, all.reference, how, all.space, unheeded); }), 0);
  const p::GpuFrames there = p::on_gpu(all.counts, axes.device);
  Stream& stream = default_stream(axes.device);
  Rows::value_type row =
      line(c, chain.name,
           median_ms(axes,
                     [&] {
                       preprocess_on_gpu(there, all.reference, how, all.space.on(axes.device), unheeded);
                       stream.synchronize();
                     }),
           0);
  const auto [most, relative] = errors_of(few, how, axes.device);
  row.update({{"largest_error", most}, {"relative_error", relative}});
  return row;
}

}  // namespace

/// Times all chains of steps. Errors are from six rows of the same kind.
Rows preprocess(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  for (const Index slices : axes.slices) {
    const Case c(axes.size, axes.views, slices);
    on_line(words("counts", slices));
    const Chunk all({axes.views, slices, axes.size}),
        few({axes.views, std::min<Index>(6, slices), axes.size});
    for (const ChainOfSteps& chain : chains_of_steps()) {
      on_line(words(chain.name, slices));
      rows.push_back(timed(axes, c, all, few, chain));
      rows.back().erase("gups");
    }
  }
  return rows;
}

}  // namespace tandem::bench
