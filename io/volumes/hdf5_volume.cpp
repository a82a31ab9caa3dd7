// Writes HDF5 volumes. Many threads write the voxels, and libhdf5 writes all else.

#include <algorithm>
#include <mutex>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../core/version.hpp"
#include "../files/plain_file.hpp"
#include "../hdf5/hdf5.hpp"
#include "../hdf5/packing.hpp"
#include "nexus_entry.hpp"
#include "slab_writer.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

constexpr const char* report_path = "/process/tandem/report";
constexpr Index room_for_text = 1 << 20;  // bytes; measured: a volume without voxels has 30 kB

void describe(hdf5::DataSet& data, const VolumeFormat& form) {
  data.set("axes", "z:y:x");
  data.set("description", "ReconData");
  data.set("units", form.unit());
  data.set_flag("complete", false);
}

/// The common part of the two ways of storing voxels.
class Hdf5Volume : public SlabWriter {
 public:
  Hdf5Volume(Beginning& beginning, Shape n, const VolumeFormat& form)
      : SlabWriter(beginning.output.target().string(), n, form, beginning.ranks),
        output_(std::move(beginning.output)) {}

 protected:
  /// Makes everything except the voxels.
  void make_rest(hdf5::File& file, const std::string& recipe, const char* algorithm) {
    const VolumeFormat& form = format();
    {
      hdf5::DataSet sums = file.create(checksums_path, NumberType::uint32, std::vector<Index>{shape()[0]});
      sums.set("algorithm", algorithm);
      checksums_at_ = sums.offset();
    }
    file.write_text("/process/tandem/version", TANDEM_VERSION);
    file.write_text("/process/tandem/recipe", recipe);
    if (!form.made_by.empty()) file.write_text(made_by_path, form.made_by);
    add_nexus_entry(file, shape(), form);
    if (form.place)
      for (const auto& [name, numbers] : numbers_of(*form.place))
        file.write_numbers("/process/tandem/" + name, numbers,
                           name == "pitch" || name == "centre" ? form.place->unit_of_length() : "");
  }

  /// The bytes of the positions of voxels, and of what the file needs for them.
  Index room_for_axes() const { return 16 * (shape()[0] + shape()[1] + shape()[2]); }

  void write_checksums() {
    std::vector<std::uint32_t> sums;
    for (Index k = 0; k < shape()[0]; ++k) sums.push_back(slice(k).checksum);
    file_->write(checksums_at_, sums.data(), sums.size() * sizeof sums[0]);
  }

  void begin_journal(JournalText text) {
    journal_.emplace(output_, std::move(text), [this](const std::vector<DoneSlice>&) { file_->sync(); });
    use(*journal_);
  }

  void mark_complete(hdf5::File& file, const std::string& report_json) const {
    file.write_text(report_path, report_json);
    hdf5::DataSet data = file.data_set("/exchange/data");
    if (is_integer(format().type)) data.set("min", format().min), data.set("max", format().max);
    complete_nexus_entry(file, format());
    data.set_flag("complete", true);
  }

  bool has_our_shape(const hdf5::File& file) const {
    return file.data_set("/exchange/data").shape() == std::vector<Index>(shape().begin(), shape().end());
  }

  /// Reads the file before it gets its name, and requires its mark of completeness. @throws FileError
  void require_complete() const {
    const hdf5::File file = hdf5::File::open(file_->path());
    require<FileError>(has_our_shape(file) && file.data_set("/exchange/data").number("complete") == 1,
                       output_.target().string(), ": is not complete, although all was written; start again");
  }

  Output output_;
  std::optional<PlainFile> file_;
  Index checksums_at_ = 0;          // offset of the checksums in the file
  std::optional<Journal> journal_;  // the last member, since its thread uses the others
};

/// A volume without packing, whose slices follow one another: libhdf5 takes a time that grows as the square
/// of the number of chunks to tell where they lie. libhdf5 makes the file with room for all voxels, marks it
/// incomplete, and closes it, so that the file stays readable however the program ends. Then the voxels are
/// put in their places, and libhdf5 adds the report.
class PlainVolume : public Hdf5Volume {
 public:
  PlainVolume(Beginning beginning, Shape n, const VolumeFormat& form) : Hdf5Volume(beginning, n, form) {
    JournalText& text = beginning.text;
    const std::string name = output_.name();
    if (!text.done.empty() && output_.has(name)) {
      if (is_as_made(name)) {
        find_places(name);
        text.done = verified(text.done);
      } else {
        make_again(text);
      }
    } else if (ranks().is_first()) {
      text.done.clear();
      make(name, text.recipe);
    }
    adopt(text);
    if (!ranks().is_first()) find_places(name);
    begin_journal(std::move(text));
  }

