// Virtual data sets that are put together of boxes, whose sources are read outside libhdf5.

#include <hdf5.h>

#include <chrono>
#include <future>
#include <thread>

#include "../../../core/parallel.hpp"
#include "../../../io/hdf5/hdf5_detail.hpp"
#include "../../support/property.hpp"
#include "../packed_chunks.hpp"

namespace tandem::test {

namespace {

const std::string by_library = "by libhdf5";

/// A box of a virtual data set, and its source: the box of a data set "/d".
struct Mapped {
  Part to;
  std::string file;
  Extents source = {};  ///< extents of that data set
  Part from = {};       ///< the box in it
};

std::string numbered(std::string stem, std::size_t number) {
  stem += std::to_string(number);
  stem += ".h5";
  return stem;
}

void select(hid_t space, const Part& part, hsize_t stride = 1) {
  std::vector<hsize_t> first, count, step(part.size(), 1);
  for (const Range& range : part)
    first.push_back(static_cast<hsize_t>(range.first)), count.push_back(static_cast<hsize_t>(range.size()));
  step[0] = stride;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), step.data(), count.data(), nullptr);
}

hid_t space_of(const Extents& shape) {
  return H5Screate_simple(static_cast<int>(shape.size()),
                          std::vector<hsize_t>(shape.begin(), shape.end()).data(), nullptr);
}

/// A file whose data set "/d" has these boxes; sources give each `stride`-th element along their first axis.
void write_virtual(const fs::path& path, hid_t type, const Extents& shape, const std::vector<Mapped>& boxes,
                   hsize_t stride = 1) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = space_of(shape);
  for (const Mapped& box : boxes) {
    const hid_t source = space_of(box.source);
    select(space, box.to), select(source, box.from, stride);
    H5Pset_virtual(plan, space, box.file.c_str(), "/d", source);
    H5Sclose(source);
  }
  H5Sselect_all(space);
  H5Dclose(H5Dcreate2(file, "/d", type, space, H5P_DEFAULT, plan, H5P_DEFAULT));
  H5Sclose(space), H5Pclose(plan), H5Fclose(file);
}

/// 126 except in a box, whose numbers are given in C order.
std::vector<double> around(const std::vector<double>& inside, const Extents& shape, const Part& box) {
  std::vector<double> numbers, places;
  for (Index i = 0; i < size_of(shape); ++i) places.push_back(static_cast<double>(i));
  numbers.assign(places.size(), 126);
  std::size_t k = 0;
  for (const double place : part_of(places, shape, box))
    numbers[static_cast<std::size_t>(place)] = inside[k++];
  return numbers;
}

/// Cuts a box in two, again and again, at random.
std::vector<Mapped> any_boxes(const Extents& shape) {
  std::vector<Mapped> boxes{{whole(shape), {}}};
  for (int cuts = *rc::gen::inRange(0, 6); cuts > 0; --cuts) {
    Mapped& box = boxes[*rc::gen::inRange<std::size_t>(0, boxes.size())];
    const auto axis = *rc::gen::inRange<std::size_t>(0, shape.size());
    if (box.to[axis].size() < 2) continue;
    const Index at = *rc::gen::inRange(box.to[axis].first + 1, box.to[axis].last);
    Mapped other = box;
    box.to[axis].last = other.to[axis].first = at;
    boxes.push_back(other);
  }
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    Mapped& box = boxes[k];
    box.file = numbered("s", k);
    for (const Range& range : box.to) {
      const Index before = *rc::gen::inRange<Index>(0, 3), after = *rc::gen::inRange<Index>(0, 3);
      box.from.push_back({before, before + range.size()});
      box.source.push_back(static_cast<unsigned long long>(before + range.size() + after));
    }
    if (shape.size() == 1 || box.to[0].size() > 1 || *rc::gen::arbitrary<bool>()) continue;
    box.from.erase(box.from.begin()), box.source.erase(box.source.begin());
  }
  return boxes;
}

