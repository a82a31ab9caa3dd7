// A data set that the user names: FILE:/NAME. It may have the axes (view, row, bin) or (view, bin), or others
// that its attribute `axes` names, as in DXchange.

#include <array>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
#include "../../files/text.hpp"
#include "../recorded.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

std::vector<std::string> names_of_axes(const hdf5::File& file, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string group = slash == 0 ? "/" : path.substr(0, slash);
  std::vector<std::string> names = file.texts(path, "axes");
  if (names.empty() && file.text(group, "signal") == path.substr(slash + 1))
    names = file.texts(group, "axes");
  if (names.size() != 1) return names;
  std::string text = names.front();
  for (char& sign : text)
    if (std::string_view(":,[]").find(sign) != std::string_view::npos) sign = ' ';
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The name of an axis as DXchange has it; empty if it is not known.
std::string axis_called(const std::string& name) {
  constexpr std::array axes{
      std::pair{
          "theta",
          "theta theta_white theta_dark rotation_angle angle angles phi omega view views projection frame "
          "frame_number"},
      std::pair{"y", "y row rows vertical detector_y"},
      std::pair{"x", "x column columns bin bins horizontal detector_x"},
      std::pair{"time", "time t"},
      std::pair{"channel", "channel energy"},
      std::pair{"z", "z"}};
  const auto found = std::ranges::find_if(
      axes, [&](const auto& axis) { return is_among(in_lower_case(name), axis.second); });
  return found == axes.end() ? "" : found->first;
}

/// The order of the axes of a data set, as `hdf5_frames` takes it: the usual one without names that are
/// known.
std::string order_of_axes(const hdf5::File& file, const std::string& path, std::size_t rank,
                          const std::string& usual, std::vector<std::string>& notes) {
  const std::vector<std::string> names = names_of_axes(file, path);
  constexpr std::size_t most_shown = 80;
  std::string order;
  bool known = names.size() == rank;
  for (const std::string& name : names) {
    const std::string axis = axis_called(name);
    known = known && !axis.empty();
    order += (order.empty() ? "" : ":") + axis;
  }
  if (known) return order;
  if (!names.empty())
    notes.push_back(path + ": axes \"" + joined(names, ", ").substr(0, most_shown) +
                    "\" are not known; they are taken for " + usual);
  return usual;
}

std::optional<Acquisition> find_named(const hdf5::File& file, const OpenOptions& options) {
  if (options.variable.empty()) return std::nullopt;
  const std::string path = "/" + options.variable;
  const auto data = std::make_shared<hdf5::DataSet>(data_set_named(file, path));
  const std::size_t rank = data->shape().size();
  require<FileError>(rank >= 2, data->where(), ": has ", rank, rank == 1 ? " axis" : " axes",
                     "; 2 (view, bin) or 3 (view, row, bin) are needed");
  Acquisition found;
  note_absolute_link(file, path, found.info.notes);
  found.lines = rank == 2;
  const char* usual = rank == 2 ? "theta:x" : rank == 4 ? "time:theta:y:x" : "theta:y:x";
  const std::string order = order_of_axes(file, path, rank, usual, found.info.notes);
  found.projections.push_back(hdf5_frames(data, order, {}, options.time));
  if (rank == 4) found.times = data->shape()[0];
  found.angles_where = file.name() + ": angles";
  return found;
}

}  // namespace

std::optional<std::string> axes_named(const hdf5::File& file, const std::string& path) {
  if (std::optional<std::string> text = file.text(path, "axes")) return text;
  const std::vector<std::string> names = names_of_axes(file, path);
  if (names.empty()) return std::nullopt;
  return joined(names, ":", [](const std::string& name) {
    const std::string axis = axis_called(name);
    return axis.empty() ? name : axis;
  });
}

std::unique_ptr<FrameSource> frames_named(const hdf5::File& file, const std::string& name, bool lines) {
  const std::string path = "/" + name;
  const auto data = std::make_shared<hdf5::DataSet>(data_set_named(file, path));
  const std::size_t rank = data->shape().size();
  const char* usual = rank == 4 ? "time:theta:y:x" : rank == 2 && lines ? "theta:x" : "theta:y:x";
  std::vector<std::string> notes;
  std::string order = order_of_axes(file, path, rank, usual, notes);
  if (rank == 2 && is_among(order, "y:x x:y")) order = "theta:" + order;  // one frame
  auto frames = hdf5_frames(data, order);
  frames->notes = std::move(notes);
  return frames;
}

Layout named_layout() {
  return {.name = "HDF5 data set", .needed = {}, .fields = {}, .find = find_named, .has_variables = true};
}

}  // namespace tandem::io
