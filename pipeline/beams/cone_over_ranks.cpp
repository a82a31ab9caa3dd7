// Vectors of a cone or fan beam that are split over several ranks. Each rank projects onto its own views.

#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../methods/method.hpp"
#include "cone.hpp"
#include "shared_out.hpp"

namespace tandem::pipeline {

namespace {

LinearOperator projector_over_ranks(const Flow& flow, const Worker& worker, const Scan& scan, Range own,
                                    const VolumeGrid& grid, const std::function<void()>&) {
  return split(flow, worker.device, point_source_of(scan), own, seen_by_projector(scan, grid));
}

/// F for the views of this rank.
std::optional<LinearOperator> ramp_over_ranks(const Flow&, const Filter& how, const Problem& problem) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const Device device = problem.A.domain().device();
  const Range own = problem.own_views;
  std::optional<LinearOperator> F;
  if (own.size() > 0)
    F = ramp_filter_of_views(scan, how, device, interpolation_of(scan, problem.grid, cone_model))(own);
  return make_operator(
      problem.A.range(), portion_of(filtered_scan(scan), own, device),
      [F](ConstVectorView y, VectorView filtered, Stream& stream) {
        if (F) F->apply(1, {y.data, F->domain()}, 0, {filtered.data, F->range()}, stream);
      },
      [F](ConstVectorView filtered, VectorView y, Stream& stream) {
        if (F) F->apply_adjoint(1, {filtered.data, F->range()}, 0, {y.data, F->domain()}, stream);
      });
}

Array back_projected(const Flow& flow, const Problem& problem, const Array& filtered) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const VolumeGrid seen = seen_by_fdk(problem.scan, problem.grid);
  const Device device = filtered.space().device();
  return backprojector(split(flow, device, filtered_scan(scan), problem.own_views, seen), scan, seen) *
         filtered;
}

BackProjection fdk_over_ranks(const Flow& flow, const Filter&, const Problem& problem) {
  return [&flow, problem](const Array& filtered, const std::function<void(double)>&) {
    return back_projected(flow, problem, filtered);
  };
}

WorkingMemory ranks_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections) {
  return cone_on_devices.working_memory(plan, worker, volume, projections);
}

}  // namespace

const Placement cone_over_ranks{words_of_ranks,       false,           ranks_hold,
                                projector_over_ranks, ramp_over_ranks, fdk_over_ranks};

}  // namespace tandem::pipeline
