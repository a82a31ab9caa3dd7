#include "mend.hpp"

#include <utility>

#include "../core/parallel.hpp"
#include "tiling.hpp"

namespace tandem {

namespace {

/// work(own line integrals, their scan, stream) for each member of the device, which share the views.
template <class Work>
void on_shares(VectorView y, const Scan& scan, const Work& work) {
  Stream& stream = default_stream(y.space.device());
  if (y.space.device().members() == 1) return work(y, scan, stream);
  on_threads(y.space.shares(), [&](Index member) {
    const int k = static_cast<int>(member);
    const VectorView own = y.share(k);
    const Index from = y.space.first_plane(k);
    work(own, crop(scan, {from, from + own.space.shape()[0]}), stream.member(k));
  });
}

/// Where the voxels of a grid lie in the voxels of another one.
kernels::PlacesInGrid places_in(const VolumeGrid& other, const VolumeGrid& grid) {
  const auto along = [&](int axis, double of, double origin) {
    return std::pair{(of - origin) / other.pitch[axis], grid.pitch[axis] / other.pitch[axis]};
  };
  const auto [x, dx] = along(0, grid.x(0), other.x(0));
  const auto [y, dy] = along(1, grid.y(0), other.y(0));
  const auto [z, dz] = along(2, grid.z(0), other.z(0));
  return {{x, y, z}, {dx, dy, dz}, other.size};
}

}  // namespace

void Mend::operator()(VectorView y, const Scan& scan, RowsOfSlices rows) const {
  on_shares(y, scan, [&](VectorView own, const Scan& views, Stream& stream) {
    const auto lengths = grown_.along(views, rows, stream);
    const auto prior = lengths ? prior_.along(views, rows, stream) : std::nullopt;
    if (!prior) return;
    kernels::metal(stream.device())
        .mend(trace_, image(ConstVectorView(lengths->lines)), image(ConstVectorView(prior->lines)),
              prior->rows.first, prior->rows.together, image(own), stream);
    stream.synchronize();
  });
}

void Mend::put_back(VectorView x, const VolumeGrid& grid) const {
  const VectorView whole = x.share(0);  // members of a team have copies
  Stream& stream = default_stream(x.space.device()).member(0);
  kernels::metal(stream.device())
      .put_back(places_in(values_.grid(), grid), image(values_.on(stream.device())), image(whole), stream);
  stream.synchronize();
}

void DenseParts::operator()(VectorView y, const Scan& scan, RowsOfSlices rows) const {
  on_shares(y, scan, [&](VectorView own, const Scan& views, Stream& stream) {
    const auto dense = dense_.along(views, rows, stream);
    if (!dense) return;
    kernels::metal(stream.device())
        .add_denser(denser_, image(ConstVectorView(dense->lines)), dense->rows.first, dense->rows.together,
                    image(own), stream);
    stream.synchronize();
  });
}

}  // namespace tandem
