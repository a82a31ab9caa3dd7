#include "heeds_axis.hpp"

#include <algorithm>

#include "../../counts/steps/step.hpp"

namespace tandem::pipeline {

bool steps_heed_axis(const Preprocessing& how) {
  return how.pose.has_value() || std::ranges::any_of(how.table(), [&](const Step& step) {
           return step.heeds_axis && step.heeds_axis(how);
         });
}

}  // namespace tandem::pipeline
