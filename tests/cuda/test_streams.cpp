// What is queued on one stream does not depend on another one. Here the thread's default stream stands still,
// behind a gate: work for another stream that had its memory from there would wait, or meet zeros too late.

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../../operators/algebra.hpp"
#include "cuda_fixture.hpp"
#include "gate.hpp"

namespace tandem::test {
namespace {

/// The identity, which first has the work queued on its stream done, then what is behind the gate: zeros that
/// were queued there for its input now lie over it.
struct OpensTheGate {
  Space space;
  Gate** gate;
  Space domain() const { return space; }
  Space range() const { return space; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    stream.synchronize();
    if (*gate) (*gate)->open();
    axpby(alpha, x, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    apply(alpha, y, beta, x, stream);
  }
};

/// A x on a stream of its own, while the default one stands still.
Array applied_behind_a_gate(const LinearOperator& A, const Array& x, Gate** gate = nullptr) {
  Stream own(x.space().device());
  Array y(A.range(), own);
  Gate standing(default_stream(x.space().device()));
  if (gate) *gate = &standing;
  A.apply(1, x, 0, y, own);
  own.synchronize();
  if (gate) *gate = nullptr;
  standing.open();
  return on_device(y, Device::cpu());
}

/// Kernels and plans are loaded by the first application: loading them waits for the whole device.
void expect_independence(const std::string& name, const LinearOperator& A, Gate** gate = nullptr) {
  const Array x = random_array(A.domain(), 3), truth = A * x;
  for (int run = 0; run < 3; ++run)
    EXPECT_TRUE(same_bits(applied_behind_a_gate(A, x, gate), truth)) << name << ", run " << run;
}

using Streams = Cuda;

TEST_F(Streams, CompositesDoNotWaitForTheDefaultOne) {
  for (const auto& [name, A] : composed_operators(gpu)) {
    expect_independence(name, A);
    expect_independence(name + ", adjoint", adjoint(A));
  }
}

/// Joseph's and the pixel-driven model free an array of the texture units, which waits for the device.
TEST_F(Streams, FdkDoesNotWaitForTheDefaultOne) {
  const ConeBeam scan{{31, 9, 0.9, 1.3, 15.2}, regular_angles(19, whole_turn), 60, 100, 4};
  const VolumeGrid grid = fitting_grid(scan);
  expect_independence("FDK", fdk(scan, grid, {}, Model::separable_footprint, gpu));
}

/// Fails where a temporary is born on the default stream: its zeros land on what was written to it since.
TEST_F(Streams, TemporariesAreBornOnTheStreamThatIsGiven) {
  const LinearOperator A = odd_projector(3);
  Gate* gate = nullptr;
  const LinearOperator opens = OpensTheGate{A.range(), &gate};
  expect_independence("product", opens * A, &gate);
  expect_independence("product of three", 2.0f * (opens * (identity(A.range()) * A)), &gate);
  const auto both = [&](ConstVectorView in, tandem::VectorView out, Stream& stream) {
    A.apply(1, in, 0, out, stream);
    stream.synchronize();
    if (gate) gate->open();
  };
  expect_independence("made of functions", make_operator(A.domain(), A.range(), both, both), &gate);
}

/// Fails where the weights are copied on the default stream: they are multiplied before they are there.
TEST_F(Streams, DiagonalTakesItsWeightsOnTheStreamThatIsGiven) {
  const Space space({3, 301, 203}, Blocks::slices, gpu);
  expect_independence("diagonal", diagonal(random_array(space, 8)));
}

/// A user on another stream meets no zeros that come later.
TEST_F(Streams, AnArrayThatNamesNoneIsThereForAll) {
  Gate standing(default_stream(gpu));
  std::atomic<bool> opening = false;
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    opening = true;
    standing.open();
  });
  const Array zero(Space({1, 1, 1 << 20}, Blocks::whole, gpu));
  EXPECT_TRUE(opening);
  opener.join();
}

/// PyTorch and CuPy hand over their current stream so: null is the legacy default stream.
TEST_F(Streams, OfOtherLibrariesAreUsedAsTheyAre) {
  const LinearOperator A = odd_projector(3);
  const Array x = random_array(A.domain(), 3), truth = A * x;
  cudaStream_t made = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), cudaSuccess);
  for (cudaStream_t native : {made, cudaStream_t{nullptr}}) {
    Stream foreign = Stream::foreign(gpu, {native, [](void*) {}});
    Array y(A.range());
    {
      const UseStream use(foreign);
      EXPECT_EQ(default_stream(gpu).native(), native);
      A.apply(1, x, 0, y, default_stream(gpu));
    }
    EXPECT_NE(default_stream(gpu).native(), native);
    Event passed(gpu);
    passed.record(foreign);
    default_stream(gpu).wait(passed);
    EXPECT_TRUE(same_bits(y.clone(), truth));
  }
  EXPECT_EQ(cudaStreamDestroy(made), cudaSuccess);
}

TEST_F(Streams, TheCurrentGpuOfTheCallerStaysAsItIs) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(count - 1), cudaSuccess);
  {
    const KeepCurrentGpu keep;
    default_stream(gpu).synchronize();
  }
  int now = -1;
  EXPECT_EQ(cudaGetDevice(&now), cudaSuccess);
  EXPECT_EQ(now, count - 1);
}

}  // namespace
}  // namespace tandem::test
