#include "helix_fbp.hpp"

#include <utility>

#include "../core/error.hpp"
#include "../kernels/helix.hpp"
#include "continuation.hpp"
#include "ramp_of_rows.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

Space space_of_fans(const Scan& scan, const HelixScan& helix, Range fans, Device device) {
  return Space({fans.size(), helix.seen.rows, helix.seen.bins}, Blocks::whole, device,
               projection_space(crop(scan, fans)).key())
      .split();
}

void require_transpose(bool there, const Stream& stream) {
  require<DeviceError>(there, "device ", stream.device(),
                       ": weighted filtered back-projection of a helix has no transpose there; give the CPU");
}

/// Rows of parallel fans, sorted from the views.
struct SortedRows {
  std::shared_ptr<const FanViews> views;
  std::shared_ptr<const FanSteps> fans;

  void make(Image<const float> from, Image<float> rows, Stream& stream) const {
    kernels::helix(stream.device()).sort(*views, *fans, from, rows, stream);
  }
  void require_transpose(const Stream& stream) const {
    tandem::require_transpose(kernels::helix(stream.device()).sort_back != nullptr, stream);
  }
  void back(float alpha, Image<const float> rows, float beta, Image<float> to, Stream& stream) const {
    kernels::helix(stream.device()).sort_back(*views, *fans, alpha, rows, beta, to, stream);
  }
};

struct FanBackMap {
  Space volume, fans;
  std::shared_ptr<const FanPlaces> places;
  Space domain() const { return fans; }
  Space range() const { return volume; }

  void apply(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels::helix(stream.device()).back(*places, alpha, image(y), beta, image(x), stream);
  }
  void apply_adjoint(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const auto forward = kernels::helix(stream.device()).forward;
    require_transpose(forward != nullptr, stream);
    forward(*places, alpha, image(x), beta, image(y), stream);
  }
};

kernels::RowFilter row_filter(const HelixScan& helix, const Filter& filter) {
  const Detector d = detector_of(helix);
  kernels::RowFilter f{};
  f.length = kernels::transform_length(2 * d.bins);
  for (const double response :
       filter_response(filter, f.length, d.bin_pitch, {Interpolation::Kind::linear, 1}))
    f.response.push_back(static_cast<float>(response));
  f.beyond = continuation(filter, d, d, f.length);
  return f;
}

template <class T>
std::vector<T> fans_among(const std::vector<T>& all, Range range) {
  return {all.begin() + range.first, all.begin() + range.last};
}

}  // namespace

FilterOfViews helix_filter(const std::shared_ptr<const HelixScan>& helix, const Scan& scan, Filter filter,
                           Device device) {
  kernels::helix(device);
  return [helix, scan, all = row_filter(*helix, filter), device](Range fans) -> LinearOperator {
    const Range behind = views_behind(*helix, fans);
    FanViews views = helix->seen;
    views.views = fans_among(helix->seen.views, behind);
    kernels::RowFilter some = all;
    some.view_weights.assign(fans.size(), 1.0f);
    return RampOfRows<SortedRows>{
        projection_space(crop(scan, behind), device),
        space_of_fans(scan, *helix, fans, device),
        {std::make_shared<const FanViews>(std::move(views)),
         std::make_shared<const FanSteps>(FanSteps{fans_among(helix->fans.views, fans)})},
        std::make_shared<const kernels::RowFilter>(std::move(some))};
  };
}

BackprojectorOfViews helix_backprojector(const std::shared_ptr<const HelixScan>& helix, const Scan& scan,
                                         const VolumeGrid& grid, Device device) {
  kernels::helix(device);
  return [helix, scan, grid, device](Range fans) -> LinearOperator {
    return FanBackMap{cone_volume_space(grid, device), space_of_fans(scan, *helix, fans, device),
                      std::make_shared<const FanPlaces>(pack(*helix, fans, grid))};
  };
}

}  // namespace tandem
