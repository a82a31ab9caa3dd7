// FBP of modified Shepp-Logan, whose line integrals and pixels are known in closed form, and of white noise,
// with each window and each model. There are enough views to resolve the grid, and the detector covers its
// diagonal.

#include <cmath>
#include <numbers>

#include "../core/rounding.hpp"
#include "../geometry/phantom.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/fourier.hpp"
#include "../operators/projector.hpp"
#include "../operators/random.hpp"
#include "../pipeline/watch/quality.hpp"
#include "harness.hpp"

namespace tandem::bench {

namespace {

struct Picture {
  std::string model;
  Execution how;
  LinearOperator B;
  Picture(std::string name, Execution execution, LinearOperator operation)
      : model(std::move(name)), how(std::move(execution)), B(std::move(operation)) {}
};

std::vector<double> angles(Index views, double arc) {
  std::vector<double> all;
  for (Index v = 0; v < views; ++v) all.push_back(arc * v / views);
  return all;
}

Index bins_for(double width) { return ceil_index(width) | 1; }

/// Half a turn of a parallel beam, with the wanted projectors.
struct Parallel {
  ParallelBeam scan;
  VolumeGrid grid;

  explicit Parallel(const Axes& axes) {
    const double size = axes.size;
    const Index bins = bins_for(std::numbers::sqrt2 * size);
    scan.detector = {bins, 1, 1, 1, 0.5 * (bins - 1)};
    scan.angles = angles(std::lround(0.5 * std::numbers::pi * size), std::numbers::pi);
    grid = {{axes.size, axes.size, 1}, {1, 1, 1}, {0, 0, 0}};
  }

  Picture direct(Model model, const Filter& filter, const Axes& axes, const Execution& wanted) const {
    const Execution how = resolved(wanted, scan, grid, model, axes.device, Pairing::any);
    return {std::string(name_of(model)), how,
            fbp(projector(scan, grid, model, axes.device, how), scan, grid, filter,
                interpolation_of(scan, grid, model, how, axes.device))};
  }

  std::vector<Picture> pictures(const Filter& filter, const Axes& axes) const {
    std::vector<Picture> all;
    for (const Execution& how : axes.executions)
      all.push_back(direct(Model::pixel_driven, filter, axes, how));
    all.push_back(direct(Model::joseph, filter, axes, {}));
    all.emplace_back("fourier", Execution{"fourier"}, fourier_fbp(scan, grid, filter, axes.device));
    return all;
  }
};

/// A full turn of a fan beam with magnification 2, whose bins are as large as pixels at the axis. It does not
/// take Joseph, whose hats along the rows are no means over the one row of a fan.
struct Fan {
  FanBeam scan;
  VolumeGrid grid;

  explicit Fan(const Axes& axes) {
    const double size = axes.size;
    const Index bins = bins_for(1.55 * size);
    scan = {{{bins, 1, 2, 2, 0.5 * (bins - 1)},
             angles(std::lround(std::numbers::pi * size) | 1, 2 * std::numbers::pi),
             3 * size,
             6 * size,
             0}};
    grid = {{axes.size, axes.size, 1}, {1, 1, 1}, {0, 0, 0}};
  }

  std::vector<Picture> pictures(const Filter& filter, const Axes& axes) const {
    std::vector<Picture> all;
    for (const Model model : {Model::separable_footprint, Model::pixel_driven})
      all.emplace_back(std::string(name_of(model)), Execution{"standard"},
                       fdk(scan, grid, filter, model, axes.device));
    return all;
  }
};

/// The standard deviation in a ring whose pixels all views see, at many positions between bins.
double noise_in_ring(const Array& image, Index size) {
  const double middle = 0.5 * (size - 1), radius = 0.5 * size;
  double sum = 0, count = 0;
  for (Index i = 0; i < image.size(); ++i) {
    const Index x = i % size, y = i / size;
    const double r = std::hypot(x - middle, y - middle);
    if (r < 0.15 * radius || r > 0.85 * radius) continue;
    sum += std::pow(image.data()[i], 2), ++count;
  }
  return std::sqrt(sum / count);
}

/// Random signs, which are the same on any device.
Array signs(const Space& data) {
  Random random(1);
  return on_device(sign_array(data.on(Device::cpu()), random), data.device());
}

std::span<float> values(Array& a) { return std::span(a.data(), a.size()); }

Rows::value_type row_of(const Picture& picture, std::string_view window, const Axes& axes, Array image,
                        Array& truth, Array noise) {
  const Shape shape{1, axes.size, axes.size};
  const pipeline::Quality quality = pipeline::compare(values(image), values(truth), shape);
  const double views = picture.B.domain().shape()[0];
  return {{"direction", std::string(window) + " " + picture.model},
          {"window", window},
          {"model", picture.model},
          {"variant", picture.how.variant},
          {"precision", name_of(picture.how.precision)},
          {"size", axes.size},
          {"views", views},
          {"slices", 1},
          {"rmse_disc", quality.rmse_disc},
          {"psnr", quality.psnr},
          {"noise", noise_in_ring(noise, axes.size) * std::sqrt(views)}};
}

template <class Kind>
Rows rows_of(const Kind& c, const Axes& axes, const OnLine& on_line) {
  const Phantom phantom = scaled(shepp_logan(), half_width(c.grid), 1);
  Array exact(projection_space(c.scan)), truth(volume_space(c.grid));
  project(phantom, c.scan, {0, 1}, values(exact));
  voxelise(phantom, c.grid, {0, 1}, values(truth));
  const Array y = on_device(exact, axes.device), noise = signs(y.space());
  const Device cpu = Device::cpu();
  Rows rows = Rows::array();
  for (const std::string_view window : window_names()) {
    if (window == "none") continue;
    for (const Picture& picture : c.pictures({.window = window_named(window)}, axes)) {
      on_line(std::string(window) + ", " + picture.model);
      Array image(picture.B.range());
      const double ms =
          median_ms(axes, [&] { picture.B.apply(1, y, 0, image, default_stream(axes.device)); });
      rows.push_back(
          row_of(picture, window, axes, on_device(image, cpu), truth, on_device(picture.B * noise, cpu)));
      rows.back()["ms"] = ms;
    }
  }
  return rows;
}

}  // namespace

Rows pictures(const Axes& axes, const OnLine& on_line) {
  return axes.cone ? rows_of(Fan(axes), axes, on_line) : rows_of(Parallel(axes), axes, on_line);
}

}  // namespace tandem::bench