 private:
  void make(const std::string& name, const std::string& recipe) {
    output_.discard(name);
    file_.emplace(output_.create(name));
    file_->require_space(bytes() + (shape()[0] * 4 + room_for_text + room_for_axes()) + recipe.size());
    hdf5::File file = hdf5::File::create(*file_);
    {
      hdf5::DataSet data = file.create("/exchange/data", number_type(format().type), shape());
      describe(data, format());
      voxels_at_ = data.offset();
    }
    make_rest(file, recipe, "CRC-32 of each slice as it is stored");
    file.close();
  }

  /// Whether a file is as it was made. It is not if the run was killed while libhdf5 completed it, or if it
  /// is another file.
  bool is_as_made(const std::string& name) {
    try {
      const PlainFile left = output_.open(name);
      const hdf5::File file = hdf5::File::open(left.path());
      return !file.has(report_path) && has_our_shape(file) && file.data_set("/exchange/data").offset() > 0 &&
             file.data_set(checksums_path).size() == shape()[0];
    } catch (const FileError&) {  // it is damaged
      return false;
    }
  }

  /// Makes the file again, since libhdf5 left it damaged. The new file has its voxels in the same places, so
  /// the written ones are found.
  void make_again(JournalText& text) {
    const std::string name = output_.name() + ".2";
    make(name, text.recipe);
    PlainFile made = std::move(*file_);
    file_.emplace(output_.open(output_.name()));
    text.done = verified(text.done);
    for (DoneSlice& slice : text.done) {
      const std::vector<std::byte> bytes = stored(slice);
      made.write(offset_of(slice), bytes.data(), bytes.size());
    }
    made.sync();
    file_.emplace(std::move(made));
    output_.rename(name, output_.name());
  }

  /// Finds the places of voxels in a file that a killed run left. libhdf5 had closed it before any voxel
  /// came.
  void find_places(const std::string& name) {
    file_.emplace(output_.open(name));
    const hdf5::File file = hdf5::File::open(file_->path());
    voxels_at_ = file.data_set("/exchange/data").offset();
    checksums_at_ = file.data_set(checksums_path).offset();
  }

  Index offset_of(const DoneSlice& slice) const { return voxels_at_ + slice.slice * slice_bytes(); }

  void write_slice(DoneSlice& slice, const void* stored) override {
    file_->write(offset_of(slice), stored, slice_bytes());
    file_->begin_sync(offset_of(slice), slice_bytes());
  }

  std::vector<std::byte> stored(const DoneSlice& slice) override {
    std::vector<std::byte> bytes(slice_bytes());
    if (!file_->read(offset_of(slice), bytes.data(), bytes.size())) return {};
    return bytes;
  }

  void complete(const std::string& report_json) override {
    file_->require_room(room_for_text + report_json.size());
    write_checksums();
    hdf5::File file = hdf5::File::modify(*file_);
    mark_complete(file, report_json);
    file.close();
    require_complete();
    output_.publish();
  }

  Index voxels_at_ = 0;  // offset of the first slice in the file
};

/// A volume with packing. Threads pack chunks at the same time. They hand their chunks to libhdf5 one after
/// the other, and libhdf5 finds the places. Before that, the space is taken on the disk, because libhdf5 must
/// not meet a full disk. A kill can damage the index of the chunks. So a run that goes on copies the chunks
/// that the journal lists to a new file.
class PackedVolume : public Hdf5Volume {
 public:
  PackedVolume(Beginning beginning, Shape n, const VolumeFormat& form) : Hdf5Volume(beginning, n, form) {
    const Index line = n[2] * bytes_of(number_type(form.type));
    chunk_ = {1, std::clamp<Index>(max_chunk_bytes / line, 1, n[1]), n[2]};
    chunk_bytes_ = chunk_[1] * line;
    JournalText& text = beginning.text;
    const std::string second = output_.name() + ".2", left = text.is_second ? second : output_.name();
    if (!text.done.empty() && output_.has(left)) {
      source_.emplace(output_.open(left));
      text.done = verified(text.done);
    } else {
      text.done.clear();
    }
    name_ = source_ && !text.is_second ? second : output_.name();
    output_.discard(name_);
    file_.emplace(output_.create(name_));
    make(text.recipe);
    for (DoneSlice& slice : text.done) copy(slice);
    adopt(text);
    file_->sync();
    text.is_second = name_ == second;
    begin_journal(std::move(text));
    if (source_) output_.discard(left);
    source_.reset();
  }

 private:
  static constexpr Index max_chunk_bytes = Index{1} << 30;  // Blosc takes less than 2^31
  static constexpr Index most_at_once = 64 << 20;           // bytes that are taken on the disk
  static constexpr Index room_for_index = 1 << 20;          // bytes that a chunk may add to the index

