#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/host_memory.hpp"
#include "../support/poisoned_memory.hpp"

// A sanitizer would end the program where malloc returns null.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace tandem {
namespace {

TEST(Array, IsZeroAtBirthAndAligned) {
  for (Index n : {1, 7, 101, 4099}) {
    { std::fill_n(Array(Space({n, 1, 3})).data(), 3 * n, 1.0f); }  // leaves something behind in the heap
    const Array a(Space({n, 1, 3}));
    EXPECT_TRUE(std::all_of(a.data(), a.data() + a.size(), [](float v) { return v == 0; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  }
}

TEST(Array, IsOnlyZeroWhereZerosAreAskedFor) {
  if (!test::PoisonedMemory::works()) GTEST_SKIP() << "this allocator cannot fill what it gives";
  const test::PoisonedMemory poisoned;
  const Stream stream(Device::cpu());
  for (const Index n : {1, 7, 101, 4099, 1 << 20}) {
    const Array unset(Space({1, 1, n}), stream), zero = zeros(Space({1, 1, n}), stream);
    EXPECT_TRUE(std::all_of(zero.data(), zero.data() + n, [](float v) { return v == 0; })) << n;
    EXPECT_TRUE(std::all_of(unset.data(), unset.data() + n, [](float v) { return v != v; })) << n;
  }
}

std::size_t bytes_held() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Array, TakesTheMemoryOfEarlierOnesOfItsSizeWhileTheyAreKept) {
  const Stream stream(Device::cpu());
  const Space large({1, 1, 1 << 20}), larger({1, 1, (1 << 20) + 1});
  const std::size_t before = bytes_held();
  float* first = nullptr;
  {
    const KeepHostMemory kept;
    { first = Array(large, stream).data(); }
    const Array other(larger, stream), next(large, stream), another(large, stream);
    EXPECT_EQ(next.data(), first);
    EXPECT_NE(another.data(), first);
    {
      const KeepHostMemory nested;
      { std::fill_n(Array(large).data(), large.size(), 1.0f); }
    }
    const Array zero(large);  // memory that was used
    EXPECT_TRUE(std::all_of(zero.data(), zero.data() + zero.size(), [](float v) { return v == 0; }));
  }
  EXPECT_LT(bytes_held(), before + 1000);  // all went back; a sanitizer says 0 of both
}

TEST(Array, RefusesAStreamOfAnotherDevice) {
  const Space there({1, 1, 7}, Blocks::whole, Device::cuda(0));
  EXPECT_THROW(Array(there, default_stream(Device::cpu())), SpaceError);
  EXPECT_THROW(zeros(there, default_stream(Device::cpu())), SpaceError);
}

TEST(Array, IsMovedNotCopied) {
  static_assert(!std::is_copy_constructible_v<Array> && std::is_nothrow_move_constructible_v<Array>);
}

TEST(Array, CloneIsAnotherArrayWithTheSameValues) {
  Array a(Space({2, 3, 5}));
  a.data()[29] = 4;
  const Array b = a.clone();
  a.data()[29] = 5;
  EXPECT_EQ(b.data()[29], 4);
  EXPECT_EQ(b.space(), a.space());
}

TEST(Array, NamesTheBytesThatCannotBeHad) {
  const Space huge({Index{1} << 20, Index{1} << 20, 1 << 10});
  try {
    const Array a(huge);
    FAIL() << "2^52 bytes were had";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find(std::to_string(Index{1} << 52)), std::string::npos) << e.what();
  }
}

TEST(Array, RefusesADeviceThatIsNotHere) {
  EXPECT_THROW(Array(Space({1, 1, 1}, Blocks::whole, Device::cuda(1000))), DeviceError);
}

TEST(Array, GivenUpIsNotCopiedToWhereItIs) {
  Array a(Space({2, 3, 5}));
  const float* data = a.data();
  EXPECT_NE(on_device(a, Device::cpu()).data(), data);
  EXPECT_EQ(on_device(std::move(a), Device::cpu()).data(), data);
}

TEST(VectorView, PartsOfADirectSumLieBehindEachOther) {
  Array a(Space::direct_sum({Space({1, 2, 3}), Space({1, 1, 5})}));
  const VectorView v = a;
  EXPECT_EQ(v.part(0).data, a.data());
  EXPECT_EQ(v.part(1).data, a.data() + 6);
  EXPECT_EQ(v.part(1).space, Space({1, 1, 5}));
  EXPECT_EQ(ConstVectorView(v).part(1).data, a.data() + 6);
}

TEST(Image, IndexesSlowestFirst) {
  Array a(Space({2, 3, 5}));
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(i);
  const Image<const float> im = image(ConstVectorView(a));
  EXPECT_EQ(im(1, 2, 4), 29);
  EXPECT_EQ(im(0, 1, 0), 5);
  EXPECT_EQ(im(1, 0, 0), 15);
  EXPECT_THROW(image(VectorView(Array(Space::direct_sum({Space({1, 1, 1}), Space({1, 1, 2})})))), SpaceError);
}

TEST(Copy, OfImagesTakesPartsOfPlanes) {
  Array from(Space({3, 5, 4})), to(Space({3, 2, 4}));
  for (Index i = 0; i < from.size(); ++i) from.data()[i] = static_cast<float>(i);
  Image<const float> lines = image(ConstVectorView(from));
  lines.data += 2 * lines.s1, lines.n1 = 2;
  Stream& stream = default_stream(Device::cpu());
  copy(lines, image(VectorView(to)), stream);
  for (Index z = 0; z < 3; ++z)
    for (Index k = 0; k < 8; ++k) EXPECT_EQ(to.data()[z * 8 + k], static_cast<float>(z * 20 + 8 + k));
  EXPECT_THROW(copy(image(ConstVectorView(from)), image(VectorView(to)), stream), SpaceError);
}

}  // namespace
}  // namespace tandem
