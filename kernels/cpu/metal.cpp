#include "../metal.hpp"

#include <algorithm>
#include <atomic>

#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

void mend(const MetalTrace& trace, Image<const float> lengths, Image<const float> prior, Index first,
          Index together, Image<float> q, Stream&) {
  note_launch("mend rows");
  parallel_for(q.n0 * q.n1, [&](Index line) {
    const Index view = line / q.n1, row = line % q.n1;
    const Index of = std::min((first + row) / together, prior.n1 - 1);
    MetalRow{&q(view, row, 0), &lengths(view, of, 0), &prior(view, of, 0), q.n2, trace}.mend();
  });
}

void add_denser(const DenserMaterial& denser, Image<const float> s, Index first, Index together,
                Image<float> p, Stream&) {
  note_launch("add denser material");
  parallel_for(p.n0 * p.n1, [&](Index line) {
    const Index view = line / p.n1, row = line % p.n1, of = std::min((first + row) / together, s.n1 - 1);
    for (Index bin = 0; bin < p.n2; ++bin)
      p(view, row, bin) = static_cast<float>(denser(p(view, row, bin), s(view, of, bin)));
  });
}

void put_back(const PlacesInGrid& places, Image<const float> metal, Image<float> x, Stream&) {
  note_launch("put metal back");
  parallel_for(x.n0 * x.n1, [&](Index line) {
    const Index z = places.at(2, line / x.n1), y = places.at(1, line % x.n1);
    if (z < 0 || y < 0) return;
    for (Index k = 0; k < x.n2; ++k)
      if (const Index at = places.at(0, k); at >= 0 && metal(z, y, at) > 0)
        x(line / x.n1, line % x.n1, k) = metal(z, y, at);
  });
}

Index straighten(const StraightenedCurve& curve, double most, Image<float> y, Stream&) {
  note_launch("straighten");
  std::atomic<Index> above = 0;
  parallel_for(y.n0 * y.n1, [&](Index line) {
    float* row = &y(line / y.n1, line % y.n1, 0);
    above += std::count_if(row, row + y.n2, [&](float q) { return !(q <= most); });
    for (Index bin = 0; bin < y.n2; ++bin) row[bin] = static_cast<float>(curve(row[bin]));
  });
  return above;
}

}  // namespace

const MetalKernels metal_kernels{mend, add_denser, put_back, straighten};

}  // namespace tandem::kernels::cpu
