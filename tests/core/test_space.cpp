#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/space.hpp"

namespace tandem {
namespace {

constexpr Shape shape{5, 3, 7};

TEST(Space, CountsItsElementsAndBlocks) {
  EXPECT_EQ(Space(shape).size(), 105);
  EXPECT_EQ(Space(shape).block_count(), 1);
  EXPECT_EQ(Space(shape, Blocks::slices).block_count(), 5);
  EXPECT_EQ(Space(shape, Blocks::rows).block_count(), 3);
  EXPECT_EQ(Space(shape).parts(), 1);
  EXPECT_EQ(Space(shape).part(0), Space(shape));
}

TEST(Space, CountsBeyond32Bits) { EXPECT_EQ(Space({4096, 4096, 4096}).size(), Index{1} << 36); }

TEST(Space, RefusesAnExtentThatIsNotPositive) {
  EXPECT_THROW(Space({5, 0, 7}), SpaceError);
  EXPECT_THROW(Space({-1, 3, 7}), SpaceError);
}

TEST(Space, RefusesMoreElementsThanCanBeCounted) {  // 3e21 and 2^63: both overflowed
  EXPECT_THROW(Space({10'000'000, 30'000'000, 10'000'000}), SpaceError);
  EXPECT_THROW(Space({Index{1} << 62, 2, 1}), SpaceError);
  EXPECT_EQ(Space({Index{1} << 30, Index{1} << 30, 1}).size(), Index{1} << 60);
  EXPECT_THROW(Space({Index{1} << 30, Index{1} << 30, 2}), SpaceError);
}

TEST(Space, IsEqualOnlyInShapeBlocksDeviceAndKey) {
  const Space a(shape, Blocks::rows, Device::cpu(), 17);
  EXPECT_EQ(a, Space(shape, Blocks::rows, Device::cpu(), 17));
  EXPECT_NE(a, Space({5, 7, 3}, Blocks::rows, Device::cpu(), 17));
  EXPECT_NE(a, Space(shape, Blocks::slices, Device::cpu(), 17));
  EXPECT_NE(a, Space(shape, Blocks::rows, Device::cuda(0), 17));
  EXPECT_NE(a, Space(shape, Blocks::rows, Device::cpu(), 19));
}

TEST(Space, WithoutKeyFitsEveryKeyAndEqualsNone) {
  const Space a(shape, Blocks::rows), b(shape, Blocks::rows, Device::cpu(), 19),
      c(shape, Blocks::rows, Device::cpu(), 23), other({5, 7, 3}, Blocks::rows);
  EXPECT_TRUE(a.fits(b) && b.fits(a) && a.fits(a));
  EXPECT_FALSE(b.fits(c) || a.fits(other));
  EXPECT_NE(a, b);
  EXPECT_NE(b, a);
  const Space sum = Space::direct_sum({a, c});
  EXPECT_TRUE(sum.fits(Space::direct_sum({b, c})));
  EXPECT_NE(sum, Space::direct_sum({b, c}));
  EXPECT_FALSE(sum.fits(Space::direct_sum({c, b})));
}

TEST(Space, EqualityIsAnEquivalence) {
  std::vector<Space> all;
  for (const std::uint64_t key : {0, 19, 23})
    for (const Blocks blocks : {Blocks::whole, Blocks::rows})
      for (const Device device : {Device::cpu(), Device::cuda(0)})
        all.push_back(Space(shape, blocks, device, key));
  for (std::size_t i = 0; i < 12; ++i) {
    const Space& a = all[i];
    if (a.device() == all[0].device() && a.blocks() == all[0].blocks())
      all.push_back(Space::direct_sum({a, all[0]}));
  }
  for (const Space& a : all)
    for (const Space& b : all) {
      EXPECT_EQ(a == b, &a == &b);
      EXPECT_EQ(a.fits(b), b.fits(a));
      for (const Space& c : all) EXPECT_TRUE(!(a == b && b == c) || a == c);
    }
}

TEST(Space, DirectSumStoresItsPartsOneAfterAnother) {
  const Space a(shape, Blocks::rows), b({3, 2, 2}, Blocks::slices);
  const Space sum = Space::direct_sum({a, b, a});
  EXPECT_EQ(sum.parts(), 3);
  EXPECT_EQ(sum.size(), 105 + 12 + 105);
  EXPECT_EQ(sum.offset(0), 0);
  EXPECT_EQ(sum.offset(1), 105);
  EXPECT_EQ(sum.offset(2), 117);
  EXPECT_EQ(sum.part(1), b);
  EXPECT_EQ(sum.block_count(), 3);
  EXPECT_THROW(sum.shape(), SpaceError);
  EXPECT_THROW(sum.part(3), SpaceError);
}

TEST(Space, DirectSumRefusesPartsThatDoNotGoTogether) {
  const Space a(shape, Blocks::rows);
  EXPECT_THROW(Space::direct_sum({}), SpaceError);
  EXPECT_THROW(Space::direct_sum({a, Space(shape, Blocks::slices)}), SpaceError);
  EXPECT_THROW(Space::direct_sum({a, Space(shape, Blocks::rows, Device::cuda(0))}), SpaceError);
}

TEST(Space, DirectSumOfOneIsThatOne) {
  const Space a(shape, Blocks::rows, Device::cpu(), 3);
  EXPECT_EQ(Space::direct_sum({a}), a);
  EXPECT_EQ(Space::direct_sum({a}).shape(), shape);
}

TEST(Space, DirectSumsAreEqualPartByPart) {
  const Space a(shape), b({2, 2, 2});
  EXPECT_EQ(Space::direct_sum({a, b}), Space::direct_sum({a, b}));
  EXPECT_NE(Space::direct_sum({a, b}), Space::direct_sum({b, a}));
  EXPECT_NE(Space::direct_sum({a, b}), Space::direct_sum({a, b, b}));
  EXPECT_NE(Space::direct_sum({a, b}), a);
  EXPECT_NE(a, Space::direct_sum({a, b}));
}

TEST(Space, HasPortionsOfRanks) {
  const Space volume({4, 5, 7}, Blocks::whole, Device::cpu(), 17), strip = volume.portion(1, 2, 4);
  EXPECT_EQ(strip.shape(), (Shape{4, 2, 7}));
  EXPECT_EQ(strip.first_of_portion(), 2);
  EXPECT_EQ(strip.whole(), volume);
  EXPECT_TRUE(strip.is_portion() && !volume.is_portion());
  EXPECT_EQ(volume.portion(0, 1, 1).size(), 0);  // a rank without work
  EXPECT_TRUE(strip.on(Device::cuda(0)).is_portion());
  // line 3 of the strip is the second one of its second slice
  EXPECT_EQ(strip.line_in_whole(3), 1 * 5 + 2 + 1);
  EXPECT_EQ(volume.portion(0, 3, 4).line_in_whole(2), 3 * 5 + 2);
  EXPECT_EQ(volume.line_in_whole(8), 8);
}

TEST(Space, FitsNoOtherPortion) {
  const Space volume({4, 6, 7}), strip = volume.portion(1, 0, 2);
  EXPECT_TRUE(strip.fits(volume.portion(1, 0, 2)));
  EXPECT_FALSE(strip.fits(volume.portion(1, 2, 4)));
  EXPECT_FALSE(strip.fits(Space({4, 8, 7}).portion(1, 0, 2)));
  EXPECT_FALSE(strip.fits(Space({4, 2, 7})));
  EXPECT_FALSE(volume.portion(0, 0, 4).fits(volume.portion(1, 0, 6)));
}

TEST(Space, IsADirectSumOfPortionsOrOfNone) {
  const Space volume({4, 5, 7}), strip = volume.portion(1, 2, 4), views = Space({9, 3, 7}).portion(0, 0, 2);
  const Space sum = Space::direct_sum({strip, views});
  EXPECT_TRUE(sum.is_portion());
  EXPECT_EQ(sum.size(), 4 * 2 * 7 + 2 * 3 * 7);
  EXPECT_EQ(sum.whole(), Space::direct_sum({volume, Space({9, 3, 7})}));
  EXPECT_THROW(Space::direct_sum({strip, volume}), SpaceError);
}

TEST(Space, RefusesWhatIsNoPortion) {
  const Space volume({4, 5, 7});
  EXPECT_THROW(volume.portion(1, 2, 6), SpaceError);
  EXPECT_THROW(volume.portion(1, 3, 2), SpaceError);
  EXPECT_THROW(volume.portion(2, 0, 1), SpaceError);
  EXPECT_THROW(volume.portion(1, 0, 2).portion(1, 0, 1), SpaceError);
  EXPECT_THROW(Space({4, 5, 7}, Blocks::slices).portion(1, 0, 2), SpaceError);
  EXPECT_THROW(Space::direct_sum({volume, volume}).portion(1, 0, 2), SpaceError);
}

}  // namespace
}  // namespace tandem
