// Data sets in chunks. Chunks are found once, and then read and unpacked outside the lock of libhdf5.

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/parallel.hpp"
#include "chunk_filters.hpp"
#include "chunk_places.hpp"
#include "hdf5_direct.hpp"

namespace tandem::io::hdf5 {

namespace {

constexpr Index task_bytes = 1 << 20;  // bytes of small chunks that one thread takes at once
constexpr unsigned usual_edges = 0;    // chunks at the edge of the data set are packed like the others

struct Filter {
  const ChunkFilter* known;
  std::vector<unsigned> settings;
};

/// The filters in the order in which they packed. Empty if one of them is not known.
std::optional<std::vector<Filter>> filters_of(hid_t plan) {
  std::vector<Filter> found;
  for (int i = 0; i < H5Pget_nfilters(plan); ++i) {
    std::array<unsigned, 32> settings{};
    std::size_t count = settings.size();
    unsigned flags = 0, unused = 0;
    const H5Z_filter_t number = H5Pget_filter2(plan, i, &flags, &count, settings.data(), 0, nullptr, &unused);
    const ChunkFilter* known = chunk_filter(number);
    if (!known || count > settings.size()) return std::nullopt;
    found.push_back({known, {settings.begin(), settings.begin() + count}});
  }
  return found;
}

/// Memory that is used again and not cleared.
class Buffer {
 public:
  std::span<std::byte> room(std::size_t bytes) {
    if (bytes > bytes_) memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes), bytes_ = bytes;
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

struct Chunk {
  std::vector<Index> corner;  // first element in the data set
  Index offset = 0, bytes = 0;
  unsigned skipped = 0;  // bit k: filter k was left out
};

/// A data set in chunks, and how these were packed.
struct Packed {
  hid_t set;
  std::string where;
  NumberForm form;
  std::vector<Index> shape, chunk;  // extents of the data set and of a chunk
  std::vector<Filter> filters;
  std::filesystem::path path;
  Index chunk_bytes;  // bytes of an unpacked chunk

  /// The most bytes of a chunk during unpacking. Filters make what they cannot pack a little longer.
  std::size_t room() const { return chunk_bytes + chunk_bytes / 8 + 65536; }

  bool is_packed(const Chunk& one) const {
    for (std::size_t k = 0; k < filters.size(); ++k)
      if (!(one.skipped >> k & 1)) return true;
    return false;
  }

  std::string name_of(const Chunk& one) const {
    std::string text = where + ": chunk at (";
    for (const Index n : one.corner) text += std::to_string(n) + ", ";
    return text.substr(0, text.size() - 2) + ")";
  }
};

/// The places of the chunks in the file.
class ChunkIndex {
 public:
  explicit ChunkIndex(const Packed& of) : of_(of) {}

  /// The chunks that a part meets, in C order.
  std::vector<Chunk> chunks_of(std::span<const Range> part) const {
    std::vector<Chunk> found;
    const std::lock_guard guard(mutex_);
    Finding finding;
    std::vector<Index> first;
    for (std::size_t axis = 0; axis < part.size(); ++axis) {
      if (part[axis].size() <= 0) return found;
      first.push_back(part[axis].first / of_.chunk[axis] * of_.chunk[axis]);
    }
    for (std::vector<Index> at = first; at[0] < part[0].last;) {
      found.push_back(chunk_at(at, finding));
      std::size_t axis = part.size() - 1;  // goes to the next chunk, along the last axis first
      for (at[axis] += of_.chunk[axis]; axis > 0 && at[axis] >= part[axis].last; at[axis] += of_.chunk[axis])
        at[axis] = first[axis], --axis;
    }
    return found;
  }

 private:
  /// What finds chunks that are not known yet: made for the first of them, and holds the lock from then on.
  struct Finding {
    std::optional<Lock> lock;
    std::optional<ChunkFinder> finder;
  };

