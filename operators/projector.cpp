#include "projector.hpp"

#include "../core/error.hpp"
#include "../kernels/cone.hpp"
#include "../kernels/parallel.hpp"

namespace tandem {

namespace {

struct ParallelProjector {
  Space volume, projections;
  std::shared_ptr<const ParallelViews> views;
  Execution how;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    kernels::parallel(stream.device())
        .forward(*views, how, alpha * views->scale, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels::parallel(stream.device())
        .backward(*views, how, alpha * views->scale, image(y), beta, image(x), stream);
  }
};

struct ConeProjector {
  Space volume, projections;
  std::shared_ptr<const ConeViews> views;
  const kernels::ConeKernels* kernels;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    kernels->forward(*views, alpha, image(x), beta, image(y), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels->backward(*views, alpha, image(y), beta, image(x), stream);
  }
};

}  // namespace

LinearOperator projector(const ParallelBeam& scan, const VolumeGrid& grid, Model model, Device device,
                         Execution wanted) {
  auto views = std::make_shared<const ParallelViews>(pack(scan, grid, model));
  const Space projections = projection_space(scan, device);
  const Execution how =
      kernels::parallel(device).resolve(wanted, Pairing::matched, *views, projections.shape(), device);
  return ParallelProjector{volume_space(grid, device), projections, std::move(views), how};
}

LinearOperator projector(const ConeBeam& scan, const VolumeGrid& grid, Model model, Device device,
                         FootprintTuning tuning) {
  const kernels::ConeKernels& kernels = tandem::kernels::cone(model, device);
  auto views = std::make_shared<ConeViews>(pack(scan, grid, model));
  views->tuning = tuning;
  return ConeProjector{cone_volume_space(grid, device), projection_space(scan, device), std::move(views),
                       &kernels};
}

LinearOperator projector(const FanBeam& scan, const VolumeGrid& grid, Model model, Device device,
                         FootprintTuning tuning) {
  return projector(static_cast<const ConeBeam&>(scan), tall_voxels(scan, grid), model, device, tuning);
}

std::vector<Execution> executions(Device device) {
  std::vector<Execution> all;
  for (const OfferedExecution& e : kernels::parallel(device).executions(device)) all.push_back(e.how);
  return all;
}

bool is_matched(Execution how, Device device) {
  for (const OfferedExecution& e : kernels::parallel(device).executions(device))
    if (e.how == how) return e.matched;
  throw DeviceError("device " + device.name() + ": no " + name_of(how));
}

bool is_matched(Model model, Device device) { return kernels::cone(model, device).matched; }

Execution resolved(Execution wanted, const ParallelBeam& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing) {
  return kernels::parallel(device).resolve(wanted, pairing, pack(scan, grid, model),
                                           projection_space(scan).shape(), device);
}

WorkingMemory working_memory(Model model, Shape volume, Shape projections, Device device) {
  return kernels::cone(model, device).working_memory(volume, projections);
}

WorkingMemory working_memory(Execution how, Shape volume, Shape projections, Device device) {
  return kernels::parallel(device).working_memory(how, volume, projections, device);
}

}  // namespace tandem
