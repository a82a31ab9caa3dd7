#include "hdf5.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <tuple>
#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "chunk_filters.hpp"
#include "hdf5_detail.hpp"
#include "hdf5_direct.hpp"

namespace tandem::io::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

namespace {

constexpr int max_rank = 4;
constexpr Index max_text = 16 << 20;  // bytes: no recipe, report or unit is longer

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
    elements *= std::max<double>(1, extents[i]);
    shape.push_back(extents[i]);
  }
  require<FileError>(elements < 1e15, where, ": claims ", elements, " elements; the file is damaged");
  return shape;
}

hid_t memory_type(PixelType type) {
  const hid_t types[]{H5T_NATIVE_UINT8, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32, H5T_NATIVE_FLOAT};
  return row_of(types, type);
}

std::string without_padding(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);  // Fortran pads with blanks
  return text;
}

/// The strings in a data set or attribute; none if it holds other things, or more than `most` strings. `read`
/// fills memory of a given type.
std::vector<std::string> texts_in(hid_t file_type, hid_t space, hssize_t most,
                                  const std::function<herr_t(hid_t, void*)>& read) {
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(file_type) != H5T_STRING || points < 1 || points > most) return {};
  const std::size_t count = points;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_cset(type.id(), H5Tget_cset(file_type));
  std::vector<std::string> all;
  if (H5Tis_variable_str(file_type) > 0) {
    H5Tset_size(type.id(), H5T_VARIABLE);
    std::vector<char*> texts(count, nullptr);
    if (read(type.id(), texts.data()) < 0) return {};
    for (const char* text : texts) all.emplace_back(text ? text : "");
    H5Dvlen_reclaim(type.id(), space, H5P_DEFAULT, texts.data());
    return all;
  }
  const std::size_t length = H5Tget_size(file_type);
  if (length > max_text / count) return {};
  H5Tset_size(type.id(), length + 1);
  std::vector<char> texts((length + 1) * count);
  if (read(type.id(), texts.data()) < 0) return {};
  for (std::size_t k = 0; k < count; ++k) all.push_back(without_padding(texts.data() + k * (length + 1)));
  return all;
}

constexpr hssize_t most_texts = 1024;

/// The first of a few strings; empty if there is none.
std::optional<std::string> first_text(hid_t file_type, hid_t space,
                                      const std::function<herr_t(hid_t, void*)>& read) {
  const std::vector<std::string> all = texts_in(file_type, space, most_texts, read);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

/// Whether a type is an integer or a float whose bits lie within its bytes. libhdf5 1.10 writes past its
/// stack on others.
bool is_number(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || bits > 128) return false;
  const int offset = H5Tget_offset(type);
  if (offset < 0 || offset + H5Tget_precision(type) > bits) return false;
  if (kind == H5T_INTEGER) return true;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign < bits && exponent + exponent_bits <= bits && mantissa + mantissa_bits <= bits;
}

}  // namespace

Lock::Lock() : guard_(mutex()) {
  [[maybe_unused]] static const bool has_memory = (require_memory(), true);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  [[maybe_unused]] static const bool registered = (register_filters(), true);
}

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
  if (text.find("Too many open files") != std::string::npos) text += "; raise the limit (ulimit -n)";
  return text.empty() ? "HDF5 gives no reason" : text;
}

void free_unused_memory() {
  const Lock lock;
  H5garbage_collect();
}

void forget_lock() { std::construct_at(&mutex()); }

void fail(const std::string& what, const std::string& remedy) {
  const bool allocation_failed =
      errno == ENOMEM;  // libhdf5 says "no space" of damaged chunks of 0 bytes as well
  bool memory = false;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        if (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE) *static_cast<bool*>(out) = true;
        return 0;
      },
      &memory);
  const std::string why = reason();
  require<DeviceError>(!memory || !allocation_failed, what, ": ", why,
                       "; more memory is needed: give " + spelled("memory") + " GIB below what is free");
  const auto tells = [&why](const char* words) { return why.find(words) != std::string::npos; };
  if (tells("ulimit")) throw FileError(what + ": " + why);
  throw FileError(what + ": " + why + "; " +
                  (tells("unable to lock") ? "set HDF5_USE_FILE_LOCKING=FALSE in the environment" : remedy));
}

