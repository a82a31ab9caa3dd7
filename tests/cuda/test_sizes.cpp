// More rows, slices and views than one dimension of a grid of blocks has (65,535), and numbers of views about
// a power of two. Skipped where no GPU is.

#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/gradient.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

constexpr Index many = 65'600;  // above 2^16 = 65,536, and no multiple of a block

using CudaSizes = Cuda;

/// The CPU's numbers both ways, and the same bits twice.
void expect_pair(const LinearOperator& there, const LinearOperator& here, double bound,
                 const std::string& name) {
  expect_pairs_alike(there, here, name, bound, bound);
  for (const LinearOperator& way : {there, adjoint(there)}) {
    const Array x = random_array(way.domain(), 3);
    EXPECT_TRUE(same_bits(way * x, way * x)) << name;
  }
}

/// `devices` is for sums of up to 2047 terms; rounding grows by the square root.
double bound_of(Index views) {
  return tolerance::devices * std::max(1.0, std::sqrt(static_cast<double>(views) / 2047));
}

ParallelBeam narrow(Index views, Index rows) {
  ParallelBeam scan = scan_of(views, rows, 9);
  scan.detector.axis_bin = 4.3;
  return scan;
}

TEST_F(CudaSizes, ManySlicesHaveTheBitsOfFew) {
  const std::vector<Index> some{0, 65'534, 65'535, 65'536, many - 1};
  const auto with = [&](Index slices, const Execution& how) {
    return projector(narrow(5, slices), grid_of(7, 6, slices), Model::pixel_driven, gpu, how);
  };
  for (const Execution& how : executions(gpu)) {
    expect_same_bits(with(many, how), with(1, how), some, name_of(how) + ", forward");
    expect_same_bits(adjoint(with(many, how)), adjoint(with(1, how)), some, name_of(how) + ", back");
  }
  const auto filter = [&](Index rows) { return ramp_filter(narrow(5, rows), {}, gpu); };
  expect_same_bits(filter(many), filter(1), some, "filter");
  const auto fourier = [&](Index rows) {
    return fourier_fbp(narrow(5, rows), grid_of(7, 6, rows), {.padding = Padding::cosine}, gpu);
  };
  expect_alike(fourier(many), fourier_fbp(narrow(5, many), grid_of(7, 6, many), {.padding = Padding::cosine}),
               "Fourier", tolerance::fourier_pair);
  expect_same_bits_in_every_run(fourier(many), "Fourier");
}

TEST_F(CudaSizes, ManyViewsAgreeWithTheCpu) {
  for (const Index views : {Index{2047}, Index{2048}, Index{2049}, many}) {
    const ParallelBeam scan = views == many ? narrow(views, 2) : scan_of(views, 2, 61);
    const VolumeGrid grid = views == many ? grid_of(7, 6, 2) : grid_of(37, 41, 2);
    const std::string name = std::to_string(views) + " views";
    const double bound = bound_of(views);
    for (const Execution& how : executions_of_hats(gpu))
      if (how.precision == Precision::float32)
        expect_pair(projector(scan, grid, Model::pixel_driven, gpu, how), projector(scan, grid),
                    is_matched(how, gpu) ? bound : tolerance::texture(static_cast<double>(views)),
                    name_of(how) + ", " + name);
    expect_pair(ramp_filter(scan, {.padding = Padding::cosine}, gpu),
                ramp_filter(scan, {.padding = Padding::cosine}), tolerance::devices, "filter, " + name);
    expect_pair(fourier_fbp(scan, grid, {}, gpu), fourier_fbp(scan, grid), bound, "Fourier, " + name);
  }
}

TEST_F(CudaSizes, ConesAgreeWithTheCpu) {
  struct Case {
    std::string name;
    ConeBeam scan;
    VolumeGrid grid;
  };
  const Case cases[] = {{"rows", far_cone(3, many, 7), box(5, 6, 9, 0.5)},
                        {"slices", far_cone(3, 9, 7), box(5, 6, many, 0.5)},
                        {"views", far_cone(many, 5, 7), box(5, 6, 5, 0.5)},
                        {"2047 views", far_cone(2047, 9, 21), box(11, 12, 9, 0.5)},
                        {"2048 views", far_cone(2048, 9, 21), box(11, 12, 9, 0.5)},
                        {"a fan's views", far_cone(many, 1, 7), box(5, 6, 1, 0.5)}};
  for (const Case& c : cases)
    for (const Model model : {Model::separable_footprint, Model::joseph, Model::pixel_driven}) {
      // three terms are the fewest that a texture unit rounds
      const double bound =
          model == Model::separable_footprint ? bound_of(views_of(c.scan)) : tolerance::cone_texture(3);
      expect_pair(projector(c.scan, c.grid, model, gpu), projector(c.scan, c.grid, model), bound,
                  c.name + ", model " + std::to_string(static_cast<int>(model)));
    }
}

TEST_F(CudaSizes, VectorsOfManyBlocksAgreeWithTheCpu) {
  const Space here = volume_space(grid_of(3, 2, many)), there = here.on(gpu);
  expect_dots_alike(here);
  expect_pair(gradient(there), gradient(here), tolerance::devices, "gradient");
}

}  // namespace
}  // namespace tandem::test
