#include <algorithm>

#include "tandem/core/error.hpp"
#include "tandem/io/hdf5.hpp"
#include "tandem/io/part_file.hpp"
#include "tandem/io/plain_file.hpp"
#include "tandem/io/tiff.hpp"
#include "tandem/io/volume_format.hpp"
#include "tandem_version.hpp"

namespace tandem::io {

namespace {

constexpr Index max_chunk_bytes = Index{1} << 31;  // HDF5 counts them in 32 bits

/// Slabs come in order; the two formats differ in where a slab goes.
class SlabWriter : public VolumeWriter {
 public:
  SlabWriter(std::string name, Shape shape, const VolumeFormat& format)
      : name_(std::move(name)), shape_(shape), format_(format) {}

  void write(Range slices, const float* data) final {
    require<FileError>(slices.first == next_ && slices.first < slices.last && slices.last <= shape_[0], name_,
                       ": slices ", slices.first, ":", slices.last, " came; ", next_, ":", shape_[0],
                       " are due");
    const Index slice = shape_[1] * shape_[2];
    for (; next_ < slices.last; ++next_, data += slice) {
      if (format_.type == VoxelType::float32)
        write_slice(next_, data);
      else
        write_slice(next_, quantised(format_, data, slice).data());
    }
  }

  void finish(const std::string& report_json) final {
    require<FileError>(next_ == shape_[0], name_, ": has ", next_, " of ", shape_[0],
                       " slices; it is not finished");
    complete(report_json);
  }

 protected:
  virtual void write_slice(Index slice, const void* stored) = 0;
  virtual void complete(const std::string& report_json) = 0;
  const Shape& shape() const { return shape_; }
  const VolumeFormat& format() const { return format_; }

 private:
  std::string name_;
  Shape shape_;
  VolumeFormat format_;
  Index next_ = 0;
};

double bytes_in(Shape n, const VolumeFormat& form) {
  return static_cast<double>(bytes_of(pixel_type(form.type))) * static_cast<double>(n[0]) *
         static_cast<double>(n[1]) * static_cast<double>(n[2]);
}

/// HDF5 makes the file, marked incomplete, with room for all voxels, and closes it: whatever ends the program
/// leaves a readable file. The voxels are then put in their places, and HDF5 adds the report.
class Hdf5Volume : public SlabWriter {
 public:
  Hdf5Volume(const std::filesystem::path& path, Shape n, const VolumeFormat& form, const std::string& recipe)
      : SlabWriter(path.string(), n, form), part_(path) {
    const Index line = n[2] * static_cast<Index>(bytes_of(pixel_type(form.type)));
    const Shape chunk{1, std::clamp<Index>(max_chunk_bytes / line, 1, n[1]), n[2]};
    chunk_bytes_ = chunk[1] * line;
    slice_bytes_ = n[1] * line;
    make_room(part_.path(), bytes_in(n, form) + static_cast<double>(n[0] * 256 + room_for_text) +
                                static_cast<double>(recipe.size()));
    hdf5::File file = hdf5::File::create(part_.path());
    {
      hdf5::DataSet data = file.create("/exchange/data", pixel_type(form.type), n, chunk);
      describe(data, form);
      offsets_ = data.offsets();
    }
    file.write_text("/process/tandem/version", TANDEM_VERSION);
    file.write_text("/process/tandem/recipe", recipe);
    if (form.place)
      for (const auto& [name, numbers] : numbers_of(*form.place))
        file.write_numbers("/process/tandem/" + name, numbers,
                           name == "pitch" || name == "centre" ? form.place->unit_of_length() : "");
    file.close();
    voxels_.emplace(part_.path());
  }

 private:
  static constexpr Index room_for_text = 1 << 20;  // bytes; measured: a volume without voxels has 10 kB

  static void describe(hdf5::DataSet& data, const VolumeFormat& form) {
    data.set("axes", "z:y:x");
    data.set("description", "ReconData");
    data.set("units", form.unit());
    data.set_flag("complete", false);
    if (form.type == VoxelType::float32) return;
    data.set("min", form.min);
    data.set("max", form.max);
  }

  void write_slice(Index slice, const void* stored) override {
    const Index chunks = (slice_bytes_ + chunk_bytes_ - 1) / chunk_bytes_;
    for (Index k = 0; k < chunks; ++k) {
      const Index bytes = std::min(chunk_bytes_, slice_bytes_ - k * chunk_bytes_);
      voxels_->write(offsets_[static_cast<std::size_t>(slice * chunks + k)],
                     static_cast<const char*>(stored) + k * chunk_bytes_, static_cast<std::size_t>(bytes));
    }
  }

  void complete(const std::string& report_json) override {
    voxels_->require_room(room_for_text + static_cast<Index>(report_json.size()));
    voxels_->close();
    hdf5::File file = hdf5::File::modify(part_.path());
    file.write_text("/process/tandem/report", report_json);
    file.data_set("/exchange/data").set_flag("complete", true);
    file.close();
    part_.finish();
  }

  PartFile part_;
  Index chunk_bytes_ = 0, slice_bytes_ = 0;
  std::vector<Index> offsets_;
  std::optional<PlainFile> voxels_;
};

class TiffWriter : public SlabWriter {
 public:
  TiffWriter(const std::filesystem::path& path, Shape n, const VolumeFormat& form, const std::string& recipe)
      : SlabWriter(path.string(), n, form), path_(path), recipe_(recipe) {
    const PartFile first(
        slice_path(path_, 0));  // complains of a missing folder or a full disk now, not after hours
    make_room(first.path(), bytes_in(n, form));
  }

 private:
  void write_slice(Index slice, const void* stored) override {
    parts_.emplace_back(slice_path(path_, slice));
    write_tiff(parts_.back().path(), pixel_type(format().type), shape()[1], shape()[2], stored,
               slice_description(shape(), format(), slice, recipe_));
  }

  void complete(const std::string&) override {
    for (PartFile& part : parts_) part.finish();
    remove_slices_from(path_, shape()[0]);
  }

  std::filesystem::path path_;
  std::string recipe_;
  std::vector<PartFile> parts_;
};

}  // namespace

std::unique_ptr<VolumeWriter> create_hdf5_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json) {
  return std::make_unique<Hdf5Volume>(path, shape, format, recipe_json);
}

std::unique_ptr<VolumeWriter> create_tiff_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json) {
  return std::make_unique<TiffWriter>(path, shape, format, recipe_json);
}

}  // namespace tandem::io
