#include "hdf5_direct.hpp"

#include <hdf5.h>

#include <algorithm>
#include <bit>

#include "../../core/parallel.hpp"

namespace tandem::io::hdf5 {

namespace {

constexpr int most_files = 64;  // files that are open during one reading

/// A data set in one piece, or in the pieces that raw files hold.
class Contiguous : public Direct {
 public:
  Contiguous(const NumberForm& form, std::string where, std::vector<Index> shape, const Storage& storage)
      : Direct(form.type),
        form_(form),
        where_(std::move(where)),
        shape_(std::move(shape)),
        extents_(storage.extents) {
    for (const FileStamp& file : storage.files) paths_.push_back(file.path);
  }

  void read(std::span<const Range> part, const BoxPlace& to, std::byte* out) const override {
    std::vector<Index> first, extents;
    for (const Range& range : part) first.push_back(range.first), extents.push_back(range.size());
    std::vector<InputFile> files;
    for (const std::filesystem::path& path : paths_) files.emplace_back(path, where_);
    read_lines({files, extents_}, form_, Lines(extents, {shape_, first}, to), out);
  }

 private:
  NumberForm form_;
  std::string where_;
  std::vector<Index> shape_;
  std::vector<Extent> extents_;
  std::vector<std::filesystem::path> paths_;
};

/// The form of the numbers of a type; empty if processors do not have exactly this type.
std::optional<NumberForm> form_of(hid_t type) {
  struct Row {
    hid_t little, big;
    NumberKind kind;
    Index bytes;
  };
  const Handle half = float16_type();
  for (const Row& row : {Row{half.id(), half.id(), NumberKind::real, 2},
                         Row{H5T_STD_U8LE, H5T_STD_U8BE, NumberKind::natural, 1},
                         Row{H5T_STD_U16LE, H5T_STD_U16BE, NumberKind::natural, 2},
                         Row{H5T_STD_U32LE, H5T_STD_U32BE, NumberKind::natural, 4},
                         Row{H5T_STD_U64LE, H5T_STD_U64BE, NumberKind::natural, 8},
                         Row{H5T_STD_I8LE, H5T_STD_I8BE, NumberKind::integer, 1},
                         Row{H5T_STD_I16LE, H5T_STD_I16BE, NumberKind::integer, 2},
                         Row{H5T_STD_I32LE, H5T_STD_I32BE, NumberKind::integer, 4},
                         Row{H5T_STD_I64LE, H5T_STD_I64BE, NumberKind::integer, 8},
                         Row{H5T_IEEE_F32LE, H5T_IEEE_F32BE, NumberKind::real, 4},
                         Row{H5T_IEEE_F64LE, H5T_IEEE_F64BE, NumberKind::real, 8}}) {
    const bool little = H5Tequal(type, row.little) > 0;
    if (little || H5Tequal(type, row.big) > 0)
      return number_form(row.kind, row.bytes, little != (std::endian::native == std::endian::little));
  }
  return std::nullopt;
}

std::vector<Index> shape_of(hid_t set) {
  const Handle space(H5Dget_space(set), H5Sclose);
  std::vector<hsize_t> extents(std::max(0, H5Sget_simple_extent_ndims(space.id())));
  H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

}  // namespace

std::size_t Direct::decoded_bytes() const {
  return piece_bytes() * std::min<Index>(packed_pieces(), thread_count());
}

std::unique_ptr<const Direct> direct(std::int64_t set, const std::string& where, const Storage& storage) {
  const Lock lock;
  const Handle plan(H5Dget_create_plist(set), H5Pclose), type(H5Dget_type(set), H5Tclose);
  const std::optional<NumberForm> form = form_of(type.id());
  if (!form) return nullptr;
  switch (H5Pget_layout(plan.id())) {
    case H5D_CONTIGUOUS:
      if (H5Pget_external_count(plan.id()) >= most_files) return nullptr;
      return std::make_unique<Contiguous>(*form, where, shape_of(set), storage);
    case H5D_CHUNKED:
      if (!are_plain_chunks(set, plan.id())) return nullptr;
      return direct_chunks(set, where, *form, shape_of(set), storage.files.front());
    case H5D_VIRTUAL:
      return direct_boxes(form->type, storage.boxes);
    default:
      return nullptr;
  }
}

}  // namespace tandem::io::hdf5
