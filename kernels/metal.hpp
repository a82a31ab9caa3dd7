#pragma once

// Rays through metal (docs/preprocessing.md). What a row becomes there stands only here: backends have loops
// around these functions.

#include <array>
#include <cmath>
#include <span>

#include "../core/array.hpp"
#include "../core/host_device.hpp"

namespace tandem::kernels {

/// Which line integrals are replaced: those of rays with a longer way within metal. `least`: a volume without
/// metal tells nothing of rays along which it has no more.
struct MetalTrace {
  float longest, least;
};

/// For places that pass along a row: the nearest accepted place before, and the nearest one behind.
struct NearestPlaces {
  Index before = -1, after = -1, bins;
  template <class Accept>
  TANDEM_HOST_DEVICE void pass(Index bin, const Accept& accept) {
    if (accept(bin)) {
      before = bin;
      return;
    }
    if (after > bin) return;
    for (after = bin + 1; after < bins && !accept(after);) ++after;
  }
  /// Linear between the two; at an end of the row the value of the only one.
  template <class Value>
  TANDEM_HOST_DEVICE float between(Index bin, const Value& value) const {
    if (before < 0) return value(after);
    if (after >= bins) return value(before);
    const float share = static_cast<float>(bin - before) / static_cast<float>(after - before);
    return value(before) + share * (value(after) - value(before));
  }
};

/// A row of line integrals q, with the lengths of its rays within metal, and the line integrals of a volume
/// without metal. Within the trace of metal, q / prior is linear between its neighbours outside of the trace
/// (Meyer et al., Med. Phys. 37, 5482, 2010). Where the volume tells nothing, q itself is linear; and a row
/// that lies within the trace as a whole stays.
struct MetalRow {
  float* q;
  const float *length, *prior;
  Index bins;
  MetalTrace trace;

  TANDEM_HOST_DEVICE bool outside(Index bin) const { return !(length[bin] > trace.longest); }
  TANDEM_HOST_DEVICE bool tells(Index bin) const { return prior[bin] > trace.least; }
  TANDEM_HOST_DEVICE void mend() const {
    Index all = 0, good = 0;
    for (Index bin = 0; bin < bins; ++bin)
      if (outside(bin)) ++all, good += tells(bin) ? 1 : 0;
    if (all == 0 || all == bins) return;
    NearestPlaces near{.bins = bins}, near_good{.bins = bins};
    for (Index bin = 0; bin < bins; ++bin) {
      near.pass(bin, [&](Index at) { return outside(at); });
      near_good.pass(bin, [&](Index at) { return outside(at) && tells(at); });
      if (outside(bin)) continue;
      q[bin] = good >= 2 && tells(bin)
                   ? prior[bin] * near_good.between(bin, [&](Index at) { return q[at] / prior[at]; })
                   : near.between(bin, [&](Index at) { return q[at]; });
    }
  }
};

/// Where voxel i of a grid lies in the voxels of another one, along each axis: first + step i.
struct PlacesInGrid {
  std::array<double, 3> first, step;
  std::array<Index, 3> size;
  /// The voxel that has the place of voxel i; -1: none.
  TANDEM_HOST_DEVICE Index at(int axis, Index i) const {
    const double place = std::floor(first[axis] + step[axis] * static_cast<double>(i) + 0.5);
    return place >= 0 && place < static_cast<double>(size[axis]) ? static_cast<Index>(place) : -1;
  }
};

/// c_1 q + c_2 q^2 + ..., and beyond a place straight on.
struct StraightenedCurve {
  const double* coefficients;
  Index count;
  double straight_from, value, slope;  ///< the value and the slope there
  TANDEM_HOST_DEVICE double operator()(double q) const {
    if (q > straight_from) return value + slope * (q - straight_from);
    double sum = 0;
    for (Index k = count - 1; k >= 0; --k) sum = (sum + coefficients[k]) * q;
    return sum;
  }
};

/// What a second, denser material adds: p = g + d1 g s + d2 s^2, with g the line integral that is corrected
/// for the main material and s the line integral of the dense voxels of a first volume. Source: Kyriakou et
/// al., Med. Phys. 37 (2010).
struct DenserMaterial {
  double d1 = 0, d2 = 0;
  TANDEM_HOST_DEVICE double operator()(double g, double s) const { return g + added(g, s) * s; }
  TANDEM_HOST_DEVICE double added(double g, double s) const { return d1 * g + d2 * s; }  ///< a share of s
};

struct MetalKernels {
  /// q (view, row, bin): each row becomes what `MetalRow` says. Row k of q has row (first + k) / together of
  /// the others, at most the last one.
  void (*mend)(const MetalTrace& trace, Image<const float> lengths, Image<const float> prior, Index first,
               Index together, Image<float> q, Stream& stream);
  /// p (view, row, bin) <- denser(p, s), with rows of s as in `mend`.
  void (*add_denser)(const DenserMaterial& denser, Image<const float> s, Index first, Index together,
                     Image<float> p, Stream& stream);
  /// Voxels of x that lie in metal get its value. `metal`: 0 elsewhere.
  void (*put_back)(const PlacesInGrid& places, Image<const float> metal, Image<float> x, Stream& stream);
  /// `curve.coefficients` lie on the host. Waits. @returns how many values were above `most`
  Index (*straighten)(const StraightenedCurve& curve, double most, Image<float> y, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend
const MetalKernels& metal(Device device);

}  // namespace tandem::kernels
