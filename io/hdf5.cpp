#include "tandem/io/hdf5.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <type_traits>

#include "tandem/core/error.hpp"
#include "tandem/io/hdf5_detail.hpp"

namespace tandem::io::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

namespace {

constexpr int max_rank = 4;
constexpr std::size_t max_link = 65536;  // bytes: HDF5 stores no longer ones
constexpr Index max_text = 16 << 20;     // bytes: no recipe, report or unit is longer

std::recursive_mutex& mutex() {
  static std::recursive_mutex one;
  return one;
}

std::vector<Index> shape_of(hid_t space, const std::string& where) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  require<FileError>(rank >= 0 && rank <= max_rank, where, ": has ", rank, " axes; at most ", max_rank,
                     " are understood");
  std::array<hsize_t, max_rank> extents{};
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  std::vector<Index> shape;
  double elements = 1;
  for (int i = 0; i < rank; ++i) {
    elements *= std::max(1.0, static_cast<double>(extents[static_cast<std::size_t>(i)]));
    shape.push_back(static_cast<Index>(extents[static_cast<std::size_t>(i)]));
  }
  require<FileError>(elements < 1e15, where, ": claims ", elements, " elements; the file is damaged");
  return shape;
}

hid_t memory_type(PixelType type) {
  switch (type) {
    case PixelType::uint8:
      return H5T_NATIVE_UINT8;
    case PixelType::uint16:
      return H5T_NATIVE_UINT16;
    case PixelType::uint32:
      return H5T_NATIVE_UINT32;
    case PixelType::float32:
      break;
  }
  return H5T_NATIVE_FLOAT;
}

/// The first string in a data set or attribute; nothing if it holds other things. `read` fills memory of a
/// type.
std::optional<std::string> first_text(hid_t file_type, hid_t space,
                                      const std::function<herr_t(hid_t, void*)>& read) {
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(file_type) != H5T_STRING || points < 1 || points > 1024) return std::nullopt;
  const auto count = static_cast<std::size_t>(points);
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_cset(type.id(), H5Tget_cset(file_type));
  if (H5Tis_variable_str(file_type) > 0) {
    H5Tset_size(type.id(), H5T_VARIABLE);
    std::vector<char*> texts(count, nullptr);
    if (read(type.id(), texts.data()) < 0) return std::nullopt;
    const std::string first = texts[0] ? texts[0] : "";
    H5Dvlen_reclaim(type.id(), space, H5P_DEFAULT, texts.data());
    return first;
  }
  const std::size_t length = H5Tget_size(file_type);
  if (length > static_cast<std::size_t>(max_text) / count) return std::nullopt;
  H5Tset_size(type.id(), length + 1);
  std::vector<char> texts((length + 1) * count);
  if (read(type.id(), texts.data()) < 0) return std::nullopt;
  std::string first(texts.data());
  first.erase(first.find_last_not_of(' ') + 1);  // Fortran pads with blanks
  return first;
}

/// Integers and floats whose bits lie within their bytes: libhdf5 1.10 writes past its stack on others.
bool is_number(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || bits > 128) return false;
  const int offset = H5Tget_offset(type);
  if (offset < 0 || static_cast<std::size_t>(offset) + H5Tget_precision(type) > bits) return false;
  if (kind == H5T_INTEGER) return true;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign < bits && exponent + exponent_bits <= bits && mantissa + mantissa_bits <= bits;
}

Handle read_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // scans often lie on read-only or network file systems that know no locks
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

}  // namespace

Lock::Lock() : guard_(mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &text);
  const std::string quote = "error message = '";
  if (const auto begin = text.find(quote); begin != std::string::npos) {
    text = text.substr(begin + quote.size());
    text = text.substr(0, text.find('\''));
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "HDF5 gives no reason" : text;
}

bool Handle::reset() {
  if (id_ < 0) return true;
  const Lock lock;
  return close_(std::exchange(id_, -1)) >= 0;
}

DataSet::DataSet(Handle handle, std::string where) : handle_(std::move(handle)), where_(std::move(where)) {
  const Lock lock;
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  shape_ = shape_of(space.id(), where_);
}

Index DataSet::size() const {
  Index product = 1;
  for (Index n : shape_) product *= n;
  return product;
}

