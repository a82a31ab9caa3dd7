#pragma once

#include <CLI/CLI.hpp>

namespace tandem::apps {

/// Options that are added to a command from now on stand under this heading of its help.
void heading(CLI::App& command, const char* title);

/// For a program that has all its commands: what values they take, and how help looks.
void prepare(CLI::App& program);

/// Whether a command is to be run. Not after help or version, which are printed.
/// @throws UsageError that names what is wrong, and what was meant if something is close
bool parse(CLI::App& program, int argc, char** argv);

}  // namespace tandem::apps
