// Files that another program is writing.

#include <hdf5.h>

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "hdf5_detail.hpp"

namespace tandem::io::hdf5 {

namespace {

/// The chunks of a data set, and how large they are in the file.
struct Chunks {
  hid_t set;
  std::vector<hsize_t> extents;  // size of a chunk
  std::optional<hsize_t> bytes;  // bytes of each chunk in the file; empty if filters change them

  Chunks(hid_t of, std::size_t rank) : set(of), extents(rank, 1) {
    const Handle plan(H5Dget_create_plist(set), H5Pclose), type(H5Dget_type(set), H5Tclose);
    H5Pget_chunk(plan.id(), rank_of(extents), extents.data());
    if (H5Pget_nfilters(plan.id()) > 0) return;
    bytes = H5Tget_size(type.id());
    for (const hsize_t n : extents) *bytes *= n;
  }

  /// Whether all chunks that begin at this index of the first axis are stored.
  bool are_stored(hsize_t first, const std::vector<Index>& shape, const std::string& where) const {
    std::vector<hsize_t> at(extents.size(), 0);
    at[0] = first;
    for (;;) {
      hsize_t stored = 0;
      if (H5Dget_chunk_storage_size(set, at.data(), &stored) < 0 || stored == 0) return false;
      require<FileError>(!bytes || stored == *bytes, where, ": a chunk has ", stored, " bytes; ",
                         bytes.value_or(0), " bytes are due, the file is damaged");
      std::size_t axis = at.size() - 1;  // goes to the next chunk, along the last axis first
      while (axis > 0 && (at[axis] += extents[axis]) >= static_cast<hsize_t>(shape[axis])) at[axis--] = 0;
      if (axis == 0) return true;
    }
  }
};

}  // namespace

void refresh(std::int64_t set, const std::string& where) {
  const Lock lock;
  if (H5Drefresh(set) < 0) fail(where + ": cannot be looked at again", "the file may be damaged");
}

Index stored_slices(std::int64_t set, const std::string& where, const std::vector<Index>& shape,
                    Growth& growth) {
  const Lock lock;
  const Chunks chunks(set, shape.size());
  Index& known = growth.stored[where];
  known = std::min(known, shape[0]);
  const Index step = chunks.extents[0];
  Index stored = known / step * step;
  while (stored < shape[0] && chunks.are_stored(stored, shape, where)) stored += step;
  known = std::max(known, std::min(stored, shape[0]));
  return known;
}

bool DataSet::can_grow() const {
  const Lock lock;
  const Handle plan(H5Dget_create_plist(handle_.id()), H5Pclose);
  return H5Pget_layout(plan.id()) == H5D_CHUNKED && !shape_.empty();
}

std::optional<Index> DataSet::most_slices() const {
  const Lock lock;
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  std::vector<hsize_t> most(shape_.size());
  H5Sget_simple_extent_dims(space.id(), nullptr, most.data());
  if (most.empty() || most[0] == H5S_UNLIMITED) return std::nullopt;
  return most[0];
}

File File::open_growing(const std::filesystem::path& path, std::shared_ptr<Growth> growth,
                        bool any_external) {
  const Lock lock;
  const Handle access = read_access();
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose);
  if (!file.valid()) file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
  if (!file.valid())
    fail(path.string() + ": cannot be opened as HDF5",
         "it may be open for writing by a program that does not write in SWMR mode");
  return File(std::move(file), path.string(),
              std::make_shared<const Origin>(Origin{folders_of(path), any_external, std::move(growth)}));
}

Handle File::kept_open(const std::string& path) const {
  const std::optional<Identity> which = identity(path);
  if (!which) return {};
  Handle& kept = origin_->growth->open[*which];
  if (!kept.valid()) kept = object(path);
  return {kept.id(), [](std::int64_t) { return 0; }};
}

bool File::is_swmr() const {
  const Lock lock;
  unsigned intent = 0;
  return H5Fget_intent(handle_.id(), &intent) >= 0 && (intent & H5F_ACC_SWMR_READ) != 0;
}

}  // namespace tandem::io::hdf5
