// Devices that hold vectors together.

#include <gtest/gtest.h>

#include <numeric>

#include "../../core/array.hpp"
#include "../../core/error.hpp"

namespace tandem {
namespace {

const Device cpu = Device::cpu(), three = Device::team({cpu, cpu, cpu});

Array counted(const Space& space) {
  Array a(space);
  std::iota(a.data(), a.data() + a.size(), 1.0f);
  return a;
}

bool equal(const Array& a, const Array& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

TEST(Team, IsAValue) {
  EXPECT_EQ(three, Device::team({cpu, cpu, cpu}));
  EXPECT_NE(three, Device::team({cpu, cpu}));
  EXPECT_NE(three, cpu);
  EXPECT_EQ(Device::team({cpu}), cpu);
  EXPECT_EQ(three.members(), 3);
  EXPECT_EQ(three.member(2), cpu);
  EXPECT_EQ(three.name(), "cpu + cpu + cpu");
  const Device gpus = Device::team({Device::cuda(1), Device::cuda(0)});
  EXPECT_TRUE(gpus.is_cuda());
  EXPECT_EQ(gpus.name(), "cuda:1 + cuda:0");
}

TEST(Team, HasMembersOfOneKind) {
  EXPECT_THROW(Device::team({}), DeviceError);
  EXPECT_THROW(Device::team({cpu, Device::cuda(0)}), DeviceError);
  EXPECT_THROW(Device::team({three, cpu}), DeviceError);
}

TEST(Team, SharesMakeUpASplitSpace) {
  const Space split = Space({7, 2, 5}, Blocks::whole, three, 11).split();
  Index planes = 0;
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(split.first_plane(k), planes);
    EXPECT_EQ(split.share(k).shape(), (Shape{split.first_plane(k + 1) - planes, 2, 5}));
    EXPECT_EQ(split.share(k).device(), cpu);
    planes += split.share(k).shape()[0];
  }
  EXPECT_EQ(planes, 7);
  EXPECT_THROW(Space({2, 9, 9}, Blocks::whole, three).split().share(0), SpaceError);
  EXPECT_THROW(Space({7, 2, 5}, Blocks::slices, three).split().share(0), SpaceError);
}

TEST(Team, SpreadCountsThereAlone) {
  const Space space({7, 2, 5});
  EXPECT_EQ(space, space.split());
  EXPECT_NE(space.on(three), space.split().on(three));
  EXPECT_FALSE(space.on(three).fits(space));
  EXPECT_EQ(space.on(three).share(1), space);
}

TEST(Team, VectorsGoThereAndComeBack) {
  const Space space({7, 2, 5});
  for (const Space& there :
       {space.on(three), space.split().on(three), Space::direct_sum({space, space.split()}).on(three)}) {
    const Array here = counted(there.on(cpu)), moved = on_device(here, three);
    EXPECT_EQ(moved.data(), nullptr);
    EXPECT_TRUE(equal(on_device(moved, cpu), here));
    EXPECT_TRUE(equal(on_device(moved.clone(), cpu), here));
    EXPECT_TRUE(equal(on_device(Array(there), cpu), Array(there.on(cpu))));
  }
}

TEST(Team, MembersHoldWhatTheSpaceSays) {
  const Space space({7, 2, 5});
  const Array all = counted(space), copied = on_device(all, three),
              split = on_device(counted(space.split()), three);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(ConstVectorView(copied).share(k).data[69], 70);
    EXPECT_EQ(ConstVectorView(split).share(k).data[0],
              static_cast<float>(1 + 10 * split.space().first_plane(k)));
  }
  const Array sum = on_device(counted(Space::direct_sum({space, space.split()})), three);
  EXPECT_EQ(ConstVectorView(sum).part(1).share(2).data[0], static_cast<float>(71 + 10 * (2 * 7 / 3)));
}

TEST(Team, OtherSharesAreRefused) {
  const Space space({7, 2, 5});
  Array copied(space.on(three)), split(space.split().on(three)), two(space.on(Device::team({cpu, cpu})));
  Stream& stream = default_stream(three);
  EXPECT_THROW(copy(copied, split, stream), SpaceError);
  EXPECT_THROW(copy(copied, two, stream), SpaceError);
  EXPECT_THROW(Array(space.on(three), default_stream(cpu)), SpaceError);
  std::vector<Array> one;
  one.emplace_back(space);
  EXPECT_THROW(Array(space.on(three), std::move(one)), SpaceError);
}

}  // namespace
}  // namespace tandem
