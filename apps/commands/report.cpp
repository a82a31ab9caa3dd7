// tandem report: the report of a run as one page for a browser.

#include <filesystem>
#include <initializer_list>
#include <iostream>

#include "../../core/error.hpp"
#include "../../io/files/json.hpp"
#include "../../io/files/text_file.hpp"
#include "../command.hpp"
#include "../pages/report_page.hpp"
#include "../runs/files.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct PageOptions {
  Common common;
  std::string run, output;
};

/// Requires that the values that the page reads have the types that it expects.
void require_types(const json& report, const std::string& path) {
  const auto require_each = [&](std::initializer_list<const char*> keys, const char* what, auto is_right) {
    for (const char* key : keys)
      if (const auto found = report.find(key); found != report.end() && !found->is_null())
        require<FileError>(is_right(*found), path, ": its ", key, " is no ", what,
                           "; give a file that tandem recon SCAN -o VOLUME --json wrote");
  };
  require_each({"seconds", "volume", "geometry", "source", "curves", "quality", "forecast"}, "object",
               [](const json& value) { return value.is_object(); });
  require_each({"residuals", "stations", "steps", "warnings", "device"}, "list",
               [](const json& value) { return value.is_array(); });
  require_each({"input", "output", "config", "version", "begun", "command_line"}, "text",
               [](const json& value) { return value.is_string(); });
}

/// @throws FileError unless it is the report of a reconstruction
json report_in(const std::string& path) {
  constexpr Index most = Index{1} << 28;  // bytes
  json report = io::json_of(io::text_of_file(path, "a report that --json wrote", most));
  const bool has_command = report.is_object() && report.contains("command") && report["command"].is_string();
  require<FileError>(has_command, path,
                     ": is no report of tandem; give a file that tandem recon --json wrote");
  const std::string command = report["command"].get<std::string>().substr(0, 20);
  require<FileError>(command == "recon" && report.contains("seconds"), path, ": is a report of tandem ",
                     command, command == "recon" ? " of something else than one run" : "",
                     "; give a file that tandem recon SCAN -o VOLUME --json wrote");
  require_types(report, path);
  return report;
}

std::string text_in(const json& object, const char* key) {
  const json value = object.is_object() ? object.value(key, json()) : json();
  return value.is_string() ? value.get<std::string>() : "";
}

/// Opens the volume where the report says that it is: from here, or from the folder of the report; or by its
/// name alone in that folder. @throws FileError that says why there is none
std::unique_ptr<io::VolumeReader> volume_of(const json& report, const fs::path& run) {
  const fs::path name = text_in(report, "output");
  require<FileError>(!name.empty(), "the report names no volume");
  const auto opened_as_said = [&](const fs::path& path) -> std::unique_ptr<io::VolumeReader> {
    try {
      auto volume = std::make_unique<io::VolumeReader>(path);
      volume->require_complete();
      const json about = report.value("volume", json());
      const json shape = about.is_object() ? about.value("shape", json()) : json();
      require<FileError>(shape == json(volume->shape()), path.string(),
                         ": has another shape; another run wrote it");
      return volume;
    } catch (const FileError&) {
      return nullptr;
    }
  };
  for (const fs::path& path : {name, run.parent_path() / name, run.parent_path() / name.filename()})
    if (auto volume = opened_as_said(path)) return volume;
  throw FileError(name.string() + " is no longer there, or another run has written it");
}

void run_report(PageOptions& o) {
  const ThreadLimit limit(o.common.threads);
  check_files(o.common, {{"the report", o.run}}, {{"-o", o.output, io::Content::page}});
  const json report = report_in(o.run);
  ProgressLine progress(o.common);
  VolumeView view;
  std::string why_none;
  try {
    view = view_of(*volume_of(report, o.run), progress);
  } catch (const FileError& fault) {
    why_none = fault.what();
    progress.note("note: the page has no pictures: " + why_none);
  }
  io::Output(o.output, io::Content::page, o.common.replace()).write(report_page(report, view, why_none));
  progress.clear();
  write_report(
      o.common,
      {{"command", "report"}, {"input", o.run}, {"output", o.output}, {"pictures", view.planes.size()}});
  if (o.common.tells()) std::cout << "written   " << o.output << '\n';
}

void add_report(Table& c) {
  auto o = std::make_shared<PageOptions>();
  c.heading("Report");
  c.add("run", On::result, o->run, "what tandem recon --json wrote").required().of_kind("RUN.json");
  c.add("-o,--output", On::files, o->output,
        "the page to write, which needs no other file: middle planes and histogram of the volume, "
        "curves of the solver, what was cleaned, times, parameters, warnings")
      .required()
      .of_kind("PAGE.html");
  add_common(c, o->common);
  c.footer =
      "Examples:\n"
      "  tandem recon scan.h5 -o cgls.h5 --reconstruction-algorithm cgls --truth truth.h5 --json run.json\n"
      "  tandem report run.json -o run.html";
  c.work = [o] { run_report(*o); };
}

}  // namespace

extern const Command report_command{"report", "The report of a reconstruction as one page for a browser",
                                    add_report, false};

}  // namespace tandem::apps
