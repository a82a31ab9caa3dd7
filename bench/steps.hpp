#pragma once

#include <string>
#include <vector>

#include "../counts/steps/options.hpp"

namespace tandem::bench {

/// Steps from counts to line integrals, by the options that ask for them.
struct ChainOfSteps {
  std::string name;
  pipeline::StepValues values;
};

/// The steps that real scans need: zingers in a cube of three, all kinds of stripes, and phase retrieval that
/// blurs over 2 pixels of 1 mm. The first chain is counts alone, then each of these steps, then all.
inline std::vector<ChainOfSteps> chains_of_steps() {
  const pipeline::StepValues zingers{
      {"dezinger", Index{3}}, {"dezinger:threshold", 3000.0}, {"dezinger:window", "cube"}},
      stripes{{"remove-stripe-method", "vo-all"}},
      phase{{"retrieve-phase-method", "paganin"},
            {"retrieve-phase-method:energy", 20.0},
            {"retrieve-phase-method:distance", 1e5},
            {"retrieve-phase-method:delta-beta", 8100.0}};
  pipeline::StepValues all = zingers;
  all.insert(stripes.begin(), stripes.end());
  all.insert(phase.begin(), phase.end());
  return {{"counts", {}}, {"zingers", zingers}, {"stripes", stripes}, {"phase", phase}, {"all", all}};
}

}  // namespace tandem::bench
