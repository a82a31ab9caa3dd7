#include "rank_projector.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../vector.hpp"
#include "rank_exchange.hpp"

namespace tandem {

Range portion_of_rank(Index count, int rank, int ranks, Index together) {
  constexpr Index step = 8, enough = 4;  // large portions begin at multiples of 8; steps in one
  const Index unit = count >= enough * step * ranks ? std::max(step, together) : together,
              units = ceil_div(count, unit);
  const auto first = [&](Index r) {
    return std::min(count, unit * (r * (units / ranks) + std::min(r, units % ranks)));
  };
  return {first(rank), first(rank + 1)};
}

namespace {

/// Some lines of a strip (slice, y, x).
template <class T>
Image<T> lines_of(Image<T> strip, Range lines) {
  strip.data += lines.first * strip.s1;
  strip.n1 = lines.size();
  return strip;
}

/// A part of a strip that travels, and its projector onto the views of this rank. The projector is empty if
/// the part has no lines, or the rank has no views.
struct Part {
  Range lines;  ///< lines of the volume
  std::optional<LinearOperator> A{};
};

class RankProjector {
 public:
  RankProjector(const Comm& ranks, const RankShare& share)
      : link_{.ranks = ranks, .through_host = share.through_host},
        size_(share.grid.size),
        together_(share.lines_together),
        strip_(strip_of(ranks.rank())),
        volume_(Space(share.grid.shape(), Blocks::whole, share.projections.device())
                    .portion(1, strip_.first, strip_.last)),
        projections_(share.projections) {
    const Index longest = strip_of(0).size(), asked = ceil_div(share.lines_at_once, together_) * together_;
    lines_ = asked > 0 ? std::min(asked, longest) : longest;
    passes_ = ceil_div(longest, lines_);
    link_.most = size_[2] * lines_ * size_[0];
    for (int owner = 0; owner < ranks.size(); ++owner)
      for (Index pass = 0; pass < passes_; ++pass) parts_.push_back(part_of(share, strip_of(owner), pass));
  }
  Space domain() const { return volume_; }
  Space range() const { return projections_; }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const int rank = link_.ranks.rank(), count = link_.ranks.size();
    std::array rooms{room(stream), room(stream)};
    RankExchange exchange(link_, stream);
    for (Index pass = 0; pass < passes_; ++pass) {
      load(x, part(rank, pass), rooms[0], stream);
      for (int k = 0; k < count; ++k) {
        const Part& here = part(rank + k, pass);
        Array &room = rooms[k % 2], &next = rooms[(k + 1) % 2];
        if (k + 1 < count)
          exchange.begin(values(room, here), before(), values(next, part(rank + k + 1, pass)), after());
        if (here.A) {
          here.A->apply(alpha, {room.data(), here.A->domain()}, beta, {y.data, here.A->range()}, stream);
          beta = 1;
        }
        exchange.end();
      }
    }
  }

  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    const int rank = link_.ranks.rank(), count = link_.ranks.size();
    std::array rooms{room(stream), room(stream)};
    Array arrived = room(stream);
    RankExchange exchange(link_, stream);
    for (Index pass = 0; pass < passes_; ++pass) {
      for (int k = count - 1; k >= 0; --k) {  // a rank's own strip comes last
        const Part &here = part(rank + k, pass), &last = part(rank + k + 1, pass);
        Array &sum = rooms[k % 2], &sent = rooms[(k + 1) % 2];
        const bool first = k == count - 1;
        if (!first) exchange.begin(values(sent, last), after(), values(arrived, here), before());
        if (k == 0 && beta != 0) load(x, here, sum, stream);
        back_project(alpha, y, k == 0 ? beta : 0, here, sum, stream);
        exchange.end();
        if (!first) add(values(arrived, here), values(sum, here), stream);
      }
      store(rooms[0], part(rank, pass), x, stream);
    }
  }

 private:
  Range strip_of(int rank) const { return portion_of_rank(size_[1], rank, link_.ranks.size(), together_); }
  Part part_of(const RankShare& share, Range strip, Index pass) const {
    const Range lines{std::min(strip.last, strip.first + pass * lines_),
                      std::min(strip.last, strip.first + (pass + 1) * lines_)};
    if (lines.size() == 0 || projections_.size() == 0) return {lines};
    return {lines, share.of_part(region(share.grid, {0, size_[0]}, lines, {0, size_[2]}))};
  }
  const Part& part(int owner, Index pass) const {
    return parts_[owner % link_.ranks.size() * passes_ + pass];
  }
  int before() const { return (link_.ranks.rank() + link_.ranks.size() - 1) % link_.ranks.size(); }
  int after() const { return (link_.ranks.rank() + 1) % link_.ranks.size(); }

  /// Memory for any part.
  Array room(const Stream& stream) const {
    return Array(Space({size_[2], lines_, size_[0]}, Blocks::whole, stream.device()), stream);
  }
  std::span<float> values(Array& room, const Part& part) const {
    return std::span(room.data(), size_[2] * part.lines.size() * size_[0]);
  }
  Image<float> in_room(Array& room, const Part& part) const {
    const Index lines = part.lines.size();
    return {room.data(), size_[2], lines, size_[0], lines * size_[0], size_[0]};
  }
  Range within(const Part& own) const {
    return {own.lines.first - strip_.first, own.lines.last - strip_.first};
  }

  void load(ConstVectorView x, const Part& own, Array& room, Stream& stream) const {
    if (own.lines.size() > 0) copy(lines_of(image(x), within(own)), in_room(room, own), stream);
  }
  void store(Array& room, const Part& own, VectorView x, Stream& stream) const {
    if (own.lines.size() == 0) return;
    const auto [data, n0, n1, n2, s0, s1] = in_room(room, own);
    copy(Image<const float>{data, n0, n1, n2, s0, s1}, lines_of(image(x), within(own)), stream);
  }

  /// sum <- alpha At y + beta sum, for the views of this rank.
  void back_project(float alpha, ConstVectorView y, float beta, const Part& here, Array& sum,
                    Stream& stream) const {
    if (here.A)
      return here.A->apply_adjoint(alpha, {y.data, here.A->range()}, beta, {sum.data(), here.A->domain()},
                                   stream);
    const VectorView all = sum;
    beta == 0 ? fill(all, 0, stream) : axpby(beta, all, 0, all, stream);
  }
  static void add(std::span<const float> some, std::span<float> to, Stream& stream) {
    if (some.empty()) return;
    const Space space({1, 1, std::ssize(some)}, Blocks::whole, stream.device());
    axpby(1, {some.data(), space}, 1, {to.data(), space}, stream);
  }

  RankLink link_;
  std::array<Index, 3> size_;  ///< size of the volume, x, y, z
  Index together_;             ///< parts begin at multiples of this number of lines
  Range strip_;                ///< lines of this rank
  Space volume_, projections_;
  Index lines_ = 0, passes_ = 0;  ///< lines of all strips that go round in each pass; number of passes
  std::vector<Part> parts_;       ///< parts of all ranks, pass by pass
};

}  // namespace

LinearOperator rank_projector(const Comm& ranks, const RankShare& share) {
  const Device device = share.projections.device();
  require<SpaceError>(device.members() == 1, "ranks: one of them has ", device.name(),
                      "; give each rank one device");
  return RankProjector(ranks, share);
}

}  // namespace tandem