  void make(const std::string& recipe) {
    h5_.emplace(hdf5::File::create(*file_));
    reserve(room_for_text + room_for_axes() + recipe.size() + shape()[0] * 4);
    const NumberType type = number_type(format().type);
    data_.emplace(h5_->create_packed("/exchange/data", type, shape(), chunk_,
                                     filters_of(format().compression, bytes_of(type), chunk_bytes_)));
    describe(*data_, format());
    make_rest(*h5_, recipe, "CRC-32 of each slice as it is stored, before compression");
  }

  Index chunks_of_slice() const { return (slice_bytes() + chunk_bytes_ - 1) / chunk_bytes_; }

  /// The bytes of chunk k of a slice; the last one may be shorter than the others.
  std::span<const std::byte> chunk_of(const void* stored, Index k) const {
    const Index first = k * chunk_bytes_;
    return {static_cast<const std::byte*>(stored) + first,
            static_cast<std::size_t>(std::min(chunk_bytes_, slice_bytes() - first))};
  }

  void write_slice(DoneSlice& slice, const void* stored) override {
    const Index chunks = chunks_of_slice();
    for (Index k = 0; k < chunks; ++k) {
      const std::vector<std::byte> chunk = packed_chunk(chunk_of(stored, k));
      slice.offset = add(slice.slice, k, chunk);
      slice.bytes = chunks == 1 ? std::ssize(chunk) : 0;  // several chunks are made again
    }
  }

  Index add(Index slice, Index k, std::span<const std::byte> chunk) {
    const std::lock_guard lock(mutex_);
    reserve(chunk.size() + room_for_index);
    return data_->write_chunk(Shape{slice, k * chunk_[1], 0}, chunk);
  }

  std::vector<std::byte> packed_bytes(const DoneSlice& slice) const {
    const PlainFile& from = source_ ? *source_ : *file_;
    if (slice.bytes > from.size()) return {};
    std::vector<std::byte> bytes(slice.bytes);
    if (!from.read(slice.offset, bytes.data(), bytes.size())) return {};
    return bytes;
  }

  void copy(DoneSlice& slice) { slice.offset = add(slice.slice, 0, packed_bytes(slice)); }

  std::vector<std::byte> stored(const DoneSlice& slice) override {
    const std::vector<std::byte> bytes = packed_bytes(slice);
    return unpacked(format().compression, bytes_of(number_type(format().type)), bytes, slice_bytes());
  }

  /// A packed chunk. In HDF5 every chunk has the same size before it is packed.
  std::vector<std::byte> packed_chunk(std::span<const std::byte> bytes) const {
    const Index number_bytes = bytes_of(number_type(format().type));
    if (std::ssize(bytes) == chunk_bytes_) return packed(format().compression, number_bytes, bytes);
    std::vector<std::byte> whole(chunk_bytes_);
    std::copy(bytes.begin(), bytes.end(), whole.begin());
    return packed(format().compression, number_bytes, whole);
  }

  /// Takes space on the disk for what libhdf5 adds next.
  void reserve(Index more) {
    const Index needed = h5_->end() + more;
    if (needed <= taken_) return;
    const Index last = needed + std::min(most_at_once, floor_index(bytes()));
    file_->reserve(taken_, last);
    taken_ = last;
  }

  void complete(const std::string& report_json) override {
    reserve(room_for_text + report_json.size());
    write_checksums();
    data_.reset();
    mark_complete(*h5_, report_json);
    const Index end = h5_->end();
    h5_->close();
    file_->shorten(end);
    require_complete();
    output_.publish({{name_, output_.name()}}, output_.target().string());
  }

  Shape chunk_{};  // whole lines, and at most `max_chunk_bytes` if a line is not longer
  Index chunk_bytes_ = 0;
  std::string name_;                 // name of the file in the folder
  std::optional<PlainFile> source_;  // file of a killed run, as long as its slices are copied
  std::optional<hdf5::File> h5_;
  std::optional<hdf5::DataSet> data_;
  std::mutex mutex_;
  Index taken_ = 0;  // bytes of the disk
};

}  // namespace

std::unique_ptr<VolumeWriter> create_hdf5_volume(const Creation& c) {
  require<FileError>(c.continuation.ranks.is_alone() || c.format.compression == Compression::none,
                     c.path.string(),
                     ": several ranks do not write one packed HDF5 file; leave out " +
                         spelled("compression") + ", or give a name ending in .zarr");
  Beginning beginning = begin(c.path, Content::volume, c.replace, c.recipe, c.continuation);
  if (c.format.compression == Compression::none)
    return std::make_unique<PlainVolume>(std::move(beginning), c.shape, c.format);
  return std::make_unique<PackedVolume>(std::move(beginning), c.shape, c.format);
}

}  // namespace tandem::io
