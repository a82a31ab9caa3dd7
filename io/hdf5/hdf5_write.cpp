#include <hdf5.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../files/plain_file.hpp"
#include "chunk_places.hpp"
#include "hdf5.hpp"
#include "hdf5_detail.hpp"
#include "packing.hpp"

namespace tandem::io::hdf5 {

namespace {

static_assert(std::endian::native == std::endian::little);

/// The type on the disk. It is little endian, as all machines that we know, since PlainFile writes memory as
/// it is.
Handle disk_type(NumberType type) {
  if (type == NumberType::float16) return float16_type();
  const hid_t types[]{H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5I_INVALID_HID, H5T_IEEE_F32LE};
  return {H5Tcopy(row_of(types, type)), H5Tclose};
}

Handle text_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(length, 1));
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

void set_attribute(hid_t object, const std::string& where, const std::string& name, hid_t type, hid_t space,
                   const void* value) {
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require<FileError>(attribute.valid() && H5Awrite(attribute.id(), type, value) >= 0, where, ": attribute ",
                     name, " cannot be written: ", reason());
}

void set_attribute(hid_t object, const std::string& where, const std::string& name, hid_t type,
                   const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  set_attribute(object, where, name, type, space.id(), value);
}

Handle make(hid_t file, const std::string& where, const std::string& path, hid_t type, hid_t space,
            hid_t plan) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  Handle made(H5Dcreate2(file, path.c_str(), type, space, links.id(), plan, H5P_DEFAULT), H5Dclose);
  require<FileError>(made.valid(), where, ": cannot be made: ", reason());
  return made;
}

void write_doubles(hid_t file, const std::string& where, const std::string& path, hid_t space,
                   const double* values, const std::string& units) {
  Handle made = make(file, where, path, H5T_IEEE_F64LE, space, H5P_DEFAULT);
  const bool written = H5Dwrite(made.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  require<FileError>(written, where, ": cannot be written: ", reason());
  if (!units.empty()) DataSet(std::move(made), where).set("units", units);
}

}  // namespace

