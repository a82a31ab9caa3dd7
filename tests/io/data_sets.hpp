#pragma once

// Data sets of known numbers, and parts of them.

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "../../io/hdf5/hdf5.hpp"
#include "io_checks.hpp"

namespace tandem::test {

using Extents = std::vector<unsigned long long>;
using Part = std::vector<Range>;

inline Index size_of(const Extents& shape) {
  Index size = 1;
  for (const auto n : shape) size *= static_cast<Index>(n);
  return size;
}

inline Part whole(const Extents& shape) {
  Part part;
  for (const auto n : shape) part.push_back({0, static_cast<Index>(n)});
  return part;
}

/// Small integers, which every number type has.
inline std::vector<double> known_numbers(const Extents& shape) {
  std::vector<double> numbers;
  for (Index i = 0; i < size_of(shape); ++i) numbers.push_back(static_cast<double>((i * 37 + i / 11) % 127));
  return numbers;
}

/// The part of an array that lies in C order.
inline std::vector<double> part_of(const std::vector<double>& numbers, const Extents& shape,
                                   const Part& part) {
  std::vector<double> found;
  std::vector<Index> at;
  for (const Range& range : part) at.push_back(range.first);
  while (at[0] < part[0].last) {
    Index place = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      place = place * static_cast<Index>(shape[axis]) + at[axis];
    found.push_back(numbers[static_cast<std::size_t>(place)]);
    std::size_t axis = at.size() - 1;
    for (++at[axis]; axis > 0 && at[axis] == part[axis].last; ++at[axis]) at[axis] = part[axis].first, --axis;
  }
  return found;
}

/// The numbers that the data set gives for a part, in the type in which it is read.
inline std::vector<double> read_part(const io::hdf5::DataSet& set, const Part& part) {
  io::Frames frames{set.pixel_type(), {1, 1, 1}, {}};
  for (const Range& range : part) frames.shape[2] *= range.size();
  frames.bytes.resize(static_cast<std::size_t>(frames.shape[2]) * io::bytes_of(frames.type));
  set.read(frames.type, part, frames.bytes.data());
  return values(frames);
}

inline io::hdf5::DataSet stored_set(const fs::path& path, const std::string& name = "/d") {
  io::hdf5::DataSet set = io::hdf5::File::open(path).data_set(name);
  set.require_stored();
  return set;
}

/// A shape of one to four axes, drawn at random.
inline Extents any_shape() {
  Extents shape(*rc::gen::inRange<std::size_t>(1, 5));
  for (auto& n : shape) n = *rc::gen::inRange(1ull, shape.size() > 2 ? 7ull : 20ull);
  return shape;
}

/// A part of such a shape that is not empty.
inline Part any_part(const Extents& shape) {
  Part part;
  for (const auto n : shape) {
    const Index first = *rc::gen::inRange<Index>(0, static_cast<Index>(n));
    part.push_back({first, *rc::gen::inRange<Index>(first + 1, static_cast<Index>(n) + 1)});
  }
  return part;
}

}  // namespace tandem::test
