#include "scan_origin.hpp"

#include <sstream>

#include "../../core/error.hpp"
#include "../hdf5/hdf5.hpp"
#include "../hdf5/rehearsal.hpp"
#include "inside_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

/// The places of a text in a file: in DXchange, and below an entry of NeXus.
struct OriginPlace {
  std::string ScanOrigin::*text;
  const char *data_exchange, *below_entry;
};
constexpr OriginPlace origin_places[] = {
    {&ScanOrigin::title, "/measurement/sample/experiment/title", "/title"},
    {&ScanOrigin::sample, "/measurement/sample/name", "/sample/name"},
    {&ScanOrigin::instrument, "/measurement/instrument/name", "/instrument/name"},
    {&ScanOrigin::source, "/measurement/instrument/source/name", "/instrument/source/name"},
    {&ScanOrigin::probe, "/measurement/instrument/source/probe", "/instrument/source/probe"}};
const std::vector<std::string> energies{"/measurement/instrument/monochromator/energy"};
const std::vector<std::string> energies_below_entry{"/instrument/beam/incident_energy",
                                                    "/beam/incident_energy", "/sample/beam/incident_energy",
                                                    "/instrument/monochromator/energy"};

constexpr std::size_t most_letters = 1000;

/// Groups that may be entries: those at the root, and one below (entry1/tomo_entry).
std::vector<std::string> entries_of(const hdf5::File& file) {
  std::vector<std::string> entries;
  for (const std::string& name : file.names("/")) {
    if (!file.is_group('/' + name)) continue;
    entries.push_back('/' + name);
    if (file.is_group('/' + name + "/tomo_entry")) entries.push_back('/' + name + "/tomo_entry");
  }
  return entries;
}

std::string text_at(const hdf5::File& file, const std::string& path) {
  std::string text = file.find(path) ? file.text(path).value_or("") : "";
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return text.size() > most_letters ? "" : text;
}

/// An energy in keV, if the file gives its unit.
std::optional<double> energy_at(const hdf5::File& file, const std::string& path) {
  const std::optional<hdf5::DataSet> found = file.find(path);
  if (!found || found->size() != 1) return std::nullopt;
  const std::string unit = found->text("units").value_or("");
  const double factor = unit == "keV" || unit == "kev" ? 1 : unit == "eV" || unit == "ev" ? 1e-3 : 0;
  const double energy = factor * found->numbers().front();
  return energy > 0 && energy < 1e6 ? std::optional(energy) : std::nullopt;
}

/// The facts with a line for each, so that a rehearsal can return them.
std::string lines_in(const fs::path& scan) {
  const hdf5::File file = hdf5::File::open(scan);
  const std::vector<std::string> entries = entries_of(file);
  std::string lines;
  for (const OriginPlace& place : origin_places) {
    std::string text = text_at(file, place.data_exchange);
    for (const std::string& entry : entries)
      if (text.empty()) text = text_at(file, entry + place.below_entry);
    lines += text + '\n';
  }
  std::vector<std::string> paths = energies;
  for (const std::string& entry : entries)
    for (const std::string& path : energies_below_entry) paths.push_back(entry + path);
  for (const std::string& path : paths)
    if (const auto energy = energy_at(file, path)) {
      std::ostringstream number;
      number.precision(17);
      number << *energy;
      return lines + number.str() + '\n';
    }
  return lines;
}

}  // namespace

ScanOrigin origin_of(const fs::path& named) {
  const fs::path scan = inside_file(named).file;
  ScanOrigin origin{.file = scan.filename().string()};
  std::error_code fault;
  try {
    if (!fs::is_regular_file(scan, fault) || !hdf5::is_hdf5(scan)) return origin;
    std::istringstream lines(answer_of(scan, [&] { return lines_in(scan); }));
    for (const OriginPlace& place : origin_places) std::getline(lines, origin.*place.text);
    if (double energy = 0; lines >> energy) origin.energy_kev = energy;
  } catch (const FileError&) {  // missing details are no reason to fail
  }
  return origin;
}

std::vector<std::pair<std::string, std::string>> ScanOrigin::texts() const {
  std::vector<std::pair<std::string, std::string>> all{{"file", file},     {"title", title},
                                                       {"sample", sample}, {"instrument", instrument},
                                                       {"source", source}, {"probe", probe}};
  std::erase_if(all, [](const auto& one) { return one.second.empty(); });
  return all;
}

}  // namespace tandem::io
