#include "projector.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../kernels/cone.hpp"
#include "../kernels/flexible.hpp"
#include "../kernels/flexible_footprint.hpp"
#include "../kernels/fourier.hpp"
#include "../kernels/parallel.hpp"
#include "distributed/team_operator.hpp"
#include "fourier.hpp"
#include "hierarchical.hpp"
#include "table_operator.hpp"

namespace tandem {

namespace {

/// A table with one row.
kernels::Table<ConeViews> only(Model model, Device device) { return {&kernels::cone(model, device), 1}; }

/// Each member of a team projects its copy of the volume onto its share of the views.
template <class Beam>
LinearOperator by_team(const Beam& scan, const VolumeGrid& grid, Model model, Device team,
                       const Execution& wanted) {
  const Space projections = projection_space(scan, team);
  std::vector<LinearOperator> of_members;
  for (int k = 0; k < team.members(); ++k) {
    const Range views{projections.first_plane(k), projections.first_plane(k + 1)};
    of_members.push_back(projector(crop(scan, views), grid, model, team.member(k), wanted));
  }
  return team_operator(cone_volume_space(grid, team), projections, std::move(of_members));
}

/// The views that see a grid. Sources must be outside of the grid, also if its voxels are made taller.
FlexibleViews seen_by(const FlexibleBeam& scan, const VolumeGrid& grid) {
  FlexibleViews views = pack(scan, grid);
  if (grid.size[2] == 1) views = places(scan, tall_voxels(scan, grid));
  return views;
}

LinearOperator projector_of(const ParallelBeam& scan, const VolumeGrid& grid, Model model, Device device,
                            const Execution& wanted) {
  if (model == Model::fourier) return fourier_projector(scan, grid, device, wanted);
  auto views = std::make_shared<const ParallelViews>(pack(scan, grid, model));
  const Space projections = projection_space(scan, device);
  const auto table = kernels::parallel(device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  const float scale = views->scale;
  return Projector<ParallelViews>{volume_space(grid, device), projections, std::move(views),
                                  find(table, how.variant),   how,         scale};
}

LinearOperator projector_of(const ConeBeam& scan, const VolumeGrid& grid, Model model, Device device,
                            const Execution& wanted) {
  if (device.members() > 1) return by_team(scan, grid, model, device, wanted);
  if (model == Model::hierarchical) return hierarchical_projector(scan, grid, device, wanted);
  const auto table = only(model, device);
  auto views = std::make_shared<const ConeViews>(pack(scan, grid, model));
  const Space projections = projection_space(scan, device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  return Projector<ConeViews>{
      cone_volume_space(grid, device), projections, std::move(views), &table.front(), how, 1};
}

LinearOperator projector_of(const FanBeam& scan, const VolumeGrid& grid, Model model, Device device,
                            const Execution& wanted) {
  return projector_of(static_cast<const ConeBeam&>(scan), tall_voxels(scan, grid), model, device, wanted);
}

LinearOperator projector_of(const FlexibleBeam& scan, const VolumeGrid& grid, Model model, Device device,
                            const Execution& wanted) {
  require<GeometryError>(model == Model::separable_footprint, "FlexibleBeam: ", name_of(model),
                         " is a model of other beams; separable_footprint is needed");
  if (device.members() > 1) return by_team(scan, grid, model, device, wanted);
  const auto table = kernels::flexible(device);
  auto views = std::make_shared<const FlexibleViews>(seen_by(scan, grid));
  const Space projections = projection_space(scan, device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  return Projector<FlexibleViews>{
      cone_volume_space(grid, device), projections, std::move(views), &table.front(), how, 1};
}

}  // namespace

LinearOperator projector(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model, Device device,
                         const Execution& execution) {
  return std::visit(
      [&](const auto& s) {
        return projector_of(s, grid, model.value_or(usual_model(scan)), device, execution);
      },
      scan);
}

namespace {

Index lines_of_bricks(const auto&) { return 1; }
Index lines_of_bricks(const FlexibleBeam&) { return kernels::brick_edge; }

}  // namespace

Index lines_together(const Scan& scan) {
  return std::visit([](const auto& s) { return lines_of_bricks(s); }, scan);
}

Execution like(const Execution& wanted, Device first, Device other) {
  const kernels::ParallelVariant* row = find(kernels::parallel(first), wanted.variant);
  const bool same = !row || row->coefficient == kernels::parallel(other).front().coefficient;
  require<GeometryError>(same, spelled("variant") + " ", wanted.variant, ": device ", other.name(),
                         " computes nothing like it; give " + spelled("device") + " ", first.name());
  return {.accuracy = wanted.accuracy};
}

std::vector<Execution> executions(Device device, Model model) {
  return model == Model::fourier ? executions(kernels::fourier(device))
                                 : executions(kernels::parallel(device));
}

bool is_matched(const Execution& how, Device device) {
  const kernels::Grade* grade = grade_of(kernels::parallel(device), how);
  if (!grade) grade = grade_of(kernels::fourier(device), how);
  require<DeviceError>(grade, "device ", device.name(), ": no ", name_of(how));
  return grade->matched;
}

bool is_matched(Model model, Device device) {
  return model == Model::hierarchical || kernels::cone(model, device).grades.front().matched;
}

namespace {

/// Views of other kinds run in one way only.
Execution way_of(const auto&, const Execution& wanted, const VolumeGrid&, Model, Device, Pairing) {
  return wanted;
}
Execution way_of(const ParallelBeam& scan, const Execution& wanted, const VolumeGrid& grid, Model model,
                 Device device, Pairing pairing) {
  if (model == Model::fourier) return resolved_fourier(wanted, scan, device);
  return resolve(kernels::parallel(device), wanted, pairing, pack(scan, grid, model),
                 projection_space(scan).shape(), device);
}

bool has_matched_pair(const ParallelBeam& scan, const VolumeGrid& grid, Model model, Device device,
                      const Execution& wanted) {
  return is_matched(way_of(scan, wanted, grid, model, device, Pairing::matched), device);
}
bool has_matched_pair(const ConeBeam&, const VolumeGrid&, Model model, Device device, const Execution&) {
  return is_matched(model, device);
}
bool has_matched_pair(const FlexibleBeam&, const VolumeGrid&, Model, Device, const Execution&) {
  return true;
}

}  // namespace

Execution resolved(const Execution& wanted, const Scan& scan, const VolumeGrid& grid, Model model,
                   Device device, Pairing pairing) {
  return std::visit([&](const auto& s) { return way_of(s, wanted, grid, model, device, pairing); }, scan);
}

bool is_matched(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model, Device device,
                const Execution& wanted) {
  return std::visit(
      [&](const auto& s) {
        return has_matched_pair(s, grid, model.value_or(usual_model(scan)), device, wanted);
      },
      scan);
}

WorkingMemory working_memory(Model model, Shape volume, Shape projections, Device device) {
  const kernels::ConeVariant& row = kernels::cone(model, device);
  return row.working_memory(row.grades.front().precision, volume, projections, device);
}

namespace {

WorkingMemory memory_of_footprints(const auto&, Shape volume, Shape projections, Device device) {
  return working_memory(Model::separable_footprint, volume, projections, device);
}
WorkingMemory memory_of_footprints(const FlexibleBeam& scan, Shape volume, Shape projections, Device device) {
  const kernels::FlexibleVariant& row = kernels::flexible(device).front();
  const WorkingMemory any = row.working_memory(row.grades.front().precision, volume, projections, device);
  if (!has_upright_views(scan)) return any;
  const WorkingMemory upright = working_memory(Model::separable_footprint, volume, projections, device);
  return {std::max(any.forward, upright.forward), std::max(any.backward, upright.backward)};
}

}  // namespace

WorkingMemory working_memory(const Scan& scan, Shape volume, Shape projections, Device device) {
  return std::visit([&](const auto& s) { return memory_of_footprints(s, volume, projections, device); },
                    scan);
}

WorkingMemory working_memory(const Execution& how, Shape volume, Shape projections, Device device) {
  const kernels::ParallelVariant* row = find(kernels::parallel(device), how.variant);
  require<DeviceError>(row, "device ", device.name(), ": no ", name_of(how));
  return row->working_memory(how.precision, volume, projections, device);
}

}  // namespace tandem
