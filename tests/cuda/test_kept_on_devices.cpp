// What operators keep on a GPU: no stream reads it before it is there, and it stays until the last stream has
// read it, also where the operator is gone before.

#include <cuda_runtime_api.h>

#include <atomic>
#include <barrier>
#include <optional>
#include <thread>

#include "../../core/kept_on_devices.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"
#include "gate.hpp"

namespace tandem::test {
namespace {

using KeptOnGpu = Cuda;

/// Numbers that are not there any more when their memory has been given back.
struct Numbers {
  Array array;
  const Stream& going;
  Numbers(Array made, const Stream& at) : array(std::move(made)), going(at) {}
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() {
    cudaMemsetAsync(array.data(), 0xff, static_cast<std::size_t>(array.size()) * sizeof(float),
                    static_cast<cudaStream_t>(going.native()));
    going.synchronize();
  }
};

class Sevens : public KeptOnGpu {
 protected:
  void SetUp() override {
    KeptOnGpu::SetUp();
    if (IsSkipped()) return;
    space.emplace(Shape{1, 1, 1 << 20}, Blocks::whole, gpu);
    Array first(*space), second(*space);  // kernels are loaded at their first use, which waits for the device
    fill(first, 7, default_stream(gpu));
    copy(first, second, default_stream(gpu));
  }
  /// Made behind the gate, if there is one.
  auto sevens(const KeptOnDevices& kept, const Stream& stream, std::optional<Gate>* gate = nullptr) const {
    return kept.use<Numbers>(stream, [&](const KeptOnDevices::Streams& streams) {
      Stream coming = streams.coming;
      Array array(*space);
      if (gate) gate->emplace(coming);
      fill(array, 7, coming);
      return Numbers(std::move(array), streams.going);
    });
  }
  bool are_sevens(const Array& array) const {
    const Array here = on_device(array, cpu);
    return std::all_of(here.data(), here.data() + here.size(), [](float value) { return value == 7; });
  }
  std::optional<Space> space;
};

TEST_F(Sevens, EveryStreamWaitsForTheMaking) {
  const KeptOnDevices kept;
  Stream first(gpu), second(gpu);
  Array one = zeros(*space, first), two = zeros(*space, second);
  std::optional<Gate> gate;
  copy(sevens(kept, first, &gate)->array, one, first);
  copy(sevens(kept, second)->array, two, second);
  gate->open();
  first.synchronize(), second.synchronize();
  EXPECT_TRUE(are_sevens(one));
  EXPECT_TRUE(are_sevens(two));
}

/// The host waits in the destructor of these numbers alone, so another thread opens the gate.
TEST_F(Sevens, StayUntilTheLastStreamHasReadThem) {
  std::optional<KeptOnDevices> kept(std::in_place);
  std::vector<Stream> streams;
  std::vector<Array> read;
  for (int k = 0; k < 3; ++k) {
    streams.emplace_back(gpu);
    read.push_back(zeros(*space, streams.back()));
  }
  { const auto made = sevens(*kept, streams[0]); }
  streams[0].synchronize();
  Gate gate(streams[1]);
  for (std::size_t k = 0; k < streams.size(); ++k)
    copy(sevens(*kept, streams[k])->array, read[k], streams[k]);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.open();
  });
  kept.reset();
  opener.join();
  for (std::size_t k = 0; k < streams.size(); ++k) {
    streams[k].synchronize();
    EXPECT_TRUE(are_sevens(read[k])) << "stream " << k;
  }
}

/// Makers of operators that keep tables. `waits`: an application waits for its stream.
struct Maker {
  const char* name;
  LinearOperator (*make)(Device gpu);
  bool waits = false, has_transpose = true;
};

ConeBeam small_cone() { return {{31, 9, 0.9, 1.3, 15.2}, regular_angles(19, whole_turn), 60, 100, 4}; }

LinearOperator cone(Model model, Device gpu) {
  return projector(small_cone(), fitting_grid(small_cone()), model, gpu);
}