  Chunk chunk_at(const std::vector<Index>& corner, Finding& finding) const {
    Index number = 0;
    for (std::size_t axis = 0; axis < corner.size(); ++axis)
      number = number * ceil_div(of_.shape[axis], of_.chunk[axis]) + corner[axis] / of_.chunk[axis];
    const auto known = chunks_.find(number);
    if (known != chunks_.end()) return known->second;
    if (!finding.finder) finding.lock.emplace(), finding.finder.emplace(of_.set, of_.path, of_.where);
    Chunk one{corner};
    const std::optional<ChunkPlace> place = finding.finder->find(corner);
    if (!place) fail(of_.name_of(one) + " cannot be found", "the file may be damaged");
    one.offset = place->offset, one.bytes = place->bytes, one.skipped = place->skipped;
    const Index most = of_.is_packed(one) ? static_cast<Index>(of_.room()) : of_.chunk_bytes;
    const Index fewest = of_.is_packed(one) ? 0 : of_.chunk_bytes;
    require<FileError>(fewest <= one.bytes && one.bytes <= most, of_.name_of(one), " has ", one.bytes,
                       " bytes; ", of_.chunk_bytes, " bytes are due, the file is damaged");
    return chunks_.emplace(number, std::move(one)).first->second;
  }

  const Packed& of_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<Index, Chunk> chunks_;  // known chunks, by their number in C order
};

class Chunked : public Direct {
 public:
  explicit Chunked(Packed of) : Direct(of.form.type), of_(std::move(of)) {}

  std::size_t piece_bytes() const override { return of_.filters.empty() ? 0 : 2 * of_.room(); }

  Index packed_pieces() const override {
    Index chunks = of_.filters.empty() ? 0 : 1;
    for (std::size_t axis = 0; axis < of_.shape.size(); ++axis)
      chunks *= ceil_div(of_.shape[axis], of_.chunk[axis]);
    return chunks;
  }

  std::string packing() const override {
    return joined(of_.filters, ", ", [](const Filter& filter) { return filter.known->name; });
  }

  void read(std::span<const Range> part, const BoxPlace& to, std::byte* out) const override {
    const std::vector<Chunk> chunks = index_.chunks_of(part);
    std::vector<InputFile> file;
    file.emplace_back(of_.path, of_.where);
    const Index together = std::clamp<Index>(task_bytes / of_.chunk_bytes, 1, task_bytes);
    const Index count = chunks.size();
    parallel_for(ceil_div(count, together), [&](Index task) {
      const Reading reading{file, part, to, out};
      read_some({chunks.data() + task * together, chunks.data() + std::min(count, (task + 1) * together)},
                reading);
    });
  }

 private:
  struct Reading {
    const std::vector<InputFile>& file;
    std::span<const Range> part;
    const BoxPlace& to;
    std::byte* out;
  };

  /// The numbers of a chunk that belong to the part.
  Lines lines_of(const Chunk& chunk, const Reading& reading) const {
    std::vector<Index> extents, from, to;
    for (std::size_t axis = 0; axis < chunk.corner.size(); ++axis) {
      const Range& part = reading.part[axis];
      const Index first = std::max(part.first, chunk.corner[axis]);
      extents.push_back(std::min(part.last, chunk.corner[axis] + of_.chunk[axis]) - first);
      from.push_back(first - chunk.corner[axis]);
      to.push_back(reading.to.first[axis] + first - part.first);
    }
    return Lines(extents, {of_.chunk, from}, {reading.to.shape, to});
  }

  static LinePart all_of(const Lines& lines) { return {{0, lines.size()}, {0, lines.length()}}; }

