#include <gtest/gtest.h>

#include "../../pipeline/plan/route.hpp"

namespace tandem::pipeline {
namespace {

TEST(Routes, AreToldApartByTheirSizes) {
  for (const Route& route : routes()) {
    Flow flow;
    flow.sizes = route.sizes;
    EXPECT_EQ(&route_of(flow), &route) << route.name;
  }
}

}  // namespace
}  // namespace tandem::pipeline