bool Handle::reset() {
  if (id_ < 0) return true;
  const Lock lock;
  return close_(std::exchange(id_, -1)) >= 0;
}

DataSet::DataSet(Handle handle, std::string where, std::shared_ptr<const Origin> origin)
    : handle_(std::move(handle)), where_(std::move(where)), origin_(std::move(origin)) {
  const Lock lock;
  if (grows()) refresh(handle_.id(), where_);
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  shape_ = shape_of(space.id(), where_);
  if (grows() && can_grow()) shape_[0] = stored_slices(handle_.id(), where_, shape_, *origin_->growth);
}

Index DataSet::size() const {
  Index product = 1;
  for (Index n : shape_) product *= n;
  return product;
}

bool DataSet::is_float16() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  return H5Tequal(type.id(), float16_type().id()) > 0;
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
  if (direct_) return direct_->decoded_bytes();
  const Lock lock;
  const Handle plan(H5Dget_create_plist(handle_.id()), H5Pclose);
  if (H5Pget_layout(plan.id()) != H5D_CHUNKED || H5Pget_nfilters(plan.id()) == 0) return 0;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  std::vector<hsize_t> chunk(shape_.size(), 1);
  H5Pget_chunk(plan.id(), rank_of(chunk), chunk.data());
  std::size_t bytes = H5Tget_size(type.id());
  for (hsize_t n : chunk) bytes *= n;
  return 2 * bytes;
}

std::string DataSet::packing() const { return direct_ ? direct_->packing() : "by libhdf5"; }

void DataSet::require_stored() {
  if (storage_) return;
  const Lock lock;
  if (grows() && can_grow()) return require_filters(handle_.id(), where_);
  auto found = std::make_shared<Storage>();
  hdf5::require_stored(handle_.id(), where_, origin_ ? *origin_ : Origin{}, *found);
  if (grows()) return;  // the file changes
  direct_ = direct(handle_.id(), where_, *found);
  storage_ = std::move(found);
}

void DataSet::read(PixelType as, std::span<const Range> part, void* out) const {
  if (direct_ && direct_->type() == as)
    read_directly(part, static_cast<std::byte*>(out));
  else
    read_by_library(as, part, out);
  if (storage_) require_unchanged(*storage_, where_);
}

void DataSet::read_directly(std::span<const Range> part, std::byte* out) const {
  std::vector<Index> extents;
  for (const Range& range : part) extents.push_back(range.size());
  const std::vector<Index> corner(part.size(), 0);
  try {
    direct_->read(part, {extents, corner}, out);
  } catch (const FileError&) {
    require_unchanged(*storage_, where_);  // a change of a file was the reason then
    throw;
  }
}

void DataSet::read_by_library(PixelType as, std::span<const Range> part, void* out) const {
  const Lock lock;
  if (!grows()) require_whole_chunks(handle_.id(), where_, part);
  read_part(memory_type(as), part, out);
}

void DataSet::read_part(std::int64_t memory_type, std::span<const Range> part, void* out) const {
  std::array<hsize_t, max_rank> start{}, count{};
  for (std::size_t i = 0; i < part.size(); ++i) {
    start[i] = part[i].first;
    count[i] = part[i].size();
  }
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  const Handle memory(H5Screate_simple(rank_of(part), count.data(), nullptr), H5Sclose);
  errno = 0;
  const bool read =
      H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
      H5Dread(handle_.id(), memory_type, memory.id(), space.id(), H5P_DEFAULT, out) >= 0;
  if (!read) fail(where_ + ": cannot be read", "the file may be damaged");
}

