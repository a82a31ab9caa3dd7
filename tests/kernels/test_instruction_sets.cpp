// What the sets of SIMD instructions have in common.

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "../../core/error.hpp"
#include "../../kernels/fourier.hpp"
#include "../../kernels/logarithm.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/instruction_sets.hpp"

namespace tandem {
namespace {

using Numbers = std::vector<float>;

Numbers numbers_of(const Array& x) { return {x.data(), x.data() + x.size()}; }

/// A x, and the transpose of another vector.
Numbers both_ways(const LinearOperator& A) {
  Random random(3);
  Numbers all = numbers_of(A * uniform_array(A.domain(), random));
  const Numbers back = numbers_of(adjoint(A) * uniform_array(A.range(), random));
  all.insert(all.end(), back.begin(), back.end());
  return all;
}

/// Parallel beams of 1, 4 and 21 slices, cones of one row and of many, with rows and slices that fill no
/// vector, and the two models that are left; voxels of one bin and of more.
std::map<std::string, LinearOperator> pairs() {
  std::map<std::string, LinearOperator> all;
  for (const Index slices : {1, 4, 21})
    for (const double pitch : {0.8, 2.7})
      all.emplace("parallel " + std::to_string(slices) + ' ' + std::to_string(pitch),
                  projector(test::scan_of(9, slices, 43), test::grid_of(37, 21, slices, pitch)));
  all.emplace("fourier", projector(test::scan_of(9, 3, 43), test::grid_of(37, 21, 3), Model::fourier));
  for (const Index rows : {1, 3, 37})
    for (const double pitch : {0.4, 2.7})
      all.emplace("cone " + std::to_string(rows) + ' ' + std::to_string(pitch),
                  projector(test::far_cone(7, rows, 43), test::box(23, 19, rows == 1 ? 1 : 21, pitch)));
  for (const Index rows : {1, 37})
    all.emplace("hierarchical " + std::to_string(rows),
                projector(test::far_cone(40, rows, 43), test::box(23, 19, rows == 1 ? 1 : 21, 0.6),
                          Model::hierarchical));
  return all;
}

Numbers logarithms() {
  Numbers y, floor(101, 1e-3f);
  for (int i = 0; i < 101; ++i) y.push_back(0.013f * static_cast<float>(i));
  kernels::take_logarithms(y, floor);
  return y;
}

TEST(InstructionSets, GiveTheSameBitsIfTheyRoundAlike) {
  const auto all = pairs();
  std::map<bool, std::map<std::string, Numbers>> first;  // results of the sets that fuse, and of the others
  with_each_instruction_set([&] {
    auto& due = first[instructions_fuse()];
    for (const auto& [name, A] : all)
      EXPECT_EQ(due.try_emplace(name, both_ways(A)).first->second, both_ways(A)) << name;
    EXPECT_EQ(due.try_emplace("logarithm", logarithms()).first->second, logarithms());
  });
}

/// The least number of views for which the Fourier model of 256 x 256 pixels is faster.
Index fewest_views() {
  Index views = 1;
  while (!kernels::fourier_is_faster(
      kernels::fourier_sizes(test::scan_of(views, 1, 256), test::grid_of(256, 256, 1), 1e-4), views,
      Device::cpu()))
    ++views;
  return views;
}

TEST(InstructionSets, TakeTheFourierModelTheSoonerTheNarrowerTheyAre) {
  std::map<int, Index> fewest;  // by the floats of a vector
  with_each_instruction_set([&] { fewest[floats_a_vector()] = fewest_views(); });
  Index before = fewest.begin()->second;
  EXPECT_GT(before, 8);
  for (const auto& [floats, views] : fewest) EXPECT_GE(views, std::exchange(before, views)) << floats;
  EXPECT_LT(before, 512);
}

TEST(InstructionSets, AreNamedAndChosen) {
  const std::string before = instruction_set();
  ASSERT_FALSE(instruction_sets().empty());
  for (const std::string& name : instruction_sets()) {
    use_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
  }
  use_instruction_set(before);
  try {
    use_instruction_set("MMX");
    ADD_FAILURE() << "MMX was taken";
  } catch (const DeviceError& e) {
    const std::string what = e.what();
    for (const std::string& word : {std::string("TANDEM_SIMD"), std::string("MMX"), before})
      EXPECT_NE(what.find(word), std::string::npos) << word << " is not in " << what;
  }
  EXPECT_EQ(instruction_set(), before);
}

}  // namespace
}  // namespace tandem
