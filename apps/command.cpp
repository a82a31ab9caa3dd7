#include "command.hpp"

#include "../core/error.hpp"
#include "options/command_line.hpp"

namespace tandem::apps {

namespace {

thread_local std::shared_ptr<const Listener> listening;

}  // namespace

Listening::Listening(Listener listener) { listening = std::make_shared<const Listener>(std::move(listener)); }
Listening::~Listening() { listening.reset(); }

std::shared_ptr<const io::GivenScan> given_scan() { return listening ? listening->scan : nullptr; }

void add_common(CLI::App& command, Common& common) {
  common.listener = listening;
  heading(command, "Every command");
  command.set_help_flag("-h,--help", "this list");
  command.add_flag("--quiet", common.quiet, "no progress, no warnings")->option_text(of_run);
  command.add_option("--threads", common.threads, "threads to use (0, the default: all cores)")
      ->check(count(0, 4096))
      ->option_text(of_run);
  command
      .add_option("--config", "take options of this command from a TOML file, one line NAME = VALUE for each")
      ->type_name("FILE")
      ->option_text(of_run);
  command.add_flag("--overwrite", common.overwrite, "replace files that tandem did not write")
      ->configurable(false);
  command.add_option("--json", common.json, "write the report of the run to this file (-: standard output)")
      ->configurable(false);
  command
      .add_option("--log", common.log,
                  "write what is shown on standard error and standard output to this file too, each line "
                  "with its time")
      ->type_name("FILE")
      ->configurable(false);
}

void add_external_files(CLI::App& command, bool& allowed) {
  command
      .add_flag("--allow-external-files", allowed,
                "read data outside the folder of the file, or of the Zarr, that leads to them")
      ->configurable(false);
}

nlohmann::json parsed(const std::string& text) {
  using nlohmann::json;
  constexpr int deepest = 64;
  int depth = 0;
  bool in_words = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (in_words && c == '\\')
      ++k;
    else if (c == '"')
      in_words = !in_words;
    else if (!in_words)
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > deepest) return json(json::value_t::discarded);
  }
  return json::parse(text, nullptr, false);
}

std::string text_of(const nlohmann::json& report, int indent) {
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace tandem::apps
