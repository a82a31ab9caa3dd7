#include "rank_slabs.hpp"

#include <algorithm>
#include <span>

#include "../../operators/distributed/rank_projector.hpp"

namespace tandem::pipeline {

void exchange_all(const Comm& ranks, const Exchange& how) {
  std::vector<float> out, in;
  for (int k = 0; k < ranks.size(); ++k) {
    const int to = (ranks.rank() + k) % ranks.size(), from = (ranks.rank() + ranks.size() - k) % ranks.size();
    how.block_for(to, out);
    if (k == 0) {
      how.take(from, out);
      continue;
    }
    in.resize(how.size_from(from));
    ranks.exchange(std::as_bytes(std::span(out)), to, std::as_writable_bytes(std::span(in)), from);
    how.take(from, in);
  }
}

Range RankSlabs::slices(int rank) const { return portion_of_rank(written_, rank, ranks_.size()); }
Range RankSlabs::lines(int rank) const { return portion_of_rank(size_[1], rank, ranks_.size(), together_); }

/// The number of voxels that go from strip to slab, or back: the lines of one rank in the slices of another.
std::size_t RankSlabs::size_of_block(Range slices, Range lines) const {
  return slices.size() * lines.size() * size_[0];
}

/// The position in a strip, with these lines, of the first value of these written slices.
Index RankSlabs::place_in_strip(Range slices, Range lines) const {
  return (first_ + slices.first) * lines.size() * size_[0];
}

/// Calls `copy` for the lines of a strip in each slice of a slab, with the position of their first value in
/// the slab and in the block.
template <class Copy>
void RankSlabs::for_each_slice(Range lines, const Copy& copy) const {
  const Index size = lines.size() * size_[0];
  for (Index z = 0; z < own().size(); ++z) copy((z * size_[1] + lines.first) * size_[0], z * size, size);
}

Array RankSlabs::slab_of(const Array& strip) const {
  const Range mine = own(), my_lines = lines(ranks_.rank());
  Array slab(Space({std::max<Index>(1, mine.size()), size_[1], size_[0]}));
  exchange_all(ranks_, {.block_for =
                            [&](int rank, std::vector<float>& block) {
                              const Range theirs = slices(rank);
                              block.resize(size_of_block(theirs, my_lines));
                              std::copy_n(strip.data() + place_in_strip(theirs, my_lines), block.size(),
                                          block.begin());
                            },
                        .size_from = [&](int rank) { return size_of_block(mine, lines(rank)); },
                        .take =
                            [&](int rank, const std::vector<float>& block) {
                              for_each_slice(lines(rank), [&](Index there, Index here, Index size) {
                                std::copy_n(block.data() + here, size, slab.data() + there);
                              });
                            }});
  return slab;
}

void RankSlabs::strip_of(const Array& slab, Array& strip) const {
  const Range mine = own(), my_lines = lines(ranks_.rank());
  exchange_all(ranks_, {.block_for =
                            [&](int rank, std::vector<float>& block) {
                              const Range theirs = lines(rank);
                              block.resize(size_of_block(mine, theirs));
                              for_each_slice(theirs, [&](Index there, Index here, Index size) {
                                std::copy_n(slab.data() + there, size, block.data() + here);
                              });
                            },
                        .size_from = [&](int rank) { return size_of_block(slices(rank), my_lines); },
                        .take =
                            [&](int rank, const std::vector<float>& block) {
                              const Range theirs = slices(rank);
                              std::copy_n(block.data(), block.size(),
                                          strip.data() + place_in_strip(theirs, my_lines));
                            }});
}

}  // namespace tandem::pipeline