std::vector<double> DataSet::numbers() const {
  const Lock lock;
  std::ignore = pixel_type();
  const std::size_t count = size();
  std::vector<Range> all;
  for (Index n : shape_) all.push_back({0, n});
  if (grows() && can_grow()) {
    std::vector<double> values(count);
    if (count > 0) read_part(H5T_NATIVE_DOUBLE, all, values.data());
    return values;
  }
  Storage found;
  hdf5::require_stored(handle_.id(), where_, origin_ ? *origin_ : Origin{}, found);
  if (count > 0) require_whole_chunks(handle_.id(), where_, all);
  std::vector<double> values(count);  // only now, when the file is known to have this number of values
  const bool read = values.empty() || H5Dread(handle_.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                              values.data()) >= 0;
  if (!read) fail(where_ + ": cannot be read", "the file may be damaged");
  if (!grows()) require_unchanged(found, where_);
  return values;
}

bool DataSet::holds_numbers() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  return is_number(type.id());
}

std::vector<bool> DataSet::flags(Index most) const {
  const Lock lock;
  const std::size_t count = size();
  std::vector<bool> flags;
  if (size() < 1 || size() > most) return flags;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  if (is_number(type.id())) {
    for (const double number : numbers()) flags.push_back(number != 0);
    return flags;
  }
  const std::size_t width = H5Tget_size(type.id());
  if (H5Tget_class(type.id()) != H5T_ENUM || width > sizeof(std::uint64_t)) return flags;
  std::vector<unsigned char> bytes(count * width);
  Storage found;
  hdf5::require_stored(handle_.id(), where_, origin_ ? *origin_ : Origin{}, found);
  if (H5Dread(handle_.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    fail(where_ + ": cannot be read", "the file may be damaged");
  for (std::size_t k = 0; k < count; ++k) {
    const auto first = bytes.begin() + k * width;
    flags.push_back(std::any_of(first, first + width, std::identity{}));
  }
  return flags;
}

std::optional<bool> DataSet::flag() const {
  const std::vector<bool> one = flags(1);
  return one.empty() ? std::nullopt : std::optional<bool>(one.front());
}

std::optional<std::string> DataSet::text() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  return first_text(type.id(), space.id(), [this](hid_t memory, void* out) {
    return H5Dread(handle_.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

std::string DataSet::stored_type() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  const bool real = H5Tget_class(type.id()) == H5T_FLOAT, natural = H5Tget_sign(type.id()) == H5T_SGN_NONE;
  return (real ? "float" : natural ? "uint" : "int") + std::to_string(8 * H5Tget_size(type.id()));
}

double DataSet::stored_bytes() const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  return 1.0 * size() * H5Tget_size(type.id());
}

std::vector<std::string> DataSet::texts(Index most) const {
  const Lock lock;
  const Handle type(H5Dget_type(handle_.id()), H5Tclose);
  const Handle space(H5Dget_space(handle_.id()), H5Sclose);
  return texts_in(type.id(), space.id(), most, [this](hid_t memory, void* out) {
    return H5Dread(handle_.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

std::optional<std::string> DataSet::text(const std::string& attribute) const {
  return text_of(handle_.id(), attribute);
}

std::optional<double> DataSet::number(const std::string& attribute) const {
  return number_of(handle_.id(), attribute);
}

std::vector<std::string> texts_of(std::int64_t object, const std::string& attribute) {
  const Lock lock;
  if (H5Aexists(object, attribute.c_str()) <= 0) return {};
  const Handle open(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!open.valid()) return {};
  const Handle type(H5Aget_type(open.id()), H5Tclose);
  const Handle space(H5Aget_space(open.id()), H5Sclose);
  return texts_in(type.id(), space.id(), most_texts,
                  [&open](hid_t memory, void* out) { return H5Aread(open.id(), memory, out); });
}

std::optional<std::string> text_of(std::int64_t object, const std::string& attribute) {
  const std::vector<std::string> all = texts_of(object, attribute);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::optional<double> number_of(std::int64_t object, const std::string& attribute) {
  const Lock lock;
  if (H5Aexists(object, attribute.c_str()) <= 0) return std::nullopt;
  const Handle open(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(open.id()), H5Tclose);
  const Handle space(H5Aget_space(open.id()), H5Sclose);
  double value = 0;
  const bool one = open.valid() && is_number(type.id()) && H5Sget_simple_extent_npoints(space.id()) == 1;
  if (!one || H5Aread(open.id(), H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
  return value;
}

}  // namespace tandem::io::hdf5
