// Calibration on CUDA against the CPU. Skipped where no GPU is.

#include <numeric>

#include "../../calibration/sharpest.hpp"
#include "../../calibration/slices.hpp"
#include "../../calibration/view_moves.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/trial_slices.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using calibration::FrameStack, calibration::Sought, calibration::Verdict, calibration::ViewMove;

class CudaCalibration : public Cuda {
 protected:
  static constexpr Index rows = 48, bins = 64;
  static FrameStack frames_of(const Scan& scan, const std::vector<double>& angles) {
    Phantom body = scaled(foam(2), 19, 1);
    body.ellipsoids.resize(80);
    FrameStack frames{{}, rows, bins, angles, 0, 1};
    frames.values.resize(angles.size() * static_cast<std::size_t>(rows * bins));
    project(body, scan, {0, rows}, frames.values, 1);
    return frames;
  }
  static Scan circle(bool parallel) {
    std::vector<double> angles;
    for (int k = 0; k < 90; ++k) angles.push_back(whole_turn * k / 90);
    const Detector d{bins, rows, 1, 1, 0.5 * (bins - 1)};
    return parallel ? Scan(ParallelBeam{d, angles}) : Scan(ConeBeam{d, angles, 80, 120, 0.5 * (rows - 1)});
  }
};

TEST_F(CudaCalibration, MakesTheTrialSlicesOfTheCpu) {
  const TrialCase all;
  const Space space(all.slices());
  Array here(space), there(space.on(gpu)), frames(Space(all.frames));
  std::copy(all.values.begin(), all.values.end(), frames.data());
  const Array sent = on_device(frames, gpu);
  kernels::trial_slices(cpu).back_project(all.trials, all.image(), image(VectorView(here)),
                                          default_stream(cpu));
  kernels::trial_slices(gpu).back_project(all.trials, image(ConstVectorView(sent)), image(VectorView(there)),
                                          default_stream(gpu));
  EXPECT_LE(relative_error(there, here), tolerance::devices);
}

/// The numbers that slices tell are those of the CPU to a hundredth of their uncertainty.
TEST_F(CudaCalibration, FindsTheSameSharpestSlices) {
  for (const bool parallel : {false, true}) {
    const Scan scan = circle(parallel);
    const FrameStack frames =
        frames_of(as_free_views(scan, {.roll = in_radians(0.5), .tilt = in_radians(parallel ? 0.3 : 0)}),
                  angles_of(scan));
    const std::vector<Sought> what{Sought::roll, parallel ? Sought::tilt : Sought::midplane};
    const auto here = find_sharpest(frames, as_free_views(scan), what),
               there = find_sharpest(frames, as_free_views(scan), what, {}, gpu);
    for (std::size_t k = 0; k < what.size(); ++k) {
      EXPECT_EQ(there.numbers[k].verdict, here.numbers[k].verdict);
      EXPECT_NEAR(there.numbers[k].change, here.numbers[k].change, 0.01 * here.numbers[k].uncertainty + 1e-9);
    }
    EXPECT_EQ(here.numbers[0].verdict, Verdict::resolved);
    EXPECT_NEAR(there.common, here.common, 1e-4);
  }
}

/// Views are moved as on the CPU, to a tenth of their uncertainty: steps end within 0.003 cells.
TEST_F(CudaCalibration, FindsTheSameMovesOfViews) {
  for (const bool parallel : {false, true}) {
    const FlexibleBeam scan = as_free_views(circle(parallel));
    std::vector<calibration::ViewMove> moves(scan.views.size());
    Random random(3);
    for (calibration::ViewMove& move : moves) move = {random.uniform() - 0.5, random.uniform() - 0.5, 0};
    const FrameStack frames =
        frames_of(calibration::moved_by(scan, moves), std::vector<double>(scan.views.size()));
    const auto here = find_view_moves(frames, scan), there = find_view_moves(frames, scan, {.device = gpu});
    EXPECT_EQ(there.rounds, here.rounds);
    EXPECT_EQ(here.verdict[0], Verdict::resolved);
    for (std::size_t v = 0; v < scan.views.size(); ++v)
      for (const std::size_t k : {0, 1}) {
        EXPECT_EQ(there.verdict[k], here.verdict[k]);
        EXPECT_NEAR(there.moves[v][k], here.moves[v][k], 1e-3);
      }
  }
}

TEST_F(CudaCalibration, MakesTheSameSlices) {
  for (const bool parallel : {false, true}) {
    const Scan scan = as_free_views(circle(parallel));
    const FrameStack frames = frames_of(scan, std::vector<double>(90));
    const VolumeGrid grid = fitting_grid(scan);
    const std::vector<float> here = slices_of(frames, scan, grid, {0, 4}),
                             there = slices_of(frames, scan, grid, {0, 4}, gpu);
    ASSERT_EQ(there.size(), here.size());
    double off = 0, all = 0;
    for (std::size_t k = 0; k < here.size(); ++k)
      off += std::pow(there[k] - here[k], 2), all += std::pow(here[k], 2);
    EXPECT_LE(std::sqrt(off / all), tolerance::fbp_devices);
  }
}

}  // namespace
}  // namespace tandem::test
