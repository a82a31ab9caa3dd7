#pragma once

#include <string>

#include "../pipeline/steps/options.hpp"
#include "command.hpp"

namespace tandem::apps {

/// The options of all steps from counts to line integrals, in their order.
void add_step_options(CLI::App& command, pipeline::StepValues& values);

/// A line a step, for the help.
std::string words_of_steps();

}  // namespace tandem::apps
