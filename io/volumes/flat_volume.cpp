#include "flat_volume.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <utility>

#include "../../core/error.hpp"
#include "../files/plain_file.hpp"
#include "slab_writer.hpp"

namespace tandem::io {

namespace {

static_assert(std::endian::native == std::endian::little, "voxels are written as they are in memory");

constexpr Index room_for_tail = 1 << 20;  // bytes; a BigTIFF of 2000 slices needs some 400 kB

class FlatVolume final : public SlabWriter {
 public:
  FlatVolume(Beginning beginning, const Creation& c, FlatText head, FlatText tail)
      : SlabWriter(c.path.string(), c.shape, c.format, beginning.ranks),
        output_(std::move(beginning.output)),
        recipe_(c.recipe),
        head_(head),
        tail_(tail),
        head_bytes_(head({c.shape, c.format, c.recipe}).size()) {
    JournalText& text = beginning.text;
    if (!text.done.empty() && output_.has(output_.name())) {
      file_.emplace(output_.open(output_.name()));
      text.done = verified(text.done);
    } else if (ranks().is_first()) {
      text.done.clear();
      output_.discard(output_.name());
      file_.emplace(output_.create(output_.name()));
      file_->require_space(head_bytes_ + room_for_tail + bytes());
    }
    adopt(text);
    if (!ranks().is_first()) file_.emplace(output_.open(output_.name()));
    journal_.emplace(output_, std::move(text), [this](const std::vector<DoneSlice>&) { file_->sync(); });
    use(*journal_);
  }

 private:
  Index offset_of(const DoneSlice& slice) const { return head_bytes_ + slice.slice * slice_bytes(); }

  void write_slice(DoneSlice& slice, const void* stored) override {
    file_->write(offset_of(slice), stored, slice_bytes());
    file_->begin_sync(offset_of(slice), slice_bytes());
  }

  std::vector<std::byte> stored(const DoneSlice& slice) override {
    std::vector<std::byte> bytes(slice_bytes());
    if (!file_->read(offset_of(slice), bytes.data(), bytes.size())) return {};
    return bytes;
  }

  void complete(const std::string&) override {
    FlatFacts known{shape(), format(), recipe_};
    for (Index k = 0; k < shape()[0]; ++k) known.checksums.push_back(slice(k).checksum);
    const std::string head = head_(known), tail = tail_ != nullptr ? tail_(known) : "";
    require<SpaceError>(std::ssize(head) == head_bytes_, output_.target().string(), ": its head has ",
                        head.size(), " bytes, not ", head_bytes_);
    file_->write(0, head.data(), head.size());
    file_->write(head_bytes_ + shape()[0] * slice_bytes(), tail.data(), tail.size());
    output_.publish();
  }

  Output output_;
  std::string recipe_;
  FlatText head_, tail_;
  Index head_bytes_;  ///< bytes from the start of the file to the voxels
  std::optional<PlainFile> file_;
  std::optional<Journal> journal_;  // the last member: its thread uses the others
};

}  // namespace

std::unique_ptr<VolumeWriter> create_flat_volume(const Creation& c, FlatText head, FlatText tail) {
  return std::make_unique<FlatVolume>(begin(c.path, Content::volume, c.replace, c.recipe, c.continuation), c,
                                      head, tail);
}

std::string fixed_width(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.9e", value);
  return text.data();
}

}  // namespace tandem::io