/// A source of any layout and packing, which has these numbers.
void write_any_source(const fs::path& path, const std::string& type, unsigned width, const Extents& shape,
                      const std::vector<double>& numbers) {
  if (*rc::gen::arbitrary<bool>()) {
    Hdf5Maker(path).numbers("/d", type, shape, numbers);
    return;
  }
  ChunkedSet set{.type = type, .shape = shape};
  for (const auto n : shape) set.chunk.push_back(*rc::gen::inRange(1ull, n + 1));
  if (*rc::gen::arbitrary<bool>()) set.filters = {*rc::gen::elementOf(known_filters(width))};
  write_chunked(path, set, numbers);
}

const Extents shape{6, 5, 7};

/// Frames 0, 1, ... in parts of two, each in a packed file of its own.
std::vector<Mapped> write_parts(const TemporaryFolder& folder, const ChunkedSet& like) {
  std::vector<Mapped> boxes;
  for (Index k = 0; k < 6; k += 2) {
    const std::string name = numbered("part", static_cast<std::size_t>(k));
    const Part to{{k, k + 2}, {0, 5}, {0, 7}};
    ChunkedSet set = like;
    set.shape = {2, 5, 7};
    write_chunked(folder / name, set, part_of(known_numbers(shape), shape, to));
    boxes.push_back({to, name, {2, 5, 7}, {{0, 2}, {0, 5}, {0, 7}}});
  }
  return boxes;
}

std::vector<Mapped> write_packed_parts(const TemporaryFolder& folder) {
  return write_parts(folder, {.chunk = {1, 3, 7}, .filters = {{1, {6}}}});
}

}  // namespace

TEST(VirtualBoxes, GiveAnyPartOfAnySources) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, unsigned>> naturals{{"u16", 2}, {">u16", 2}},
      reals{{"f32", 4}, {"i16", 2}, {">f64", 8}, {"f16", 2}, {"i64", 8}, {">i32", 4}};
  EXPECT_TRUE(holds("a part of virtual boxes is what their sources have", [&] {
    const bool real = *rc::gen::arbitrary<bool>();
    const Extents extents = any_shape();
    const std::vector<double> numbers = known_numbers(extents);
    const std::vector<Mapped> boxes = any_boxes(extents);
    for (const Mapped& box : boxes) {
      const auto [type, width] = *rc::gen::elementOf(real ? reals : naturals);
      write_any_source(folder / box.file, type, width, box.source,
                       around(part_of(numbers, extents, box.to), box.source, box.from));
    }
    write_virtual(folder / "d.h5", real ? H5T_IEEE_F32LE : H5T_STD_U16LE, extents, boxes);
    const Part part = any_part(extents);
    const io::hdf5::DataSet set = stored_set(folder / "d.h5");
    RC_ASSERT(set.packing() != by_library);
    RC_ASSERT(read_part(set, part) == part_of(numbers, extents, part));
    RC_ASSERT(read_part(io::hdf5::File::open(folder / "d.h5").data_set("/d"), part) ==
              part_of(numbers, extents, part));
  }));
}

TEST(VirtualBoxes, MayBeFramesThatLackAnAxis) {
  const TemporaryFolder folder;
  std::vector<Mapped> boxes;
  for (Index k = 0; k < 6; ++k) {
    const Part frame{{k, k + 1}, {0, 5}, {0, 7}};
    boxes.push_back({frame, numbered("f", static_cast<std::size_t>(k)), {5, 7}, {{0, 5}, {0, 7}}});
    Hdf5Maker(folder / boxes.back().file)
        .numbers("/d", "u16", {5, 7}, part_of(known_numbers(shape), shape, frame));
  }
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, boxes);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_NE(set.packing(), by_library);
  const Part part{{1, 6}, {2, 5}, {1, 6}};
  EXPECT_EQ(read_part(set, part), part_of(known_numbers(shape), shape, part));
}

