// Checks that all elements of a data set are there. For elements that are not, libhdf5 returns fill values,
// mostly zeros: for chunks never written, and for the end of an external file that was cut short.

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "chunk_places.hpp"
#include "hdf5_detail.hpp"
#include "rehearsal.hpp"

namespace tandem::io::hdf5 {

namespace fs = std::filesystem;

namespace {

/// A data set under examination.
struct Claim {
  hid_t set;
  const std::string& where;
  Handle plan;
  std::vector<hsize_t> extents;
  std::size_t element_bytes;
  FileStamp file;  // the file that holds it

  double elements() const {
    double product = 1;
    for (hsize_t n : extents) product *= n;
    return product;
  }
  double bytes() const { return elements() * element_bytes; }
};

FileStamp file_of(hid_t set, const std::string& where) {
  std::string name(std::max<ssize_t>(0, H5Fget_name(set, nullptr, 0)), '\0');
  H5Fget_name(set, name.data(), name.size() + 1);
  return stamp_of(name, where);
}

Claim claim_of(hid_t set, const std::string& where) {
  const Handle space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose);
  std::vector<hsize_t> extents(std::max(0, H5Sget_simple_extent_ndims(space.id())));
  H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) extents = {0};
  return {set,
          where,
          Handle(H5Dget_create_plist(set), H5Pclose),
          std::move(extents),
          H5Tget_size(type.id()),
          file_of(set, where)};
}

void require_contiguous(const Claim& claim, Storage& found) {
  const haddr_t offset = H5Dget_offset(claim.set);
  require<FileError>(offset != HADDR_UNDEF, claim.where, ": holds no data; it was never written");
  require<FileError>(offset + claim.bytes() <= claim.file.bytes, claim.where, ": claims ", claim.bytes(),
                     " bytes, more than the file has; it is damaged or was cut short");
  found.extents = {{0, static_cast<Index>(offset), static_cast<Index>(claim.bytes())}};
}

/// Requires all chunks, in one walk through their index.
void require_chunks(const Claim& claim) {
  std::vector<hsize_t> chunk(claim.extents.size(), 1);
  H5Pget_chunk(claim.plan.id(), rank_of(chunk), chunk.data());
  double due = 1;
  for (std::size_t i = 0; i < chunk.size(); ++i)
    due *= ceil_div(claim.extents[i], std::max<hsize_t>(chunk[i], 1));
  const double room = claim.file.bytes;
  constexpr double bytes_indexed = 16, seconds_indexed = 2e-3;  // least bytes and most time for a chunk
  take_longer(seconds_indexed * std::min(due, room / bytes_indexed));
  hsize_t written = 0;
  const Handle space(H5Dget_space(claim.set), H5Sclose);
  const bool counted = H5Dget_num_chunks(claim.set, space.id(), &written) >= 0;
  if (!counted) fail(claim.where + ": its chunks cannot be counted", "the file may be damaged");
  require<FileError>(written > 0, claim.where, ": holds no data; it was never written");
  require<FileError>(written >= due, claim.where, ": ", due - written, " of its ", due,
                     " chunks were never written; copy the frames that are there into a file of their own");
  const double stored = H5Dget_storage_size(claim.set);  // libhdf5 believes each chunk's size
  require<FileError>(stored <= room, claim.where, ": its chunks claim ", stored,
                     " bytes, but the file has only ", room, "; it is damaged or was cut short");
  require<FileError>(claim.bytes() <= most_unpacked(claim.file), claim.where, ": claims ", claim.bytes(),
                     " bytes, but the file has only ", room, "; it is damaged or was never finished");
}

/// The bytes of a stored chunk that has `whole` bytes when it is unpacked. Empty if a filter packed it.
std::optional<hsize_t> bytes_due(hid_t plan, int filters, unsigned skipped, hsize_t whole) {
  constexpr hsize_t checksum_bytes = 4;
  for (int i = 0; i < filters; ++i) {
    if (skipped >> i & 1) continue;
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(plan, i, &flags, &values, nullptr, 0, nullptr, &settings);
    if (filter == H5Z_FILTER_FLETCHER32)
      whole += checksum_bytes;
    else if (filter != H5Z_FILTER_SHUFFLE)
      return std::nullopt;
  }
  return whole;
}

/// The path where libhdf5 finds a raw file: in the working directory, unless the environment says otherwise.
fs::path external_path(const std::string& name, const FileStamp& named_by) {
  const char* variable = std::getenv("HDF5_EXTFILE_PREFIX");
  std::string prefix = variable ? variable : "";
  const std::string origin = "${ORIGIN}";
  if (prefix.starts_with(origin))
    prefix = fs::absolute(named_by.path).parent_path().string() + prefix.substr(origin.size());
  return prefix.empty() || prefix == "." ? fs::path(name) : fs::path(prefix) / name;
}

