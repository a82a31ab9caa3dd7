#pragma once

#include <gtest/gtest.h>

#include "../../counts/preprocess.hpp"

namespace tandem::test {

inline void expect_the_same(const pipeline::Findings& there, const pipeline::Findings& here) {
  ASSERT_EQ(there.steps.size(), here.steps.size());
  for (std::size_t k = 0; k < here.steps.size(); ++k) {
    EXPECT_EQ(there.steps[k].name, here.steps[k].name);
    EXPECT_EQ(there.steps[k].replaced, here.steps[k].replaced) << here.steps[k].name;
    EXPECT_EQ(there.steps[k].only_counts, here.steps[k].only_counts);
    EXPECT_EQ(there.steps[k].notes, here.steps[k].notes) << here.steps[k].name;
  }
  EXPECT_EQ(there.dead, here.dead);
  EXPECT_EQ(there.reference_not_finite, here.reference_not_finite);
  EXPECT_EQ(there.reference_replaced, here.reference_replaced);
  EXPECT_EQ(there.floor.lowest, here.floor.lowest);
  EXPECT_EQ(there.floor.highest, here.floor.highest);
}

}  // namespace tandem::test
