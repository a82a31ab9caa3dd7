#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {

/// A simulated scan in a file, and volumes of it.
class CudaRecipes : public Cuda {
 protected:
  void simulate(const pipeline::Simulation& s) const { write_scan(scan_, pipeline::SimulatedScan(s)); }
  static pipeline::Recipe recipe_for(const std::string& method, Device device, const Execution& how = {}) {
    pipeline::Recipe recipe;
    recipe.method = method;
    recipe.iterations = 4;
    recipe.devices = {device};
    recipe.execution = how;
    recipe.allow_unmatched = how.variant != "automatic";
    return recipe;
  }
  pipeline::Plan plan_for(const pipeline::Recipe& recipe) const {
    return make_plan(io::open_scan(scan_)->info(), recipe);
  }
  std::vector<float> volume(const pipeline::Plan& plan) const {
    return reconstructed(*io::open_scan(scan_), plan);
  }
  std::vector<float> volume(const pipeline::Recipe& recipe, Index slices_at_once = 0) const {
    return reconstructed(scan_, recipe, slices_at_once);
  }
  /// The volume that is made on a GPU is that made on the CPU.
  template <class Volume>
  void expect_the_cpus_volume(const Volume& of, double bound, const std::string& what = {}) const {
    EXPECT_LE(relative_error(of(gpu), of(cpu)), bound) << what;
  }
  /// Noise stops each problem behind the same step as on the CPU. Returns how many problems there are.
  std::size_t expect_noise_to_stop(Index slices_at_once) const {
    const auto outcome_on = [&](Device device) {
      pipeline::Recipe recipe = recipe_for("cgls", device);
      recipe.iterations = 40;
      recipe.stop_by_discrepancy = true;
      pipeline::Outcome outcome;
      reconstructed(scan_, recipe, slices_at_once, &outcome);
      return outcome;
    };
    const pipeline::Outcome here = outcome_on(cpu), there = outcome_on(gpu);
    EXPECT_EQ(there.stopped_by, here.stopped_by);
    EXPECT_EQ(there.slice_iterations, here.slice_iterations);
    EXPECT_LT(there.iterations, 40);
    return there.stopped_by.size();
  }
  /// The call fails with a DeviceError that has all of `words`.
  template <class Call>
  static void expect_device_error(const Call& call, std::initializer_list<const char*> words) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DeviceError& e) {
      for (const char* word : words)
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << " is not in " << e.what();
    }
  }

  const TemporaryFolder folder_;
  const std::filesystem::path scan_ = folder_ / "scan.h5";
};

}  // namespace tandem::test
