#pragma once

#include <memory>

#include "runs/files.hpp"

namespace tandem::apps {

/// Adds a command that reads a scan. `Options` has `common` and `scan`, and also `outputs()` if the command
/// writes more than its report.
template <class Options>
void add_scan_command(Table& c, const std::shared_ptr<Options>& o, void (*run)(Options&)) {
  o->scan.given = given_scan();
  add_scan(c, o->scan);
  add_scan_options(c, o->scan);
  add_selection(c, o->scan);
  add_common(c, o->common);
  c.applies = [](const Option& row) {  // such a command takes one scan of a file with several
    return row.name != "time" || row.given != Values{"all"};
  };
  c.work = [o, run] {
    NamedFiles outputs;
    if constexpr (requires { o->outputs(); }) outputs = o->outputs();
    check_files(o->common, inputs_of(o->scan), outputs);
    run(*o);
  };
}

}  // namespace tandem::apps
