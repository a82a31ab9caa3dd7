#include "team_operator.hpp"

#include <utility>

#include "../../core/parallel.hpp"
#include "../vector.hpp"

namespace tandem {

namespace {

/// Makes all members wait until all have done what is queued now.
void meet(Stream& stream) {
  Event here(stream.device());
  here.record(stream);
  stream.wait(here);
}

VectorView elements(const VectorView& x, int member, Range some) {
  const VectorView copy = x.share(member);
  return {copy.data + some.first, Space({1, 1, some.size()}, Blocks::whole, copy.space.device())};
}

/// Replaces each member's copy of x by the sum of all copies. Each member adds up one strip: first its own
/// copy, and then the copies of the members that follow it, so that no two members read from the same one at
/// a time. Then each strip goes to all members.
void add_copies(const VectorView& x, Stream& stream) {
  const int members = x.space.shares();
  const auto strip = [&](int k) {
    return Range{k * x.space.size() / members, (k + 1) * x.space.size() / members};
  };
  meet(stream);
  for (int k = 0; k < members; ++k) {
    if (strip(k).size() == 0) continue;
    Stream& own = stream.member(k);
    const VectorView sum = elements(x, k, strip(k));
    Array landing(sum.space, own);
    for (int other = k + 1; other < k + members; ++other) {
      copy(elements(x, other % members, strip(k)), landing, own);
      axpby(1, landing, 1, sum, own);
    }
  }
  meet(stream);
  for (int k = 0; k < members; ++k)
    for (int other = k + 1; other < k + members; ++other)
      if (const Range some = strip(other % members); some.size() > 0)
        copy(elements(x, other % members, some), elements(x, k, some), stream.member(k));
  meet(stream);
}

struct TeamOperator {
  Space from, to;
  std::vector<LinearOperator> of_members;
  Space domain() const { return from; }
  Space range() const { return to; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const bool adds = from.spread() == Spread::split && to.spread() == Spread::copied;
    on_threads(from.shares(), [&](Index i) {
      const auto k = static_cast<int>(i);
      const float kept = adds && k > 0 ? 0 : beta;  // the old output counts once
      of_members[k].apply(alpha, x.share(k), kept, y.share(k), stream.member(k));
    });
    if (adds) add_copies(y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    std::vector<LinearOperator> back;
    for (const LinearOperator& A : of_members) back.push_back(adjoint(A));
    TeamOperator{to, from, std::move(back)}.apply(alpha, y, beta, x, stream);
  }
};

}  // namespace

LinearOperator team_operator(Space domain, Space range, std::vector<LinearOperator> of_members) {
  return TeamOperator{std::move(domain), std::move(range), std::move(of_members)};
}

}  // namespace tandem
