#include "random.hpp"

#include "../core/parallel.hpp"

namespace tandem {

namespace {

/// Draws the signs of one part of a space. A sign depends only on the place of the element in its block of
/// the whole vector, so that ranks agree.
void draw_signs(const Space& part, const Random& random, float* out) {
  const auto [planes, rows, bins] = part.shape();
  parallel_for(planes * rows, [&, rows = rows, bins = bins](Index line) {
    const Index first = part.blocks() == Blocks::rows     ? line / rows
                        : part.blocks() == Blocks::slices ? line % rows
                                                          : part.line_in_whole(line);
    for (Index bin = 0; bin < bins; ++bin) {
      Random place = random.at(first * bins + bin);
      out[line * bins + bin] = place.bits() >> 63 ? 1.0f : -1.0f;
    }
  });
}

}  // namespace

void fill_with_signs(VectorView x, std::uint64_t seed, Stream& stream) {
  if (x.space.device() != Device::cpu()) {
    Stream& here = default_stream(Device::cpu());
    Array host(x.space.on(Device::cpu()), here);
    fill_with_signs(host, seed, here);
    copy(host, x, stream);
    stream.synchronize();
    return;
  }
  for (int part = 0; part < x.space.parts(); ++part)
    draw_signs(x.space.part(part), Random(seed).at(part), x.data + x.space.offset(part));
}

}  // namespace tandem
