#pragma once

#include "../kernels/metal.hpp"
#include "wide_volume.hpp"

namespace tandem {

/// What a first volume tells of metal. Volumes (slice, y, x) lie on the host.
struct MetalFound {
  Array grown;   ///< 1 in metal and in the voxels beside it, else 0
  Array prior;   ///< attenuations without metal
  Array values;  ///< attenuations of metal, 0 elsewhere
  kernels::MetalTrace trace;
};

/// Replaces line integrals of rays that meet metal by those of a volume without it: normalised metal artefact
/// reduction (Meyer et al., Med. Phys. 37, 5482, 2010). Any thread may use it.
class Mend {
 public:
  Mend(const VolumeGrid& grid, const MetalFound& found)
      : grown_(grid, found.grown),
        prior_(grid, found.prior),
        values_(grid, found.values),
        trace_(found.trace) {}

  /// Mends line integrals (view, row, bin) on any device. `scan` has their views and rows.
  void operator()(VectorView y, const Scan& scan, RowsOfSlices rows = {}) const;
  double bytes() const { return grown_.bytes() + prior_.bytes() + values_.bytes(); }  ///< on each device
  /// Gives voxels (slice, y, x) of a grid, on any device, the attenuation of the metal in which they lie.
  void put_back(VectorView x, const VolumeGrid& grid) const;

 private:
  WideVolume grown_, prior_, values_;
  kernels::MetalTrace trace_;
};

/// Adds to line integrals what a second, denser material hides in a hardened beam, by the rays through the
/// dense voxels of a first volume. Any thread may use it.
class DenseParts {
 public:
  DenseParts(const VolumeGrid& grid, const Array& dense, const kernels::DenserMaterial& denser)
      : dense_(grid, dense), denser_(denser) {}
  void operator()(VectorView y, const Scan& scan, RowsOfSlices rows = {}) const;
  double bytes() const { return dense_.bytes(); }  ///< on each device

 private:
  WideVolume dense_;
  kernels::DenserMaterial denser_;
};

}  // namespace tandem
