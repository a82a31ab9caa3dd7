#include "nexus_entry.hpp"

#include <array>
#include <ctime>
#include <vector>

#include "../../core/version.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

const std::string entry = "/entry";

/// The positions of the centres of voxels along an axis.
std::vector<double> positions(const VolumePlace& place, std::size_t axis) {
  const VolumeGrid& g = place.grid;
  std::vector<double> all;
  for (Index i = 0; i < g.size[axis]; ++i)
    all.push_back(g.centre[axis] + g.pitch[axis] * (i - 0.5 * (g.size[axis] - 1)));
  return all;
}

void add_data(hdf5::File& file, Shape n, const VolumeFormat& format) {
  const std::string data = entry + "/data";
  const VolumePlace place =
      format.place.value_or(whole_place({.size = {n[2], n[1], n[0]}, .pitch = {1, 1, 1}}, false));
  for (const std::size_t axis : {0, 1, 2})
    file.write_numbers(data + '/' + "xyz"[axis], positions(place, axis), place.unit_of_length());
  file.link(data + "/data", "/exchange/data");
  file.set_class(data, "NXdata");
  file.set(data, "signal", "data");
  file.set(data, "axes", std::array<std::string, 3>{"z", "y", "x"});
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

void add_nexus_entry(hdf5::File& file, Shape shape, const VolumeFormat& format) {
  const ScanOrigin& origin = format.origin;
  const auto text = [&](const std::string& path, const std::string& value) {
    if (!value.empty()) file.write_text(entry + path, value);
  };
  text("/definition", "NXtomoproc");
  text("/title", origin.title);
  text("/sample/name", origin.sample);
  text("/instrument/name", origin.instrument);
  text("/instrument/source/name", origin.source);
  text("/instrument/source/probe", origin.probe);
  if (origin.energy_kev)
    file.write_number(entry + "/instrument/beam/incident_energy", *origin.energy_kev, "keV");
  text("/reconstruction/program", "tandem");
  text("/reconstruction/version", TANDEM_VERSION);
  text("/reconstruction/parameters/raw_file", origin.file);
  add_data(file, shape, format);
  file.set_class(entry, "NXentry");
  file.set(entry, "default", "data");
  for (const auto& [group, name] : {std::pair{"/sample", "NXsample"},
                                    {"/instrument", "NXinstrument"},
                                    {"/instrument/source", "NXsource"},
                                    {"/instrument/beam", "NXbeam"},
                                    {"/reconstruction", "NXprocess"},
                                    {"/reconstruction/parameters", "NXparameters"}})
    if (file.has(entry + group)) file.set_class(entry + group, name);
}

void complete_nexus_entry(hdf5::File& file, const VolumeFormat& format) {
  file.write_text(entry + "/reconstruction/date", now());
  const bool whole = is_integer(format.type);
  const double scaling = whole ? (double{format.max} - format.min) / full_scale(format.type) : 1;
  hdf5::DataSet data = file.data_set("/exchange/data");
  data.set("offset", whole ? format.min : 0);
  data.set("scaling", scaling);
  data.set("transform", "none");
}

}  // namespace tandem::io
