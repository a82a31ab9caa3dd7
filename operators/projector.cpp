#include "tandem/operators/projector.hpp"

#include "tandem/kernels/parallel.hpp"

namespace tandem {

namespace {

struct ParallelProjector {
  Space volume, projections;
  std::shared_ptr<const ParallelViews> views;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void apply(float alpha, ConstView x, float beta, View y, Stream& stream) const {
    kernels::parallel(stream.device())
        .forward(*views, alpha * views->scale, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream& stream) const {
    kernels::parallel(stream.device())
        .backward(*views, alpha * views->scale, image(y), beta, image(x), stream);
  }
};

}  // namespace

LinearOperator projector(const ParallelBeam& scan, const VolumeGrid& grid, Model model, Device device) {
  auto views = std::make_shared<const ParallelViews>(pack(scan, grid, model));
  kernels::parallel(device);  // says now, not at the first apply, that a backend is missing
  return ParallelProjector{volume_space(grid, device), projection_space(scan, device), std::move(views)};
}

}  // namespace tandem