File File::create(const PlainFile& made) {
  require_memory();
  const Lock lock;
  const Handle access = noting_access();
  Handle file(H5Fcreate(made.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) fail(made.name() + ": cannot be made", "give another name");
  return File(std::move(file), made.name());
}

File File::modify(const PlainFile& made) {
  require_memory();
  const Lock lock;
  Handle file(H5Fopen(made.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  require<FileError>(file.valid(), made.name(), ": cannot be opened again: ", reason());
  return File(std::move(file), made.name());
}

Handle float16_type() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.id(), 15, 10, 5, 0, 10);  // sign, exponent and its bits, fraction and its bits
  H5Tset_size(type.id(), 2);
  H5Tset_ebias(type.id(), 15);
  return type;
}

DataSet File::create_packed(const std::string& path, NumberType type, std::span<const Index> shape,
                            std::span<const Index> chunk, std::span<const Hdf5Filter> filters) {
  const Lock lock;
  const std::string where = name_ + ": " + path;
  const std::vector<hsize_t> extents(shape.begin(), shape.end()), pieces(chunk.begin(), chunk.end());
  const Handle space(H5Screate_simple(rank_of(extents), extents.data(), nullptr), H5Sclose);
  const Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(plan.id(), H5D_FILL_TIME_NEVER);  // every element is written, once
  H5Pset_chunk(plan.id(), rank_of(pieces), pieces.data());
  for (const Hdf5Filter& filter : filters)  // optional, since libhdf5 itself does not pack
    H5Pset_filter(plan.id(), filter.id, H5Z_FLAG_OPTIONAL, filter.settings.size(), filter.settings.data());
  return DataSet(make(handle_.id(), where, path, disk_type(type).id(), space.id(), plan.id()), where);
}

DataSet File::create_virtual(const std::string& path, NumberType type, Shape shape,
                             std::span<const VirtualPart> parts) {
  const Lock lock;
  const std::string where = name_ + ": " + path;
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(3, extents.data(), nullptr), H5Sclose);
  const Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool floats = type == NumberType::float16 || type == NumberType::float32;
  const float fill = floats ? std::nanf("") : 0;
  H5Pset_fill_value(plan.id(), H5T_NATIVE_FLOAT, &fill);
  for (const VirtualPart& part : parts) {
    std::vector<hsize_t> count = extents;
    count[0] = part.slices.size();
    const std::vector<hsize_t> first{static_cast<hsize_t>(part.slices.first), 0, 0};
    const Handle source(H5Screate_simple(3, count.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    const bool mapped =
        H5Pset_virtual(plan.id(), space.id(), part.file.c_str(), part.path.c_str(), source.id()) >= 0;
    require<FileError>(mapped, where, ": cannot take ", part.file, ": ", reason());
  }
  H5Sselect_all(space.id());
  return DataSet(make(handle_.id(), where, path, disk_type(type).id(), space.id(), plan.id()), where);
}

Index DataSet::write_chunk(std::span<const Index> corner, std::span<const std::byte> packed) {
  const Lock lock;
  const std::vector<hsize_t> at(corner.begin(), corner.end());
  const bool written =
      H5Dwrite_chunk(handle_.id(), H5P_DEFAULT, 0, at.data(), packed.size(), packed.data()) >= 0;
  require<FileError>(written, where_, ": a chunk cannot be written: ", reason());
  return last_written().offset;
}

Index File::end() const {
  const Lock lock;
  haddr_t end = 0;
  require<FileError>(H5Fget_eoa(handle_.id(), &end) >= 0, name_, ": has no end: ", reason());
  return end;
}

DataSet File::create(const std::string& path, NumberType type, std::span<const Index> shape) {
  const Lock lock;
  const std::string where = name_ + ": " + path;
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(rank_of(extents), extents.data(), nullptr), H5Sclose);
  const Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(plan.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(plan.id(), H5D_FILL_TIME_NEVER);  // every element is written, once
  return DataSet(make(handle_.id(), where, path, disk_type(type).id(), space.id(), plan.id()), where);
}

Index DataSet::offset() const {
  const Lock lock;
  const haddr_t offset = H5Dget_offset(handle_.id());
  require<FileError>(offset != HADDR_UNDEF, where_, ": its numbers do not follow one another: ", reason());
  return offset;
}

void DataSet::set(const std::string& attribute, const std::string& value) {
  const Lock lock;
  const Handle type = text_type(value.size());
  set_attribute(handle_.id(), where_, attribute, type.id(), value.c_str());
}

void DataSet::set(const std::string& attribute, double value) {
  const Lock lock;
  set_attribute(handle_.id(), where_, attribute, H5T_NATIVE_DOUBLE, &value);
}

void DataSet::set_flag(const std::string& attribute, bool value) {
  const Lock lock;
  const int number = value ? 1 : 0;
  set_attribute(handle_.id(), where_, attribute, H5T_NATIVE_INT, &number);
}

void File::link(const std::string& path, const std::string& target) {
  const Lock lock;
  const bool made =
      H5Lcreate_hard(handle_.id(), target.c_str(), H5L_SAME_LOC, path.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0;
  require<FileError>(made, name_, ": ", path, ": cannot be linked: ", reason());
}

void File::set(const std::string& object, const std::string& attribute, const std::string& value) {
  set(object, attribute, std::span(&value, 1));
}

/// Sets an attribute. One text is a scalar.
void File::set(const std::string& object, const std::string& attribute, std::span<const std::string> values) {
  const Lock lock;
  std::size_t length = 1;
  for (const std::string& value : values) length = std::max(length, value.size());
  std::string texts;
  for (std::string value : values) value.resize(length), texts += value;
  const hsize_t count = values.size();
  const Handle owner(H5Oopen(handle_.id(), object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle space(values.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr),
                     H5Sclose);
  set_attribute(owner.id(), name_ + ": " + object, attribute, text_type(length).id(), space.id(),
                texts.data());
}

void File::write_text(const std::string& path, const std::string& value) {
  const Lock lock;
  const std::string where = name_ + ": " + path;
  const Handle type = text_type(value.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle made = make(handle_.id(), where, path, type.id(), space.id(), H5P_DEFAULT);
  const bool written = H5Dwrite(made.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()) >= 0;
  require<FileError>(written, where, ": cannot be written: ", reason());
}

void File::write_number(const std::string& path, double value, const std::string& units) {
  const Lock lock;
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_doubles(handle_.id(), name_ + ": " + path, path, space.id(), &value, units);
}

void File::write_numbers(const std::string& path, std::span<const double> values, const std::string& units) {
  const Lock lock;
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  write_doubles(handle_.id(), name_ + ": " + path, path, space.id(), values.data(), units);
}

void File::write_lines(const std::string& path, std::span<const double> values, Index columns,
                       const std::string& units) {
  const Lock lock;
  const hsize_t line = columns;
  const std::array<hsize_t, 2> shape{values.size() / line, line};
  const Handle space(H5Screate_simple(2, shape.data(), nullptr), H5Sclose);
  write_doubles(handle_.id(), name_ + ": " + path, path, space.id(), values.data(), units);
}

void File::close() {
  const Lock lock;
  const bool flushed = !handle_.valid() || H5Fflush(handle_.id(), H5F_SCOPE_LOCAL) >= 0;
  require<FileError>(flushed, name_, ": the last bytes cannot be written: ", reason());
  require<FileError>(handle_.reset(), name_, ": cannot be closed: ", reason());
}

}  // namespace tandem::io::hdf5
