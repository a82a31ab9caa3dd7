#pragma once

#include <string>
#include <vector>

#include "recon_options.hpp"

namespace tandem::apps {

/// The options of `tandem recon` that methods read, with their help.
void add_method(Table& command, ReconOptions& o);

/// The options for what the physics of a beam makes wrong.
void add_physics(Table& command, ReconOptions& o);

/// The option for views from a part of all directions.
void add_limited_angle(Table& command, ReconOptions& o);

/// Gives an option a value, unless it is given or settled by another, or has no meaning here: what a short
/// option stands for.
void take_if_open(Table& command, const ReconOptions& o, const char* name, const char* value);

/// @throws UsageError if an option that is given has no meaning with the method, or with any of those that
/// are compared
void check_conditions(const ReconOptions& o);

/// The names of all methods, and a line for each, for the help.
std::vector<std::string> names_of_methods();
std::string words_of_methods();

}  // namespace tandem::apps