LinearOperator parallel(Index slices, Execution how, Device gpu) {
  return projector(odd_scan(61, slices), grid_of(37, 41, slices), Model::pixel_driven, gpu, how);
}

constexpr Maker makers[] = {
    {"alu", [](Device gpu) { return parallel(3, {.variant = "alu"}, gpu); }},
    {"tensor", [](Device gpu) { return parallel(3, {.variant = "tensor"}, gpu); }},
    {"float16",
     [](Device gpu) { return parallel(3, {.variant = "tensor", .precision = Precision::float16}, gpu); }},
    {"hybrid", [](Device gpu) { return parallel(3, {.variant = "hybrid"}, gpu); }, true},
    {"fourier", [](Device gpu) { return fourier_projector(scan_of(53, 3, 61), grid_of(37, 41, 3), gpu); }},
    {"footprint", [](Device gpu) { return cone(Model::separable_footprint, gpu); }},
    {"joseph", [](Device gpu) { return cone(Model::joseph, gpu); }, true},
    {"pixel-driven cone", [](Device gpu) { return cone(Model::pixel_driven, gpu); }, true},
    {"filter of moved rows", [](Device gpu) { return ramp_filter(odd_scan(61, 3), {}, gpu); }},
    {"filter of a cone", [](Device gpu) { return ramp_filter(small_cone(), {}, gpu); }},
    {"filter with circles",
     [](Device gpu) {
       return ramp_filter(small_cone(), {.padding = Padding::circle, .attenuation = 0.02}, gpu);
     },
     false, false},
    {"FBP", [](Device gpu) {
       const ParallelBeam scan = scan_of(53, 3, 61);
       const VolumeGrid grid = grid_of(37, 41, 3);
       return fbp(projector(symmetric(scan), grid, Model::pixel_driven, gpu), scan, grid, {});
     }}};

/// Whether A x, on a stream of its own, has the bits of `truth`.
bool is_right(const LinearOperator& A, const Array& x, const Array& truth) {
  Stream own(x.space().device());
  Array y = zeros(A.range(), own);
  A.apply(1, x, 0, y, own);
  own.synchronize();
  return same_bits(y, truth);
}

TEST_F(KeptOnGpu, IsRightForThreadsThatBeginAtTheSameTime) {
  constexpr int threads = 2;
  for (const Maker& maker : makers) {
    const LinearOperator first = maker.make(gpu);
    const Array x = random_array(first.domain(), 3), truth = first * x;
    std::atomic<int> right = 0;
    constexpr int runs = 5;
    for (int run = 0; run < runs; ++run) {
      const LinearOperator A = maker.make(gpu);
      std::barrier together(threads);
      std::vector<std::thread> all;
      for (int k = 0; k < threads; ++k)
        all.emplace_back([&] {
          together.arrive_and_wait();
          if (is_right(A, x, truth)) ++right;
        });
      for (std::thread& thread : all) thread.join();
    }
    EXPECT_EQ(right, threads * runs) << maker.name;
  }
}

/// Others take the memory that is free meanwhile, with other numbers.
TEST_F(KeptOnGpu, IsThereForWorkWhoseOperatorIsGone) {
  for (const Maker& maker : makers) {
    if (maker.waits || !maker.has_transpose) continue;
    std::optional<LinearOperator> A = maker.make(gpu);
    const Array x = random_array(A->domain(), 3), truth = *A * x;
    const auto go_back = [&](const LinearOperator& later) {
      Array back(later.domain());
      later.apply_adjoint(1, truth, 0, back, default_stream(gpu));
      default_stream(gpu).synchronize();
    };
    go_back(*A);  // loads its kernels, which would wait for the gate
    A = maker.make(gpu);
    Stream own(gpu);
    Array y = zeros(A->range(), own);
    Gate standing(own);
    A->apply(1, x, 0, y, own);
    A.reset();
    for (int run = 0; run < 3; ++run) go_back(maker.make(gpu));
    standing.open();
    EXPECT_TRUE(same_bits(y, truth)) << maker.name;
  }
}

}  // namespace
}  // namespace tandem::test