FileStamp external_file(const Claim& claim, const std::string& name, const Origin& origin) {
  const fs::path path = external_path(name, claim.file);
  std::error_code fault;
  const fs::path true_path = fs::canonical(path, fault);
  require<FileError>(!fault, claim.where, ": its data are in ", path.string(),
                     ", which cannot be seen: ", fault.message(), "; put that file there");
  const bool here = std::any_of(origin.folders.begin(), origin.folders.end(),
                                [&](const fs::path& folder) { return lies_within(true_path, folder); });
  require<FileError>(
      here || origin.any_external, claim.where, ": its data are in ", path.string(),
      ", outside the file's folder; give " + spelled("allow-external-files") + " if you trust the file");
  require<FileError>(!is_special(true_path), claim.where, ": its data are in ", path.string(),
                     ", which is a pipe or a device; a regular file is needed");
  return stamp_of(true_path, claim.where);
}

void require_external(const Claim& claim, const Origin& origin, Storage& found) {
  const int count = H5Pget_external_count(claim.plan.id());
  double left = claim.bytes();
  for (int i = 0; i < count && left > 0; ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t bytes = 0;
    const bool known =
        H5Pget_external(claim.plan.id(), i, name.size() - 1, name.data(), &offset, &bytes) >= 0;
    if (!known) fail(claim.where + ": its external files cannot be listed", "the file may be damaged");
    found.files.push_back(external_file(claim, name.data(), origin));
    const FileStamp& file = found.files.back();
    const double taken = bytes == H5F_UNLIMITED ? left : std::min<double>(left, bytes);
    require<FileError>(offset + taken <= file.bytes, claim.where, ": needs bytes ", offset, " to ",
                       offset + taken, " of ", file.path.string(), ", which has ", file.bytes,
                       "; it was cut short");
    found.extents.push_back({found.files.size() - 1, offset, static_cast<Index>(taken)});
    left -= taken;
  }
  require<FileError>(left <= 0, claim.where, ": claims ", claim.bytes(),
                     " bytes, but its external files have ", claim.bytes() - left, " only");
}

}  // namespace

double most_unpacked(const FileStamp& file) {
  // gzip packs at best 1030 to 1; the constant is for small data sets
  return 2000.0 * file.bytes + (64 << 20);
}

void require_filters(std::int64_t set, const std::string& where) {
  const Handle plan(H5Dget_create_plist(set), H5Pclose);
  const int filters = H5Pget_nfilters(plan.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter =
        H5Pget_filter2(plan.id(), i, &flags, &values, nullptr, name.size() - 1, name.data(), &settings);
    require<FileError>(H5Zfilter_avail(filter) > 0, where, ": is compressed with filter ", filter, " (",
                       name.data(),
                       "), which this HDF5 lacks; set HDF5_PLUGIN_PATH to the folder of its plugin");
  }
}

void require_whole_chunks(std::int64_t set, const std::string& where, std::span<const Range> part) {
  const Handle plan(H5Dget_create_plist(set), H5Pclose), type(H5Dget_type(set), H5Tclose);
  if (H5Pget_layout(plan.id()) != H5D_CHUNKED) return;
  const int filters = H5Pget_nfilters(plan.id());
  std::vector<hsize_t> extents(part.size(), 1);
  H5Pget_chunk(plan.id(), rank_of(extents), extents.data());
  const std::vector<Index> chunk(extents.begin(), extents.end());
  std::vector<Index> first(part.size());
  hsize_t whole = H5Tget_size(type.id());
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i].size() <= 0) return;
    whole *= chunk[i];
    first[i] = part[i].first / chunk[i] * chunk[i];
  }
  const ChunkFinder finder(set, file_of(set, where).path, where);
  for (std::vector<Index> at = first; at[0] < part[0].last;) {
    const std::optional<ChunkPlace> found = finder.find(at);
    if (!found) fail(where + ": a chunk cannot be found", "the file may be damaged");
    const std::optional<hsize_t> due = bytes_due(plan.id(), filters, found->skipped, whole);
    require<FileError>(!due || static_cast<hsize_t>(found->bytes) == *due, where, ": a chunk has ",
                       found->bytes, " bytes; ", due.value_or(0), " bytes are due, the file is damaged");
    std::size_t axis = part.size() - 1;  // goes to the next chunk, along the last axis first
    for (at[axis] += chunk[axis]; axis > 0 && at[axis] >= part[axis].last; at[axis] += chunk[axis])
      at[axis] = first[axis], --axis;
  }
}

void require_unchanged(const Storage& storage, const std::string& where) {
  for (const FileStamp& file : storage.files) io::require_unchanged(file, where);
}

void require_stored(std::int64_t set, const std::string& where, const Origin& origin, Storage& found) {
  const Lock lock;
  const Claim claim = claim_of(set, where);
  found.files.push_back(claim.file);
  require_filters(set, where);
  if (claim.bytes() == 0) return;
  switch (H5Pget_layout(claim.plan.id())) {
    case H5D_CONTIGUOUS:
      return H5Pget_external_count(claim.plan.id()) > 0 ? require_external(claim, origin, found)
                                                        : require_contiguous(claim, found);
    case H5D_COMPACT: {
      const double stored = H5Dget_storage_size(set);
      return require<FileError>(claim.bytes() <= stored, where, ": claims ", claim.bytes(), " bytes, but ",
                                stored, " are stored; it is damaged");
    }
    case H5D_CHUNKED:
      return require_chunks(claim);
    case H5D_VIRTUAL:
      return require_sources(set, where, origin, found);
    default:
      throw FileError(where + ": has a layout that this HDF5 does not know; the file is damaged");
  }
}

}  // namespace tandem::io::hdf5