PixelType DataSet::pixel_type() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  require<FileError>(is_number(type.id()), where_, ": holds no numbers; integers or floats are needed");
  const bool whole = H5Tget_class(type.id()) == H5T_INTEGER && H5Tget_sign(type.id()) == H5T_SGN_NONE;
  switch (whole ? H5Tget_size(type.id()) : 0) {
    case 1:
      return PixelType::uint8;
    case 2:
      return PixelType::uint16;
    case 4:
      return PixelType::uint32;
    default:
      return PixelType::float32;
  }
}

std::size_t DataSet::decoded_bytes() const {
  const Lock lock;
  const Handle plan(H5Dget_create_plist(handle_.id()), H5Pclose);
  if (H5Pget_layout(plan.id()) != H5D_CHUNKED || H5Pget_nfilters(plan.id()) == 0) return 0;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  std::vector<hsize_t> chunk(shape_.size(), 1);
  H5Pget_chunk(plan.id(), static_cast<int>(chunk.size()), chunk.data());
  std::size_t bytes = H5Tget_size(type.id());
  for (hsize_t n : chunk) bytes *= static_cast<std::size_t>(n);
  return 2 * bytes;
}

void DataSet::require_stored() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  const Handle plan(H5Dget_create_plist(handle_.id()), H5Pclose);
  const Handle file(H5Iget_file_id(handle_.id()), H5Fclose);
  const double claimed = static_cast<double>(size()) * static_cast<double>(H5Tget_size(type.id()));
  const double stored = static_cast<double>(H5Dget_storage_size(handle_.id()));
  hsize_t file_bytes = 0;
  H5Fget_filesize(file.id(), &file_bytes);

  const H5D_layout_t layout = H5Pget_layout(plan.id());
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(plan.id()) == 0 && claimed > 0) {
    const haddr_t offset = H5Dget_offset(handle_.id());
    require<FileError>(offset != HADDR_UNDEF, where_, ": holds no data; it was never written");
    require<FileError>(static_cast<double>(offset) + claimed <= static_cast<double>(file_bytes), where_,
                       ": claims ", claimed,
                       " bytes, more than the file has; it is damaged or was cut short");
  }
  require<FileError>(layout != H5D_COMPACT || claimed <= stored, where_, ": claims ", claimed, " bytes, but ",
                     stored, " are stored; it is damaged");
  if (layout == H5D_CHUNKED && claimed > 0) {
    require<FileError>(stored > 0, where_, ": holds no data; it was never written");
    // gzip packs at best 1030 to 1; the rest is for small data sets with few chunks written
    require<FileError>(claimed <= 2000 * stored + (64 << 20), where_, ": claims ", claimed,
                       " bytes, but only ", stored, " are stored; it is damaged or was never finished");
  }
  const int filters = H5Pget_nfilters(plan.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter = H5Pget_filter2(plan.id(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &settings);
    require<FileError>(H5Zfilter_avail(filter) > 0, where_, ": is compressed with filter ", filter, " (",
                       name.data(),
                       "), which this HDF5 lacks; set HDF5_PLUGIN_PATH to the folder of its plugin");
  }
}

void DataSet::read(PixelType as, std::span<const Range> part, void* out) const {
  const Lock lock;
  std::array<hsize_t, max_rank> start{}, count{};
  for (std::size_t i = 0; i < part.size(); ++i) {
    start[i] = static_cast<hsize_t>(part[i].first);
    count[i] = static_cast<hsize_t>(part[i].size());
  }
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  const Handle memory(H5Screate_simple(static_cast<int>(part.size()), count.data(), nullptr), H5Sclose);
  const bool read =
      H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
      H5Dread(handle_.id(), memory_type(as), memory.id(), space.id(), H5P_DEFAULT, out) >= 0;
  require<FileError>(read, where_, ": cannot be read: ", reason(), "; the file may be damaged");
}

std::vector<double> DataSet::numbers() const {
  const Lock lock;
  static_cast<void>(pixel_type());
  require_stored();
  std::vector<double> values(static_cast<std::size_t>(size()));
  const bool read = values.empty() || H5Dread(handle_.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                              values.data()) >= 0;
  require<FileError>(read, where_, ": cannot be read: ", reason(), "; the file may be damaged");
  return values;
}

