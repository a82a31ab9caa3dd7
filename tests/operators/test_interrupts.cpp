// A signal ends one application of a projector between its parts, and the operator is as it was.

#include <gtest/gtest.h>

#include <stdexcept>

#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"

namespace tandem {
namespace {

/// How often an application asks on one thread, and that it can be ended each time.
int asked_in(const LinearOperator& A) {
  const ThreadLimit one(1);
  const Array x = test::random_array(A.domain(), 1), wanted = A * x;
  int asked = 0;
  {
    const Interrupts count([&] { ++asked; }, Interrupts::Duration::zero());
    EXPECT_TRUE(test::same_bits(A * x, wanted));
  }
  for (const int last : {1, asked / 2, asked}) {
    int now = 0;
    const Interrupts ends(
        [&] {
          if (++now == last) throw std::domain_error("a signal");
        },
        Interrupts::Duration::zero());
    EXPECT_THROW(A * x, std::domain_error);
  }
  EXPECT_TRUE(test::same_bits(A * x, wanted));
  return asked;
}

/// More often than there are views, and so within the parts of the loop over views.
TEST(Interrupts, EndAnApplicationWithinABlockOfViews) {
  const VolumeGrid flat = test::grid_of(65, 49, 3), deep = test::box(65, 49, 9, 0.7);
  const Scan parallel = test::scan_of(5, 3, 71), cone = test::far_cone(5, 11, 71);
  for (const Model model : {Model::pixel_driven, Model::joseph})
    EXPECT_GT(asked_in(projector(parallel, flat, model)), 5) << name_of(model);
  for (const Model model : {Model::separable_footprint, Model::joseph})
    EXPECT_GT(asked_in(projector(cone, deep, model)), 5) << name_of(model);
  EXPECT_GT(asked_in(projector(Scan(FanBeam{test::far_cone(5, 1, 71)}), test::box(65, 49, 1, 0.7))), 5);
  EXPECT_GT(asked_in(adjoint(projector(cone, deep))), 5);
}

}  // namespace
}  // namespace tandem
