#pragma once

#include <memory>

#include "options/files.hpp"

namespace tandem::apps {

/// Adds a command that reads a scan. `Options` has `common` and `scan`, and also `outputs()` if the command
/// writes more than its report.
template <class Options>
CLI::App& add_scan_command(CLI::App& program, const char* name, const char* what,
                           const std::shared_ptr<Options>& o, void (*run)(Options&), Action& chosen) {
  CLI::App& c = *program.add_subcommand(name, what);
  add_scan(c, o->scan);
  add_scan_options(c, o->scan);
  add_selection(c, o->scan);
  add_common(c, o->common);
  c.callback([o, run, &chosen] {
    chosen = [o, run] {
      NamedFiles outputs;
      if constexpr (requires { o->outputs(); }) outputs = o->outputs();
      check_files(o->common, inputs_of(o->scan), outputs);
      run(*o);
    };
  });
  return c;
}

}  // namespace tandem::apps
