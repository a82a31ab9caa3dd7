// Runs the commands of the program within Python. They are parsed as in the program, and report to a
// listener.

#include <cstdlib>
#include <filesystem>

#include "../../apps/command.hpp"
#include "../../apps/options/command_line.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../io/scans/given_scan.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

using OnStage = std::function<void(std::string, double, double, std::string, std::string)>;
using OnText = std::function<void(std::string)>;

/// Frames of the caller: projections, flats or darks, with their type, address and count.
using GivenFrames = std::vector<std::tuple<std::string, std::string, Address, Index>>;

struct GivenScan {
  std::shared_ptr<const io::GivenScan> scan;
};

GivenScan make_given(const Scan& scan, bool pitch_is_known, const GivenFrames& frames) {
  const Detector& detector = detector_of(scan);
  io::GivenScan given{scan, pitch_is_known, {}};
  for (const auto& [kind, type, address, count] : frames) {
    io::FramesView& view = given.frames[kind == "projections" ? 0 : kind == "flats" ? 1 : 2];
    view = {io::PixelType::float32,
            {count, detector.rows, detector.bins},
            reinterpret_cast<const std::byte*>(address),
            detector.rows * detector.bins,
            detector.bins};
    for (const io::PixelType known : {io::PixelType::uint8, io::PixelType::uint16, io::PixelType::uint32})
      if (type == io::name_of(known)) view.type = known;
  }
  return {std::make_shared<const io::GivenScan>(std::move(given))};
}

void run_command(std::vector<std::string> words, OnStage stage, OnText note, OnText report,
                 const std::optional<GivenScan>& given) {
  const Released released;
  const apps::Listening listening({.stage =
                                       [&](const std::string& name, double done, double total,
                                           const std::string& what, const std::string& detail) {
                                         require<Error>(!is_ending(), "tandem: Python ends");
                                         stage(name, done, total, what, detail);
                                       },
                                   .note = [&](const std::string& line) { note(line); },
                                   .report = [&](const nlohmann::json& all) { report(apps::text_of(all)); },
                                   .scan = given ? given->scan : nullptr});
  apps::parse_options(apps::command_named(words.front()), {words.begin() + 1, words.end()})->work();
}

/// How an option takes its values: "flag" (or "flag=" if it may have details), "list" (once for each value),
/// or what separates them: "," or, for ranges A:B, ":".
std::string form_of(const options::Option& option) {
  using options::Takes;
  if (option.is_flag()) return option.takes == Takes::details ? "flag=" : "flag";
  if (option.kind.find(':') != std::string::npos) return ":";
  return option.takes == Takes::one ? "," : "list";
}

/// The options of a command: long name, form and help.
std::vector<std::tuple<std::string, std::string, std::string>> options_of(const std::string& command) {
  const auto table = apps::table_of(apps::command_named(command));
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  for (const options::Option& row : table->rows())
    if (!row.is_argument) all.emplace_back(row.name, form_of(row), row.help);
  return all;
}

/// Translates what commands throw beside the errors of the library.
void translate(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const char* what) {
    PyErr_SetString(nb::module_::import_("tandem._errors").attr(name).ptr(), what);
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const options::UsageError& e) {
    raise("UsageError", e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    raise("FileError", e.what());
  }
}

}  // namespace

void add_commands(nb::module_& m) {
  spell_options_with(Spelling::keywords);
  // As in the program: libhdf5 1.10 would refuse a virtual data set whose source is its own file.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  nb::register_exception_translator(translate);
  nb::class_<GivenScan>(m, "GivenScan").def(nb::new_(&make_given));
  m.def("run_command", &run_command, "words"_a, "stage"_a, "note"_a, "report"_a, "scan"_a.none());
  m.def("options_of", &options_of);
}

}  // namespace tandem::python