TEST(VirtualBoxes, ThatOtherVirtualDataSetsGiveAreRead) {
  const TemporaryFolder folder;
  write_virtual(folder / "d0.h5", H5T_STD_U16LE, shape, write_packed_parts(folder));
  for (std::size_t depth = 1; depth < 9; ++depth) {
    std::vector<Mapped> halves;
    for (const Part& half : {Part{{0, 6}, {0, 2}, {0, 7}}, Part{{0, 6}, {2, 5}, {0, 7}}})
      halves.push_back({half, numbered("d", depth - 1), shape, half});
    write_virtual(folder / numbered("d", depth), H5T_STD_U16LE, shape, halves);
  }
  EXPECT_TRUE(says(refusal([&] { stored_set(folder / "d8.h5"); }),
                   {"d8.h5: /d: ", "virtual sources of virtual sources, more than 8 times"}));
  const Part part{{1, 4}, {1, 4}, {2, 7}};
  const io::hdf5::DataSet set = stored_set(folder / "d7.h5");
  EXPECT_EQ(set.packing(), "deflate");
  EXPECT_EQ(read_part(set, part), part_of(known_numbers(shape), shape, part));
}

TEST(VirtualBoxes, AreReadWhileAnotherThreadIsInsideLibhdf5) {
  const TemporaryFolder folder;
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, write_packed_parts(folder));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  const std::vector<double> numbers = read_part(set, whole(shape));  // now it is known where the chunks are
  EXPECT_EQ(numbers, known_numbers(shape));
  io::PixelBytes out(numbers.size() * 2);
  const io::hdf5::Lock lock;
  auto reading =
      std::async(std::launch::async, [&] { set.read(io::PixelType::uint16, whole(shape), out.data()); });
  EXPECT_EQ(reading.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(values({io::PixelType::uint16, {6, 5, 7}, out}), numbers);
}

TEST(VirtualBoxes, AreReadBySeveralThreadsAtOnce) {
  const TemporaryFolder folder;
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, write_packed_parts(folder));
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  std::vector<std::jthread> threads;
  for (Index k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (Index row = 0; row < 5; ++row) {
        const Part part{{k / 2, 6}, {row, row + 1}, {k, 7}};
        EXPECT_EQ(read_part(set, part), part_of(known_numbers(shape), shape, part));
      }
    });
}

TEST(VirtualBoxes, WithSourcesOfOtherPixelsAreLeftToLibhdf5) {
  const TemporaryFolder folder;
  std::vector<Mapped> boxes = write_packed_parts(folder);
  const Part last = boxes.back().to;
  Hdf5Maker(folder / boxes.back().file)
      .numbers("/d", "u8", {2, 5, 7}, part_of(known_numbers(shape), shape, last));
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, boxes);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(set.packing(), by_library);
  EXPECT_EQ(read_part(set, whole(shape)), known_numbers(shape));
}

TEST(VirtualBoxes, AreNotEveryOtherFrame) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "s.h5").numbers("/d", "u16", shape, known_numbers(shape));
  const Extents half{3, 5, 7};
  std::vector<double> due;
  for (Index k = 0; k < 6; k += 2)
    for (const double number : part_of(known_numbers(shape), shape, {{k, k + 1}, {0, 5}, {0, 7}}))
      due.push_back(number);
  write_virtual(folder / "d.h5", H5T_STD_U16LE, half, {{whole(half), "s.h5", shape, whole(half)}}, 2);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(set.packing(), by_library);
  EXPECT_EQ(read_part(set, whole(half)), due);
}

TEST(VirtualBoxes, ThatGoOnWithoutEndAreLeftToLibhdf5) {
  const TemporaryFolder folder;
  Hdf5Maker(folder / "s.h5").numbers("/d", "u16", shape, known_numbers(shape), {1, 5, 7});
  const std::vector<hsize_t> n{6, 5, 7}, endless{H5S_UNLIMITED, 5, 7}, two{2, 5, 7},
      rest{H5S_UNLIMITED, 1, 1}, start{2, 0, 0}, one(3, 1), block{1, 5, 7};
  const hid_t file = H5Fcreate((folder / "d.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, n.data(), endless.data());
  H5Sselect_hyperslab(space, H5S_SELECT_SET, std::vector<hsize_t>(3, 0).data(), nullptr, one.data(),
                      two.data());
  H5Pset_virtual(plan, space, "s.h5", "/d", space);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), one.data(), rest.data(), block.data());
  H5Pset_virtual(plan, space, "s.h5", "/d", space);
  H5Dclose(H5Dcreate2(file, "/d", H5T_STD_U16LE, space, H5P_DEFAULT, plan, H5P_DEFAULT));
  H5Sclose(space), H5Pclose(plan), H5Fclose(file);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(set.packing(), by_library);
  EXPECT_EQ(read_part(set, whole(shape)), known_numbers(shape));
}

