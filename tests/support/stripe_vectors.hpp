#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "../../core/space.hpp"
#include "../../counts/preprocess.hpp"
#include "numpy.hpp"

namespace tandem::test {

/// What tomopy makes of sinograms by a method that removes stripes.
struct StripeVector {
  std::string output, input;  ///< names of files
  Shape shape;                ///< (view, row, bin)
  std::string method;
  pipeline::StepValues values = {};
  double tolerance = 0;      ///< absolute, from the README of the vectors
  bool dead_column = false;  ///< with a column that does not respond

  std::vector<float> sinograms() const {
    std::vector<float> all = vector_of(input);
    if (!dead_column) return all;
    const std::vector<float> column = vector_of("stripe_dead_column55");
    for (std::size_t view = 0; view < 180; ++view) all[view * 128 + 55] = column[view];
    return all;
  }
};

inline std::ostream& operator<<(std::ostream& to, const StripeVector& of) { return to << of.output; }

inline std::vector<StripeVector> stripe_vectors() {
  constexpr Shape wide{180, 1, 128}, narrow{180, 1, 64}, cube{16, 8, 40}, many{16, 8, 48};
  const std::string fw = "stripe_fw_input_row0", ti = "stripe_ti_input_row0", all = "tomopy_test_proj",
                    fit = "stripe_vofit_input_row0", tomopy = "tomopy_stripe_", row = "_row0";
  std::vector<StripeVector> vectors;
  for (const Index size : {3, 5})
    vectors.push_back(
        {tomopy + "sf" + std::to_string(size), "stripe_sf_input", cube, "sf", {{"sf:size", size}}, 1e-6});
  const auto titarenko = [](Index blocks) {
    return pipeline::StepValues{{"ti:nblock", blocks}, {"ti:alpha", 1.5}};
  };
  for (const Index blocks : {0, 4})
    vectors.push_back(
        {tomopy + "ti_nblock" + std::to_string(blocks) + row, ti, wide, "ti", titarenko(blocks), 3e-6});
  vectors.push_back({"tomopy_test_remove_stripe_ti", all, many, "ti", titarenko(0), 3e-4});
  const auto wavelets = [](Index level) {
    return pipeline::StepValues{{"fw:level", level}, {"fw:sigma", 2.0}, {"fw:filter", "db5"}};
  };
  vectors.push_back({tomopy + "fw_db5" + row, fw, wide, "fw", wavelets(8), 1e-5});
  vectors.push_back({"tomopy_test_remove_stripe_fw", all, many, "fw", wavelets(6), 1e-4});
  for (const Index dim : {1, 2}) {
    const std::string of_dim = "_dim" + std::to_string(dim) + row;
    vectors.push_back({tomopy + "vosort" + of_dim,
                       "stripe_vosort_input_row0",
                       narrow,
                       "vo-sorting",
                       {{"vo-sorting:size", Index{5}}, {"vo-sorting:dim", dim}}});
    vectors.push_back({tomopy + "vofilter" + of_dim,
                       "stripe_vofilter_input_row0",
                       narrow,
                       "vo-filtering",
                       {{"vo-filtering:sigma", dim == 1 ? 3.0 : 5.0},
                        {"vo-filtering:size", Index{5}},
                        {"vo-filtering:dim", dim}},
                       1e-6});
  }
  vectors.push_back({tomopy + "vofit_def" + row, fit, wide, "vo-fitting", {}, 3e-6});
  vectors.push_back(
      {tomopy + "vofit_o1" + row,
       fit,
       wide,
       "vo-fitting",
       {{"vo-fitting:order", Index{1}}, {"vo-fitting:sigmax", 3.0}, {"vo-fitting:sigmay", 10.0}},
       3e-6});
  vectors.push_back({tomopy + "volarge_norm" + row, fw, wide, "vo-large", {}, 3e-6});
  vectors.push_back({tomopy + "volarge_raw" + row, fw, wide, "vo-large", {{"vo-large:norm", false}}});
  vectors.push_back({tomopy + "vodead_norm" + row, fw, wide, "vo-dead", {{"vo-dead:snr", 2.0}}, 3e-6, true});
  vectors.push_back({tomopy + "vodead_raw" + row,
                     fw,
                     wide,
                     "vo-dead",
                     {{"vo-dead:snr", 2.0}, {"vo-dead:norm", false}},
                     1e-6,
                     true});
  for (const int snr : {2, 3})
    vectors.push_back({tomopy + "voall_snr" + std::to_string(snr) + row,
                       ti,
                       wide,
                       "vo-all",
                       {{"vo-all:snr", static_cast<double>(snr)}},
                       5e-6,
                       true});
  return vectors;
}

}  // namespace tandem::test
