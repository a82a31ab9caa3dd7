#include <algorithm>

#include "../core/error.hpp"
#include "../core/version.hpp"
#include "checksum.hpp"
#include "hdf5.hpp"
#include "plain_file.hpp"
#include "slab_writer.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

constexpr Index max_chunk_bytes = Index{1} << 31;  // HDF5 counts them in 32 bits

/// HDF5 makes the file, marked incomplete, with room for all voxels, and closes it: whatever ends the program
/// leaves a readable file. The voxels are then put in their places, and HDF5 adds the report.
class Hdf5Volume : public SlabWriter {
 public:
  Hdf5Volume(Output output, Shape n, const VolumeFormat& form, const std::string& recipe)
      : SlabWriter(output.target().string(), n, form),
        output_(std::move(output)),
        file_(output_.create(output_.name())),
        checksums_(static_cast<std::size_t>(n[0])) {
    const Index line = n[2] * bytes_of(number_type(form.type));
    const Shape chunk{1, std::clamp<Index>(max_chunk_bytes / line, 1, n[1]), n[2]};
    chunk_bytes_ = chunk[1] * line;
    file_.require_space(bytes() + static_cast<double>(n[0] * 256 + room_for_text) +
                        static_cast<double>(recipe.size()));
    hdf5::File file = hdf5::File::create(file_);
    {
      hdf5::DataSet data = file.create("/exchange/data", number_type(form.type), n, chunk);
      describe(data, form);
      offsets_ = data.offsets();
      hdf5::DataSet sums = file.create(checksums_path, NumberType::uint32, std::vector<Index>{n[0]}, {});
      sums.set("algorithm", "CRC-32 of each slice as it is stored");
      checksums_at_ = sums.offsets().front();
    }
    file.write_text("/process/tandem/version", TANDEM_VERSION);
    file.write_text("/process/tandem/recipe", recipe);
    if (form.place)
      for (const auto& [name, numbers] : numbers_of(*form.place))
        file.write_numbers("/process/tandem/" + name, numbers,
                           name == "pitch" || name == "centre" ? form.place->unit_of_length() : "");
    file.close();
  }

 private:
  static constexpr Index room_for_text = 1 << 20;  // bytes; measured: a volume without voxels has 10 kB

  static void describe(hdf5::DataSet& data, const VolumeFormat& form) {
    data.set("axes", "z:y:x");
    data.set("description", "ReconData");
    data.set("units", form.unit());
    data.set_flag("complete", false);
    if (!is_integer(form.type)) return;
    data.set("min", form.min);
    data.set("max", form.max);
  }

  void write_slice(Index slice, const void* stored) override {
    checksums_[static_cast<std::size_t>(slice)] = checksum(stored, static_cast<std::size_t>(slice_bytes()));
    const Index chunks = (slice_bytes() + chunk_bytes_ - 1) / chunk_bytes_;
    for (Index k = 0; k < chunks; ++k) {
      const Index bytes = std::min(chunk_bytes_, slice_bytes() - k * chunk_bytes_);
      const Index offset = offsets_[static_cast<std::size_t>(slice * chunks + k)];
      file_.write(offset, static_cast<const char*>(stored) + k * chunk_bytes_,
                  static_cast<std::size_t>(bytes));
      file_.begin_sync(offset, bytes);
    }
  }

  void complete(const std::string& report_json) override {
    file_.require_room(room_for_text + static_cast<Index>(report_json.size()));
    file_.write(checksums_at_, checksums_.data(), checksums_.size() * sizeof checksums_[0]);
    hdf5::File file = hdf5::File::modify(file_);
    file.write_text("/process/tandem/report", report_json);
    file.data_set("/exchange/data").set_flag("complete", true);
    file.close();
    output_.publish();
  }

  Output output_;
  PlainFile file_;
  Index chunk_bytes_ = 0;
  std::vector<Index> offsets_;
  Index checksums_at_ = 0;  // in the file
  std::vector<std::uint32_t> checksums_;
};

}  // namespace

std::unique_ptr<VolumeWriter> create_hdf5_volume(Output output, Shape shape, const VolumeFormat& format,
                                                 const std::string& recipe_json) {
  return std::make_unique<Hdf5Volume>(std::move(output), shape, format, recipe_json);
}

}  // namespace tandem::io