TEST(VirtualBoxes, ThatLieOnEachOtherLeaveNoElementOut) {
  const TemporaryFolder folder;
  std::vector<Mapped> boxes = write_packed_parts(folder);
  const auto move = [&](Index first) { boxes[1].to[0] = {first, first + 2}; };
  move(1);
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, boxes);
  EXPECT_TRUE(says(refusal([&] { stored_set(folder / "d.h5"); }),
                   {"d.h5: /d: some of its elements come from two sources, and others from no source"}));
  move(2);
  boxes.push_back(boxes[1]);  // libhdf5 decides which of the two wins
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, boxes);
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  EXPECT_EQ(set.packing(), by_library);
  EXPECT_EQ(read_part(set, whole(shape)), known_numbers(shape));
}

TEST(VirtualBoxes, WhoseSourcesChangeAreRefused) {
  const TemporaryFolder folder;
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, write_packed_parts(folder));
  const fs::path part = folder / "part2.h5", away = folder / "away.h5";
  const io::hdf5::DataSet set = stored_set(folder / "d.h5");
  const auto refused = [&] { return refusal([&] { read_part(set, whole(shape)); }); };
  fs::rename(part, away);
  EXPECT_TRUE(says(refused(), {"d.h5: /d: ", "part2.h5 cannot be seen"}));
  fs::rename(away, part);
  EXPECT_EQ(read_part(set, whole(shape)), known_numbers(shape));
  const auto time = fs::last_write_time(part);
  fs::last_write_time(part, time + std::chrono::seconds(1));
  EXPECT_TRUE(says(refused(), {"d.h5: /d: ", "part2.h5 was written to since"}));
  fs::resize_file(part, fs::file_size(part) / 2);
  EXPECT_TRUE(says(refused(), {"d.h5: /d: ", "part2.h5 had ", "bytes", "now"}));
}

TEST(VirtualBoxes, NameTheSourceThatIsDamaged) {
  const TemporaryFolder folder;
  ChunkedSet set{.chunk = {1, 5, 7}, .filters = {{1, {6}}}};
  set.damage = [](Packed& bytes) { std::fill_n(bytes.begin(), 12, 0xff); };
  write_virtual(folder / "d.h5", H5T_STD_U16LE, shape, write_parts(folder, set));
  EXPECT_TRUE(says(refusal([&] {
                     read_part(stored_set(folder / "d.h5"), {{2, 3}, {0, 5}, {0, 7}});
                   }),
                   {"d.h5: /d: its source part2.h5: /d: chunk at (0, 0, 0) cannot be unpacked", "damaged"}));
}

TEST(VirtualBoxes, ThatArePackedTakeMemoryForEachThread) {
  const TemporaryFolder folder;
  write_virtual(folder / "plain.h5", H5T_STD_U16LE, shape, write_parts(folder, {.chunk = {1, 3, 7}}));
  EXPECT_EQ(stored_set(folder / "plain.h5").decoded_bytes(), 0u);
  write_virtual(folder / "packed.h5", H5T_STD_U16LE, shape,
                write_parts(folder, {.chunk = {2, 5, 7}, .filters = {{1, {6}}}}));
  const io::hdf5::DataSet packed = stored_set(folder / "packed.h5");
  const std::size_t chunk_bytes = 2 * 5 * 7 * 2, room = chunk_bytes + chunk_bytes / 8 + 65536;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    EXPECT_EQ(packed.decoded_bytes(), static_cast<std::size_t>(thread_count()) * 2 * room) << threads;
  }
}

}  // namespace tandem::test
