// What runs on a GPU, against the CPU and against its own transpose. Skipped where no GPU is.

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/sirt.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

const Execution alu{"alu", Precision::float32};

/// Makes the ramp filter of a scan on a device.
template <class Beam>
Make filters(const Beam& scan, const Filter& filter = {}) {
  return [=](Device device) { return ramp_filter(scan, filter, device); };
}

TEST_F(Cuda, OperatorsAgreeWithTheCpu) {
  for (const Index bins : {1, 7, 61, 2047}) {
    for (const Model model : {Model::pixel_driven, Model::joseph})
      for (const double pitch : {0.5, 1.0, 2.3})
        expect_the_cpus(projectors(odd_scan(bins, 29), grid_of(37, 41, 29, pitch), model, alu),
                        "bins " + std::to_string(bins) + ", pitch " + std::to_string(pitch));
    for (const Window window : windows)
      expect_the_cpus(filters(odd_scan(bins, 5), {window, {}}), "filter, bins " + std::to_string(bins));
  }
  const ParallelBeam wobbling = wobbling_scan();
  expect_the_cpus([&](Device device) { return align_rows(wobbling, device); }, "align_rows");
  ParallelBeam wide = wobbling;
  wide.detector.bins += 9, wide.detector.axis_bin += 4;
  for (double& axis : wide.row_axis_bins) axis += 4;
  expect_the_cpus([&](Device device) { return align_rows(wobbling, wide, Padding::cosine, device); },
                  "align_rows onto a wider detector");
  for (const double axis : {15.2, 6.4, 25.1})  // detectors to one side too, whose rows are widened
    for (const double arc : {whole_turn, 3.6}) {
      const ConeBeam scan{{31, 5, 0.9, 1.3, axis}, regular_angles(19, arc), 60, 100, 1.7};
      expect_the_cpus(filters(scan), "cone filter, axis at bin " + std::to_string(axis));
      expect_beta_zero_reads_nothing(ramp_filter(scan, {}, gpu), "cone filter");
    }
}

TEST_F(Cuda, ShiftedViewsAgreeWithTheCpu) {
  const ParallelBeam scan = with_shifted_views(odd_scan(61, 29));
  for (const Model model : {Model::pixel_driven, Model::joseph})
    for (const double pitch : {0.5, 1.0, 2.3}) {
      const Make make = projectors(scan, grid_of(37, 41, 29, pitch), model, alu);
      expect_the_cpus(make, std::string(name_of(model)) + ", pitch " + std::to_string(pitch));
      EXPECT_LE(adjointness(make(gpu)).mismatch, tolerance::mismatch);
    }
}

TEST_F(Cuda, ABatchHasTheBitsOfOneByOne) {
  for (const Index slices : {1, 2})
    for (const auto& [name, A] : operators_of_slices(slices, gpu))
      for (const Index count : {1, 2, 7, 66}) {
        expect_bits_of_one_by_one(A, count, name);
        expect_bits_of_one_by_one(adjoint(A), count, name + ", adjoint");
      }
  for (const Execution& how : executions(gpu))
    for (const Index count : {3, 66}) {
      expect_bits_of_one_by_one(odd_projector(1, how), count, name_of(how));
      expect_bits_of_one_by_one(adjoint(odd_projector(1, how)), count, name_of(how) + ", adjoint");
    }
}

/// Float16 ends at 65 504; a slice is scaled before it becomes that.
TEST_F(Cuda, PrecisionsBearAnyScale) {
  for (const Execution& how : executions(gpu)) {
    const LinearOperator B =
        adjoint(projector(odd_scan(61, 5), grid_of(37, 41, 5), Model::pixel_driven, gpu, how));
    const Array y = random_array(B.domain(), 5);
    for (const float scale : {0x1p-60f, 0x1p60f}) {
      Array scaled(B.domain());
      axpby(scale, y, 0, scaled, default_stream(gpu));
      Array x = B * scaled;
      axpby(1 / scale, x.clone(), 0, x, default_stream(gpu));
      EXPECT_LE(relative_error(x, B * y), tolerance::devices) << name_of(how) << ", times " << scale;
    }
  }
}

