#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "tandem/core/error.hpp"
#include "tandem/io/hdf5.hpp"
#include "tandem/io/part_file.hpp"
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
                       ": slices ", slices.first, ":", slices.last, " came; ", next_, ":", shape_[0], " are due");
    const Index slice = shape_[1] * shape_[2];
    for (; next_ < slices.last; ++next_, data += slice) {
      if (format_.type == VoxelType::float32)
        write_slice(next_, data);
      else
        write_slice(next_, quantised(format_, data, slice).data());
    }
  }

  void finish(const std::string& report_json) final {
    require<FileError>(next_ == shape_[0], name_, ": has ", next_, " of ", shape_[0], " slices; it is not finished");
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

class Hdf5Volume : public SlabWriter {
 public:
  Hdf5Volume(const std::filesystem::path& path, Shape n, const VolumeFormat& form, const std::string& recipe)
      : SlabWriter(path.string(), n, form),
        part_(path),
        file_(hdf5::File::create(part_.path())),
        data_(file_.create("/exchange/data", pixel_type(form.type), n, chunk(n, form))) {
    data_->set("axes", "z:y:x");
    data_->set("description", "ReconData");
    data_->set("units", form.unit);
    data_->set_flag("complete", false);
    if (form.type != VoxelType::float32) {
      data_->set("min", form.min);
      data_->set("max", form.max);
    }
    file_.write_text("/process/tandem/version", TANDEM_VERSION);
    file_.write_text("/process/tandem/recipe", recipe);
    if (form.pitch_mm) file_.write_number("/process/tandem/pitch", *form.pitch_mm, "mm");
  }

 private:
  static Shape chunk(Shape n, const VolumeFormat& form) {
    const Index line = n[2] * static_cast<Index>(bytes_of(pixel_type(form.type)));
    return {1, std::clamp<Index>(max_chunk_bytes / line, 1, n[1]), n[2]};
  }

  void write_slice(Index slice, const void* stored) override {
    const std::array<Range, 3> part{{{slice, slice + 1}, {0, shape()[1]}, {0, shape()[2]}}};
    data_->write(pixel_type(format().type), part, stored);
  }

  void complete(const std::string& report_json) override {
    file_.write_text("/process/tandem/report", report_json);
    data_->set_flag("complete", true);
    data_.reset();
    file_.close();
    part_.finish();
  }

  PartFile part_;  // first, so that it is removed after the file is closed
  hdf5::File file_;
  std::optional<hdf5::DataSet> data_;
};

class TiffVolume : public SlabWriter {
 public:
  TiffVolume(const std::filesystem::path& path, Shape n, const VolumeFormat& form, const std::string& recipe)
      : SlabWriter(path.string(), n, form), path_(path) {
    std::ostringstream text;
    text << "tandem " << TANDEM_VERSION << "\nunit: " << form.unit << '\n';
    if (form.pitch_mm) text << "pitch_mm: " << *form.pitch_mm << '\n';
    if (form.type != VoxelType::float32) text << "min: " << form.min << "\nmax: " << form.max << '\n';
    text << "recipe: " << recipe << '\n';
    description_ = text.str();
    PartFile(slice_path(0));  // complains of a missing folder now, not after the first slab
  }

 private:
  std::filesystem::path slice_path(Index slice) const {
    std::array<char, 24> number{};
    std::snprintf(number.data(), number.size(), "_%05lld", static_cast<long long>(slice));
    return path_.parent_path() / (path_.stem().string() + number.data() + path_.extension().string());
  }

  void write_slice(Index slice, const void* stored) override {
    parts_.emplace_back(slice_path(slice));
    write_tiff(parts_.back().path(), pixel_type(format().type), shape()[1], shape()[2], stored, description_);
  }

  void complete(const std::string&) override {
    for (PartFile& part : parts_) part.finish();
  }

  std::filesystem::path path_;
  std::string description_;
  std::vector<PartFile> parts_;
};

}  // namespace

std::unique_ptr<VolumeWriter> create_hdf5_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json) {
  return std::make_unique<Hdf5Volume>(path, shape, format, recipe_json);
}

std::unique_ptr<VolumeWriter> create_tiff_volume(const std::filesystem::path& path, Shape shape,
                                                 const VolumeFormat& format, const std::string& recipe_json) {
  return std::make_unique<TiffVolume>(path, shape, format, recipe_json);
}

}  // namespace tandem::io
