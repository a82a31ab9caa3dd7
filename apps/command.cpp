#include "command.hpp"

#include "../core/error.hpp"

namespace tandem::apps {

namespace {

thread_local std::shared_ptr<const Listener> listening;

}  // namespace

Listening::Listening(Listener listener) { listening = std::make_shared<const Listener>(std::move(listener)); }
Listening::~Listening() { listening.reset(); }

std::shared_ptr<const io::GivenScan> given_scan() { return listening ? listening->scan : nullptr; }

void add_common(Table& table, Common& common) {
  common.listener = listening;
  table.heading("Every command");
  table.add("-h,--help", On::files, common.help, "the options that people need often");
  table.add("--help-all", On::files, common.help, "all options");
  table.add(
      "--quiet", On::run, common.quiet,
      "warnings and errors alone (info, center, check, bench, --sweep and --compare print their result)");
  table.add("--threads", On::run, common.threads, "threads to use (0, the default: all cores)")
      .check(count(0, 4096));
  table
      .add("--config", On::run, common.config,
           "take options of this command from a TOML file, one line NAME = VALUE for each")
      .of_kind("FILE");
  table.at_end([&table, notes = common.notes] { *notes = table.notes; });
  table.add("--overwrite", On::files, common.overwrite, "replace files that tandem did not write");
  table.add("--json", On::files, common.json,
            "write the report of the run to this file (-: standard output)");
  table
      .add("--log", On::files, common.log,
           "write what is shown on standard error and standard output to this file too, each line "
           "with its time")
      .of_kind("FILE");
}

std::string text_of(const nlohmann::json& report, int indent) {
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace tandem::apps
