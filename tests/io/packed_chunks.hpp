#pragma once

// Chunks packed here, by the rules of their formats, and stored as they are: libhdf5 needs no filter for it.

#include <functional>
#include <string>
#include <vector>

#include "data_sets.hpp"

namespace tandem::test {

using Packed = std::vector<unsigned char>;

/// A filter of HDF5, with the numbers that a data set gives to it.
struct Filter {
  int number;
  std::vector<unsigned> settings;
};

/// Every filter that is known, in each of its modes, for elements of so many bytes.
std::vector<Filter> known_filters(unsigned width);

/// The bytes that the filter makes of some bytes.
Packed packed(const Packed& bytes, const Filter& filter);

struct ChunkedSet {
  std::string type = "u16";
  Extents shape = {}, chunk = {};
  std::vector<Filter> filters = {};
  bool endless = false;  ///< along all axes
  /// The filters that a chunk leaves out: bit k stands for filter k.
  std::function<unsigned(std::size_t chunk)> skipped = [](std::size_t) { return 0u; };
  std::function<void(Packed&)> damage = [](Packed&) {};  ///< done to each packed chunk
};

/// A file whose data set "/d" has these numbers.
void write_chunked(const fs::path& path, const ChunkedSet& set, const std::vector<double>& numbers);

}  // namespace tandem::test