TEST_F(Cuda, VectorOperationsAgreeWithTheCpu) {
  for (const Blocks blocks : {Blocks::whole, Blocks::slices, Blocks::rows}) {
    const Space here({13, 37, 1031}, blocks), there = here.on(gpu);
    const Array x = random_array(here, 6), gx = on_device(x, gpu);
    Array y = random_array(here, 7), gy = on_device(y, gpu);
    Stream &cs = default_stream(cpu), &gs = default_stream(gpu);
    expect_dots_alike(here);
    const std::size_t count = dot(x, y, cs).size();
    std::vector<float> s(count), t(count), floor(count, 0.25f);
    for (std::size_t k = 0; k < count; ++k) s[k] = 0.1f * static_cast<float>(k), t[k] = 1 - s[k];
    axpby(s, x, t, y, cs);
    axpby(s, gx, t, gy, gs);
    EXPECT_LE(relative_error(gy, y), tolerance::axpby);
    multiply(x, y, cs);
    multiply(gx, gy, gs);
    EXPECT_LE(relative_error(gy, y), 2 * tolerance::axpby);
    attenuate(x, y, cs);
    attenuate(gx, gy, gs);
    EXPECT_LE(relative_error(gy, y), 4 * tolerance::axpby);
    Array u = random_array(here, 9),
          gu = on_device(u, gpu);  // equal bits, so that both see the same side of the floor
    reciprocal_or_zero(u, floor, cs);
    reciprocal_or_zero(gu, floor, gs);
    divide(u, floor, 3, y, cs);
    divide(gu, floor, 3, gy, gs);
    EXPECT_LE(relative_error(gy, y), 2 * tolerance::axpby);
    clamp_below(y, 0, cs);
    clamp_below(gy, 0, gs);
    shrink(y, floor, u, cs);
    shrink(gy, floor, gu, gs);
    EXPECT_LE(relative_error(gu, u), 4 * tolerance::axpby);
    clamp_below(u, 0.5f, cs);
    clamp_below(gu, 0.5f, gs);
    for (const bool above : {false, true}) {
      clamp_each(x, above, u, cs);
      clamp_each(gx, above, gu, gs);
    }
    EXPECT_LE(relative_error(gu, u), tolerance::axpby);
  }
}

TEST_F(Cuda, SolversAgreeWithTheCpu) {
  const ParallelBeam scan = odd_scan(61, 5);
  const LinearOperator A = projector(scan, grid_of(41, 41, 5)),
                       B = projector(scan, grid_of(41, 41, 5), Model::pixel_driven, gpu);
  const Array b = random_array(A.range(), 8), gb = on_device(b, gpu);
  const ActiveBlocks active(5, true);
  Cgls one(A, b, Array(A.domain())), two(B, gb, Array(B.domain()));
  Sirt three(A, b, Array(A.domain())), four(B, gb, Array(B.domain()));
  for (int k = 0; k < 4; ++k) one.step(active), two.step(active), three.step(active), four.step(active);
  EXPECT_LE(relative_error(two.solution(), one.solution()), tolerance::solver_steps);
  EXPECT_LE(relative_error(four.solution(), three.solution()), tolerance::solver_steps);
}

/// Lines of a volume up into an array and down into another volume, from any memory.
TEST_F(Cuda, PartsOfPlanesAreCopied) {
  const Space space({7, 300, 64});
  const Array from = random_array(space, 4);
  const auto lines = [](auto whole) {
    whole.data += 120 * whole.s1, whole.n1 = 50;
    return whole;
  };
  for (const bool pinned : {false, true}) {
    Array there(Space({7, 50, 64}, Blocks::whole, gpu)), to(space);
    std::vector<Pinned> held;
    if (pinned) held.emplace_back(from), held.emplace_back(to);
    for (const Pinned& p : held) EXPECT_TRUE(p.held());
    Stream& stream = default_stream(gpu);
    copy(lines(image(ConstVectorView(from))), image(tandem::VectorView(there)), stream);
    copy(image(ConstVectorView(there)), lines(image(tandem::VectorView(to))), stream);
    stream.synchronize();
    for (Index z = 0; z < 7; ++z)
      for (Index k = 0; k < 300 * 64; ++k) {
        const bool inside = k >= 120 * 64 && k < 170 * 64;
        ASSERT_EQ(to.data()[z * 300 * 64 + k], inside ? from.data()[z * 300 * 64 + k] : 0) << z << ' ' << k;
      }
  }
}

/// An upload on one stream, a copy back on another, many times over in the same buffer.
TEST_F(Cuda, StreamsWaitForEvents) {
  const Space space({1, 1, 1 << 20});
  Array from(space), to(space), there(space.on(gpu));
  default_stream(gpu).synchronize();  // arrays are made on this stream
  const Pinned held[] = {Pinned(from), Pinned(to)};
  Stream one(gpu), two(gpu);
  Event filled(gpu), read(gpu);
  for (int run = 1; run <= 20; ++run) {
    read.synchronize();
    EXPECT_TRUE(run == 1 || to.data()[space.size() - 1] == static_cast<float>(run - 1));
    fill(from, static_cast<float>(run), default_stream(cpu));
    copy(from, there, one);
    filled.record(one);
    two.wait(filled);
    copy(there, to, two);
    read.record(two);
  }
  two.synchronize();
}

TEST_F(Cuda, MemoryThatCannotBeHadIsADeviceErrorAndNothingElse) {
  EXPECT_THROW(Array(Space({1 << 20, 1 << 20, 1 << 4}, Blocks::whole, gpu)), DeviceError);
  const LinearOperator A = odd_projector(1);
  EXPECT_NO_THROW(A * random_array(A.domain(), 9));
}

}  // namespace
}  // namespace tandem::test
