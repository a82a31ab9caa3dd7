#pragma once

#include <string>

#include "../../counts/steps/options.hpp"
#include "../command.hpp"
#include "files.hpp"

namespace tandem::apps {

/// Adds the options of all steps from counts to line integrals, in the order of the steps.
void add_step_options(CLI::App& command, pipeline::StepValues& values);

/// The files that options of steps name, with the names of these options.
NamedFiles files_of(const pipeline::StepValues& values);

/// @throws UsageError if options of a step do not go together
void require_together(const pipeline::StepValues& values);

/// One line for each step, for the help.
std::string words_of_steps();

}  // namespace tandem::apps