  void read_some(std::span<const Chunk> chunks, const Reading& reading) const {
    for (const Chunk& chunk : chunks) {
      const Extent whole{0, chunk.offset, chunk.bytes};
      const Lines lines = lines_of(chunk, reading);
      if (of_.is_packed(chunk))
        reading.file[0].expect(chunk.offset, chunk.bytes);
      else
        expect_part({reading.file, {&whole, 1}}, of_.form, lines, all_of(lines));
    }
    std::array<Buffer, 2> buffers;
    for (const Chunk& chunk : chunks) {
      const Extent whole{0, chunk.offset, chunk.bytes};
      const Lines lines = lines_of(chunk, reading);
      if (of_.is_packed(chunk))
        place(unpacked(chunk, reading.file[0], buffers), lines, reading.out);
      else
        read_part({reading.file, {&whole, 1}}, of_.form, lines, all_of(lines), reading.out);
    }
  }

  Bytes unpacked(const Chunk& chunk, const InputFile& file, std::array<Buffer, 2>& buffers) const {
    std::size_t now = 0;
    std::span<std::byte> bytes = buffers[now].room(of_.room()).first(chunk.bytes);
    file.read(chunk.offset, chunk.bytes, bytes.data());
    for (std::size_t k = of_.filters.size(); k-- > 0;) {
      if (chunk.skipped >> k & 1) continue;
      const std::span<std::byte> out = buffers[1 - now].room(of_.room());
      const auto made = of_.filters[k].known->undo(bytes, of_.filters[k].settings, out);
      require<FileError>(made.has_value(), of_.name_of(chunk), " cannot be unpacked (",
                         of_.filters[k].known->name, "); the file is damaged");
      bytes = out.first(*made);
      now = 1 - now;
    }
    require<FileError>(std::ssize(bytes) == of_.chunk_bytes, of_.name_of(chunk), " has ", bytes.size(),
                       " bytes when it is unpacked; ", of_.chunk_bytes,
                       " bytes are due, the file is damaged");
    return bytes;
  }

  /// Puts the numbers of a chunk at their places.
  void place(Bytes numbers, const Lines& lines, std::byte* out) const {
    const Index pixel = bytes_of(of_.form.type);
    for (Index k = 0; k < lines.size(); ++k) {
      const auto [begin, end] = lines.at(k);
      const std::byte* from = numbers.data() + begin * of_.form.bytes;
      if (of_.form.convert)
        of_.form.convert(from, lines.length(), out + end * pixel);
      else
        std::copy_n(from, lines.length() * pixel, out + end * pixel);
    }
  }

  Packed of_;
  ChunkIndex index_{of_};
};

}  // namespace

bool are_plain_chunks(std::int64_t set, std::int64_t plan) {
  const Handle file(H5Iget_file_id(set), H5Fclose);
  const Handle made(H5Fget_create_plist(file.id()), H5Pclose);
  hsize_t before =
      0;  // bytes of others before HDF5's: some versions count them in places of chunks, some do not
  unsigned edges = usual_edges;
  return H5Pget_userblock(made.id(), &before) >= 0 && before == 0 && H5Pget_chunk_opts(plan, &edges) >= 0 &&
         edges == usual_edges && filters_of(plan).has_value();
}

std::unique_ptr<const Direct> direct_chunks(std::int64_t set, const std::string& where,
                                            const NumberForm& form, std::vector<Index> shape,
                                            const FileStamp& file) {
  const Lock lock;
  const Handle plan(H5Dget_create_plist(set), H5Pclose);
  std::vector<hsize_t> chunk(shape.size(), 1);
  H5Pget_chunk(plan.id(), rank_of(chunk), chunk.data());
  double bytes = form.bytes;
  for (const hsize_t n : chunk) bytes *= n;
  require<FileError>(0 < bytes && bytes <= most_unpacked(file), where, ": claims chunks of ", bytes,
                     " bytes, but the file has only ", file.bytes, "; it is damaged");
  return std::make_unique<Chunked>(Packed{set,
                                          where,
                                          form,
                                          std::move(shape),
                                          {chunk.begin(), chunk.end()},
                                          filters_of(plan.id()).value(),
                                          file.path,
                                          static_cast<Index>(bytes)});
}

}  // namespace tandem::io::hdf5
