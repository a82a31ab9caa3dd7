#pragma once

#include <CLI/CLI.hpp>

namespace tandem::apps {

/// Sets the heading of the help under which options that are added from now on stand.
void heading(CLI::App& command, const char* title);

/// Sets which values options take and how help looks. The program must have all its commands.
void prepare(CLI::App& program);

/// Reads the command line and returns whether a command is to be run; help and version are printed instead.
/// @throws UsageError that names what is wrong, and suggests a similar name if there is one
bool parse(CLI::App& program, int argc, char** argv);

}  // namespace tandem::apps
