// A data set that the user names: FILE:/NAME. It may have the axes (view, row, bin) or (view, bin), or others
// that its attribute `axes` names, as in DXchange.

#include <memory>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../recorded.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

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
  found.projections.push_back(hdf5_frames(data, data->text("axes").value_or(usual), {}, options.time));
  if (rank == 4) found.times = data->shape()[0];
  found.angles_where = file.name() + ": angles";
  return found;
}

}  // namespace

Layout named_layout() {
  return {.name = "HDF5 data set", .needed = {}, .fields = {}, .find = find_named, .has_variables = true};
}

}  // namespace tandem::io
