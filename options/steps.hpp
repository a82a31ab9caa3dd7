#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../counts/steps/options.hpp"
#include "option.hpp"

namespace tandem::options {

/// Adds the options of all steps from counts to line integrals, in the order of the steps.
void add_step_options(Table& command, pipeline::StepValues& values);

/// Adds one option. If it has a choice of many words, they stand in the help, where they are wrapped.
void add_step_option(Table& command, const pipeline::StepOption& option, pipeline::StepValues& values);

/// The option of a step with this name, without dashes; null if there is none.
const pipeline::StepOption* step_option(std::string_view name);

/// Whether the step of this option needs all views of a scan.
bool step_needs_all_views(std::string_view option);

/// The kind of its value: "N", "A:B[,C:D]", "row|cube".
std::string type_name_of(const pipeline::StepOption& option);

/// The option behind whose value an option such as "vo-large:size" stands; null for other names.
const pipeline::StepOption* option_before(std::string_view name);

/// A value and the options behind it, by their names: "vo-large:size=21" is {"remove-stripe-method",
/// "vo-large"}, {"vo-large:size", "21"}.
std::vector<std::pair<std::string, std::string>> taken_apart(const pipeline::StepOption& option,
                                                             const std::string& text);

/// Whether a value of an option of a step names a file, behind a colon or by an option such as "wedge:file".
bool names_file_of_step(const std::string& name, const std::vector<std::string>& values);

/// The files that options of steps name, with the names of these options.
std::vector<std::pair<std::string, std::string>> files_of(const pipeline::StepValues& values);

/// Whether these values ask for phase retrieval, which searches leave out.
bool ask_for_phases(const pipeline::StepValues& values);

/// @throws UsageError if options of a step do not go together
void require_together(const pipeline::StepValues& values);

/// One line for each step, for the help.
std::string words_of_steps();

}  // namespace tandem::options
