#include "view_derivative.hpp"

#include <memory>

#include "../core/error.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/free_views.hpp"
#include "../kernels/flexible_derivatives.hpp"
#include "algebra.hpp"

namespace tandem {

namespace {

using kernels::ViewNumbers;

/// With the voxels that the projector has.
kernels::MovingViews moving_views(const Scan& scan, const VolumeGrid& grid) {
  require<GeometryError>(
      !is_curved(scan), "FlexibleBeam: its detector is curved; derivatives by views are there for flat ones");
  const auto free = as_free_views(scan);
  pack(free, grid);  // says what is wrong
  return {free.views, free.detector, free.parallel, grid.size[2] == 1 ? tall_voxels(free, grid) : grid};
}

void require_size(std::size_t size, const Space& space, const char* what) {
  require<SpaceError>(static_cast<Index>(size) == space.size(), what, ": ", size, " numbers; ", space.size(),
                      " are needed");
}

Space changes_space(const Scan& scan) { return Space({views_of(scan), 4, 3}); }

std::vector<ViewNumbers> numbers_in(ConstVectorView changes) {
  std::vector<ViewNumbers> all(changes.space.size() / kernels::numbers_of_view);
  const float* from = changes.data;
  for (ViewNumbers& view : all)
    for (double& number : view) number = *from++;
  return all;
}

}  // namespace

LinearOperator view_derivative(const Scan& scan, const VolumeGrid& grid, ConstVectorView x) {
  require<DeviceError>(!x.space.device().is_cuda(), "view_derivative: x lies on ", x.space.device().name(),
                       "; derivatives by views are made on the cpu");
  require_size(x.space.size(), cone_volume_space(grid), "view_derivative: x");
  auto views = std::make_shared<const kernels::MovingViews>(moving_views(scan, grid));
  auto volume = std::make_shared<const std::vector<float>>(x.data, x.data + x.space.size());
  return make_operator(
      changes_space(scan), projection_space(scan),
      [=](ConstVectorView changes, VectorView y, Stream&) {
        kernels::project_changes(*views, volume->data(), numbers_in(changes), y.data);
      },
      [=](ConstVectorView y, VectorView changes, Stream&) {
        float* to = changes.data;
        for (const ViewNumbers& view : kernels::gradient_by_views(*views, volume->data(), y.data))
          for (const double number : view) *to++ = static_cast<float>(number);
      });
}

std::vector<double> project_in_double(const Scan& scan, const VolumeGrid& grid, std::span<const double> x) {
  require_size(x.size(), cone_volume_space(grid), "project_in_double: x");
  std::vector<double> y(projection_space(scan).size());
  kernels::project(moving_views(scan, grid), x.data(), y.data());
  return y;
}

std::vector<double> back_project_in_double(const Scan& scan, const VolumeGrid& grid,
                                           std::span<const double> y) {
  require_size(y.size(), projection_space(scan), "back_project_in_double: y");
  std::vector<double> x(cone_volume_space(grid).size());
  kernels::back_project(moving_views(scan, grid), y.data(), x.data());
  return x;
}

std::vector<FlexibleView> gradient_by_views(const Scan& scan, const VolumeGrid& grid,
                                            std::span<const double> x, std::span<const double> y) {
  require_size(x.size(), cone_volume_space(grid), "gradient_by_views: x");
  require_size(y.size(), projection_space(scan), "gradient_by_views: y");
  std::vector<FlexibleView> all;
  for (const ViewNumbers& n : kernels::gradient_by_views(moving_views(scan, grid), x.data(), y.data()))
    all.push_back({{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, {n[6], n[7], n[8]}, {n[9], n[10], n[11]}});
  return all;
}

}  // namespace tandem
