#include "rank_slices.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "../../core/comm.hpp"
#include "rank_exchange.hpp"
#include "rank_projector.hpp"

namespace tandem {

namespace {

/// The lines that each rank has of a volume. Collective.
std::vector<Range> lines_of_all(const Comm& ranks, const Space& strip) {
  std::vector<double> ends(2 * ranks.size());
  ends[2 * ranks.rank()] = strip.first_of_portion();
  ends[2 * ranks.rank() + 1] = strip.first_of_portion() + strip.shape()[1];
  ranks.all_reduce(ends);
  std::vector<Range> all;
  for (int k = 0; k < ranks.size(); ++k)
    all.push_back({static_cast<Index>(ends[2 * k]), static_cast<Index>(ends[2 * k + 1])});
  return all;
}

/// The blocks that go between ranks: the lines of one rank in the slices of another. They follow each other
/// in a strip.
class BlocksOfRanks {
 public:
  BlocksOfRanks(const Space& strip, Stream& stream)
      : ranks_(Comm::world()),
        n_(strip.shape()),
        ny_(strip.whole().shape()[1]),
        stream_(stream),
        lines_(lines_of_all(ranks_, strip)) {
    for (int k = 0; k < ranks_.size(); ++k)
      link_.most = std::max(link_.most, n_[0] * n_[2] * lines_[k].size());
    link_.ranks = ranks_;
  }
  /// Slices of this rank with all lines, perhaps none, and their memory.
  Image<float> own_slices(Array& memory) const {
    Image<float> whole = image(VectorView(memory));
    whole.n0 = slices(ranks_.rank()).size();
    return whole;
  }
  Array memory_of_slices() const {
    const Index own = std::max<Index>(1, slices(ranks_.rank()).size());
    return {Space({own, ny_, n_[2]}, Blocks::whole, stream_.device()), stream_};
  }
  /// Fills the slices of this rank from the strips of all, or the strips from the slices.
  void exchange(const VectorView& strip, const Image<float>& whole, bool back) const {
    RankExchange link(link_, stream_);
    const int own = ranks_.rank(), all = ranks_.size();
    for (int k = 0; k < all; ++k) {
      const int to = (own + k) % all, from = (own + all - k) % all;
      const Range lines = lines_[back ? to : from];
      const Index count = whole.n0 * lines.size() * n_[2];
      Array memory(Space({1, 1, std::max<Index>(1, count)}, Blocks::whole, stream_.device()), stream_);
      const Image<float> block{memory.data(), whole.n0, lines.size(), n_[2], lines.size() * n_[2], n_[2]};
      const std::span<float> of_block(memory.data(), count),
          of_strip = in_strip(strip, slices(back ? from : to));
      if (back) put(lines_in(whole, lines), block);
      if (k == 0)
        put(line(back ? of_block : of_strip), line(back ? of_strip : of_block));
      else if (back)
        link.begin(of_block, to, of_strip, from);
      else
        link.begin(of_strip, to, of_block, from);
      link.end();
      if (!back) put(block, lines_in(whole, lines));
    }
  }

 private:
  Range slices(int rank) const { return portion_of_rank(n_[0], rank, ranks_.size()); }
  std::span<float> in_strip(const VectorView& strip, Range some) const {
    const Index slice = strip.space.shape()[1] * n_[2];
    return {strip.data + some.first * slice, static_cast<std::size_t>(some.size() * slice)};
  }
  static Image<float> lines_in(Image<float> whole, Range lines) {
    whole.data += lines.first * whole.s1, whole.n1 = lines.size();
    return whole;
  }
  static Image<float> line(std::span<float> values) {
    const auto size = static_cast<Index>(values.size());
    return {values.data(), 1, 1, size, size, size};
  }
  void put(const Image<float>& from, const Image<float>& to) const {
    if (from.n0 * from.n1 * from.n2 > 0)
      copy(Image<const float>{from.data, from.n0, from.n1, from.n2, from.s0, from.s1}, to, stream_);
  }

  Comm ranks_;
  Shape n_;
  Index ny_;  // lines of all ranks
  Stream& stream_;
  std::vector<Range> lines_;
  RankLink link_;
};

}  // namespace

void on_whole_slices(VectorView strip, Stream& stream, const std::function<void(Image<float>)>& work) {
  const BlocksOfRanks blocks(strip.space, stream);
  Array memory = blocks.memory_of_slices();
  const Image<float> whole = blocks.own_slices(memory);
  blocks.exchange(strip, whole, false);
  if (whole.n0 > 0) work(whole);
  blocks.exchange(strip, whole, true);
}

}  // namespace tandem
