// Methods that remove stripes against results of tomopy, element by element.

#include <gtest/gtest.h>

#include <cmath>

#include "../support/numpy.hpp"
#include "../support/stripes.hpp"

namespace tandem::test {
namespace {

/// Rows of (view, row, bin), each a sinogram.
struct Stack {
  Index views, rows, bins;
  std::vector<float> values;

  Stack(const std::string& name, Index of_views, Index of_rows, Index of_bins)
      : views(of_views), rows(of_rows), bins(of_bins), values(vector_of(name)) {}
  Plane sinogram(Index row) const {
    Plane plane(views, bins);
    for (Index view = 0; view < views; ++view)
      std::copy_n(&values[static_cast<std::size_t>((view * rows + row) * bins)], bins, plane.row(view));
    return plane;
  }
};

class StripeVectors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!exists(vectors_folder())) GTEST_SKIP() << vectors_folder() << " is not there";
  }

  /// `tolerance`: absolute, from the README of the vectors.
  static void expect_same(const Plane& found, const Plane& expected, double tolerance,
                          const std::string& name) {
    ASSERT_EQ(found.values.size(), expected.values.size()) << name;
    double most = 0;
    for (std::size_t i = 0; i < found.values.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(found.values[i]) - expected.values[i]));
    EXPECT_LE(most, tolerance) << name;
    RecordProperty(name, std::to_string(most));
  }

  static void expect_rows(const Stack& input, const Stack& output, std::string_view method,
                          const StepValues& values, double tolerance, const std::string& name) {
    for (Index row = 0; row < input.rows; ++row)
      expect_same(without_stripes(input.sinogram(row), method, values), output.sinogram(row), tolerance,
                  name);
  }

  static void expect_one(const Plane& input, Index bins, std::string_view method, const StepValues& values,
                         double tolerance, const std::string& name) {
    expect_same(without_stripes(input, method, values), Stack(name, 180, 1, bins).sinogram(0), tolerance,
                name);
  }

  /// An input with a column that does not respond.
  static Plane with_dead_column(const std::string& name) {
    Plane plane = Stack(name, 180, 1, 128).sinogram(0);
    const std::vector<float> column = vector_of("stripe_dead_column55");
    for (Index view = 0; view < 180; ++view) plane(view, 55) = column[static_cast<std::size_t>(view)];
    return plane;
  }
};

TEST_F(StripeVectors, Smoothing) {
  const Stack input("stripe_sf_input", 16, 8, 40);
  for (const Index size : {3, 5}) {
    const std::string name = "tomopy_stripe_sf" + std::to_string(size);
    expect_rows(input, Stack(name, 16, 8, 40), "sf", {{"sf:size", size}}, 1e-6, name);
  }
}

TEST_F(StripeVectors, Titarenko) {
  const Plane input = Stack("stripe_ti_input_row0", 180, 1, 128).sinogram(0);
  for (const Index blocks : {0, 4})
    expect_one(input, 128, "ti", {{"ti:nblock", blocks}, {"ti:alpha", 1.5}}, 3e-6,
               "tomopy_stripe_ti_nblock" + std::to_string(blocks) + "_row0");
  expect_rows(Stack("tomopy_test_proj", 16, 8, 48), Stack("tomopy_test_remove_stripe_ti", 16, 8, 48), "ti",
              {{"ti:nblock", Index{0}}, {"ti:alpha", 1.5}}, 3e-4, "tomopy_test_remove_stripe_ti");
}

TEST_F(StripeVectors, FourierWavelet) {
  const auto values = [](Index level) {
    return StepValues{{"fw:level", level}, {"fw:sigma", 2.0}, {"fw:filter", std::string("db5")}};
  };
  expect_one(Stack("stripe_fw_input_row0", 180, 1, 128).sinogram(0), 128, "fw", values(8), 1e-5,
             "tomopy_stripe_fw_db5_row0");
  expect_rows(Stack("tomopy_test_proj", 16, 8, 48), Stack("tomopy_test_remove_stripe_fw", 16, 8, 48), "fw",
              values(6), 1e-4, "tomopy_test_remove_stripe_fw");
}

TEST_F(StripeVectors, Sorting) {
  const Plane input = Stack("stripe_vosort_input_row0", 180, 1, 64).sinogram(0);
  for (const Index dim : {1, 2})
    expect_one(input, 64, "vo-sorting", {{"vo-sorting:size", Index{5}}, {"vo-sorting:dim", dim}}, 0,
               "tomopy_stripe_vosort_dim" + std::to_string(dim) + "_row0");
}

TEST_F(StripeVectors, Filtering) {
  const Plane input = Stack("stripe_vofilter_input_row0", 180, 1, 64).sinogram(0);
  for (const Index dim : {1, 2})
    expect_one(input, 64, "vo-filtering",
               {{"vo-filtering:sigma", dim == 1 ? 3.0 : 5.0},
                {"vo-filtering:size", Index{5}},
                {"vo-filtering:dim", dim}},
               1e-6, "tomopy_stripe_vofilter_dim" + std::to_string(dim) + "_row0");
}

TEST_F(StripeVectors, Fitting) {
  const Plane input = Stack("stripe_vofit_input_row0", 180, 1, 128).sinogram(0);
  expect_one(input, 128, "vo-fitting", {}, 3e-6, "tomopy_stripe_vofit_def_row0");
  expect_one(input, 128, "vo-fitting",
             {{"vo-fitting:order", Index{1}}, {"vo-fitting:sigmax", 3.0}, {"vo-fitting:sigmay", 10.0}}, 3e-6,
             "tomopy_stripe_vofit_o1_row0");
}

TEST_F(StripeVectors, Large) {
  const Plane input = Stack("stripe_fw_input_row0", 180, 1, 128).sinogram(0);
  expect_one(input, 128, "vo-large", {}, 3e-6, "tomopy_stripe_volarge_norm_row0");
  expect_one(input, 128, "vo-large", {{"vo-large:norm", false}}, 0, "tomopy_stripe_volarge_raw_row0");
}

TEST_F(StripeVectors, Dead) {
  const Plane input = with_dead_column("stripe_fw_input_row0");
  expect_one(input, 128, "vo-dead", {{"vo-dead:snr", 2.0}}, 3e-6, "tomopy_stripe_vodead_norm_row0");
  expect_one(input, 128, "vo-dead", {{"vo-dead:snr", 2.0}, {"vo-dead:norm", false}}, 1e-6,
             "tomopy_stripe_vodead_raw_row0");
}

TEST_F(StripeVectors, All) {
  const Plane input = with_dead_column("stripe_ti_input_row0");
  for (const Index snr : {2, 3})
    expect_one(input, 128, "vo-all", {{"vo-all:snr", static_cast<double>(snr)}}, 5e-6,
               "tomopy_stripe_voall_snr" + std::to_string(snr) + "_row0");
}

}  // namespace
}  // namespace tandem::test
