#include "tandem/operators/tiled_projector.hpp"

#include <algorithm>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"
#include "tandem/geometry/coverage.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/vector.hpp"

namespace tandem {

namespace {

constexpr double copies = 2 * sizeof(float);  // kernels turn what they read, and what they write

/// `count` things in as few pieces of at most `most` as there are, of a number that `devices` divides if it
/// can.
std::vector<Range> pieces(Index count, Index most, Index devices) {
  Index n = (count + most - 1) / most;
  n = std::min(count, (n + devices - 1) / devices * devices);
  std::vector<Range> all;
  for (Index k = 0; k < n; ++k) all.push_back({k * count / n, (k + 1) * count / n});
  return all;
}

double slice_bytes(const VolumeGrid& grid) {
  return copies * static_cast<double>(grid.size[0] * grid.size[1]);
}

double view_bytes(const ConeBeam& scan) {
  return copies * static_cast<double>(scan.detector.rows * scan.detector.bins);
}

struct Tiles {
  ConeBeam scan;
  VolumeGrid grid;
  std::vector<Device> devices;
  Tiling tiling;
  Space domain() const { return cone_volume_space(grid); }
  Space range() const { return projection_space(scan); }

  VolumeGrid slab(Range slices) const { return region(grid, {0, grid.size[0]}, {0, grid.size[1]}, slices); }

  /// Calls body(piece, device) for each of `outputs`, those of one device one after the other.
  template <class Body>
  void on_devices(const std::vector<Range>& outputs, const Body& body) const {
    const auto count = static_cast<Index>(devices.size());
    parallel_for(count, [&](Index d) {
      for (auto k = static_cast<std::size_t>(d); k < outputs.size(); k += devices.size())
        body(outputs[k], devices[static_cast<std::size_t>(d)]);
    });
  }

  void apply(float alpha, ConstView x, float beta, View y, Stream&) const {
    const Index slice = grid.size[0] * grid.size[1], view = scan.detector.rows * scan.detector.bins;
    on_devices(tiling.views, [&](Range views, Device device) {
      const ConeBeam part = crop(scan, views, {0, scan.detector.rows});
      Array block(projection_space(part, device));
      Stream& stream = default_stream(device);
      for (const Range slices : tiling.slabs) {
        if (rows_met(scan, grid, slices).size() <= 0) continue;
        const LinearOperator A = projector(part, slab(slices), Model::separable_footprint, device);
        Array volume(A.domain());
        copy({x.data + slices.first * slice, volume.space().on(Device::cpu())}, volume, stream);
        A.apply(alpha, volume, 1, block, stream);
      }
      const Array here = on_device(std::move(block), Device::cpu());
      axpby(1, here, beta, {y.data + views.first * view, here.space()}, default_stream(Device::cpu()));
    });
  }

  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream&) const {
    const Index slice = grid.size[0] * grid.size[1];
    on_devices(tiling.slabs, [&](Range slices, Device device) {
      const Range rows = rows_met(scan, grid, slices);
      Array volume(cone_volume_space(slab(slices), device));
      Stream& stream = default_stream(device);
      for (const Range views : tiling.views) {
        if (rows.size() <= 0) break;
        const LinearOperator A =
            projector(crop(scan, views, rows), slab(slices), Model::separable_footprint, device);
        Array block(A.range());
        upload(y, views, rows, block, stream);
        A.apply_adjoint(alpha, block, 1, volume, stream);
      }
      const Array here = on_device(std::move(volume), Device::cpu());
      axpby(1, here, beta, {x.data + slices.first * slice, here.space()}, default_stream(Device::cpu()));
    });
  }

  /// Some rows of some views; waits, since `block` may be gone when they would arrive.
  void upload(ConstView y, Range views, Range rows, Array& block, Stream& stream) const {
    const Index bins = scan.detector.bins, one = rows.size() * bins;
    const Space view({1, rows.size(), bins});
    for (Index v = views.first; v < views.last; ++v)
      copy({y.data + (v * scan.detector.rows + rows.first) * bins, view},
           {block.data() + (v - views.first) * one, view.on(stream.device())}, stream);
    stream.synchronize();
  }
};

}  // namespace

Tiling plan_tiles(const ConeBeam& scan, const VolumeGrid& grid, Index devices, double bytes) {
  validate(scan);
  validate(grid);
  const double slice = slice_bytes(grid), view = view_bytes(scan);
  require<DeviceError>(slice + view <= bytes, "tiles: one slice and one view need ", slice + view,
                       " bytes of a device, the limit is ", bytes, "; give more, or a smaller grid");
  const auto views = static_cast<Index>(scan.angles.size());
  // half for slabs, which stay, unless that leaves views too little or slabs do not need it
  const double all = slice * static_cast<double>(grid.size[2]);
  const double for_slab = std::clamp(std::min(0.5 * bytes, all), slice, bytes - view);
  const auto slices = static_cast<Index>(for_slab / slice);
  const auto block = static_cast<Index>((bytes - slice * static_cast<double>(slices)) / view);
  return {pieces(grid.size[2], slices, devices), pieces(views, std::min(block, views), devices)};
}

LinearOperator tiled_projector(const ConeBeam& scan, const VolumeGrid& grid, std::vector<Device> devices,
                               double bytes) {
  require<DeviceError>(!devices.empty(), "tiled_projector: no device is given");
  pack(scan, grid);  // the source must not pass through any slab
  Tiling tiling = plan_tiles(scan, grid, static_cast<Index>(devices.size()), bytes);
  return Tiles{scan, grid, std::move(devices), std::move(tiling)};
}

}  // namespace tandem