std::optional<std::string> DataSet::text() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  return first_text(type.id(), space.id(), [this](hid_t memory, void* out) {
    return H5Dread(handle_.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

std::optional<std::string> DataSet::text(const std::string& attribute) const {
  const Lock lock;
  if (H5Aexists(handle_.id(), attribute.c_str()) <= 0) return std::nullopt;
  const Handle open(H5Aopen(handle_.id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!open.valid()) return std::nullopt;
  const Handle type(H5Aget_type(open.id()), H5Tclose);
  const Handle space(H5Aget_space(open.id()), H5Sclose);
  return first_text(type.id(), space.id(),
                    [&open](hid_t memory, void* out) { return H5Aread(open.id(), memory, out); });
}

std::optional<double> DataSet::number(const std::string& attribute) const {
  const Lock lock;
  if (H5Aexists(handle_.id(), attribute.c_str()) <= 0) return std::nullopt;
  const Handle open(H5Aopen(handle_.id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(open.id()), H5Tclose);
  const Handle space(H5Aget_space(open.id()), H5Sclose);
  double value = 0;
  const bool one = open.valid() && is_number(type.id()) && H5Sget_simple_extent_npoints(space.id()) == 1;
  if (!one || H5Aread(open.id(), H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
  return value;
}

bool is_hdf5(const std::filesystem::path& path) {
  const Lock lock;
  return H5Fis_hdf5(path.c_str()) > 0;
}

File File::open(const std::filesystem::path& path) {
  const Lock lock;
  const Handle access = read_access();
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  require<FileError>(file.valid(), path.string(), ": cannot be opened as HDF5: ", reason(),
                     "; the file may be cut short or damaged");
  return File(std::move(file), path.string());
}

bool File::has(const std::string& path) const {
  const Lock lock;
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (H5Lexists(handle_.id(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

bool File::is_group(const std::string& path) const {
  const Lock lock;
  if (path != "/" && !has(path)) return false;
  const Handle object(H5Oopen(handle_.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  return object.valid() && H5Iget_type(object.id()) == H5I_GROUP;
}

std::vector<std::string> File::names(const std::string& group) const {
  const Lock lock;
  std::vector<std::string> found;
  if (!is_group(group)) return found;
  const Handle open(H5Gopen2(handle_.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  hsize_t next = 0;
  H5Literate(
      open.id(), H5_INDEX_NAME, H5_ITER_INC, &next,
      [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
      },
      &found);
  return found;
}

std::optional<DataSet> File::find(const std::string& path) const {
  const Lock lock;
  if (!has(path)) return std::nullopt;
  Handle object(H5Oopen(handle_.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object.valid() || H5Iget_type(object.id()) != H5I_DATASET) return std::nullopt;
  return DataSet(std::move(object), name_ + ": " + path);
}

std::string File::why_unopened(const std::string& path) const {
  if (!has(path)) return "missing";
  if (is_group(path)) return "is a group; a data set is needed";
  H5L_info_t link{};
  const bool external =
      H5Lget_info(handle_.id(), path.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_EXTERNAL;
  std::vector<char> target(external ? std::min(link.u.val_size, max_link) : 0);
  const char* file = nullptr;
  if (external && H5Lget_val(handle_.id(), path.c_str(), target.data(), target.size(), H5P_DEFAULT) >= 0 &&
      H5Lunpack_elink_val(target.data(), target.size(), nullptr, &file, nullptr) >= 0)
    return "links to " + std::string(file) + ", which cannot be opened; put that file where the link points";
  static_cast<void>(Handle(H5Oopen(handle_.id(), path.c_str(), H5P_DEFAULT), H5Oclose));
  return "cannot be opened: " + reason();
}

DataSet File::data_set(const std::string& path) const {
  const Lock lock;
  std::optional<DataSet> found = find(path);
  if (!found) throw FileError(name_ + ": " + path + ": " + why_unopened(path));
  return std::move(*found);
}

std::optional<std::string> File::text(const std::string& path) const {
  const std::optional<DataSet> found = find(path);
  return found ? found->text() : std::nullopt;
}

std::optional<double> File::number(const std::string& path) const {
  const std::optional<DataSet> found = find(path);
  if (!found || found->size() != 1) return std::nullopt;
  return found->numbers().front();
}

}  // namespace tandem::io::hdf5
