#include "linear_operator.hpp"

#include <algorithm>
#include <functional>
#include <ostream>

#include "../core/error.hpp"
#include "batches.hpp"

namespace tandem {

namespace {

void write_extents(std::ostream& to, const Space& space) {
  if (space.parts() == 1) {
    const Shape n = space.shape();
    to << '(' << n[0] << ", " << n[1] << ", " << n[2] << ')';
    return;
  }
  for (int i = 0; i < space.parts(); ++i) {
    to << (i ? " + " : "");
    write_extents(to, space.part(i));
  }
}

/// A space in words. `require` gets it in every call, but the words are made only if they are needed.
struct Words {
  const Space& space;
  friend std::ostream& operator<<(std::ostream& to, const Words& words) {
    write_extents(to, words.space);
    return to << " on " << words.space.device();
  }
};

/// Whether two vectors, or two whole batches, do not overlap.
bool apart(const ConstVectorView& a, const ConstVectorView& b, const Batch& n = {1, 0, 0}) {
  const std::less<const float*> before;
  const Index last = n.count - 1;
  return !before(a.data, b.data + last * n.step_out + b.space.size()) ||
         !before(b.data, a.data + last * n.step_in + a.space.size());
}

void check(const char* name, const ConstVectorView& in, const Space& from, const VectorView& out,
           const Space& to, const Stream& stream) {
  require<SpaceError>(in.space.fits(from), name, ": the input is in ", Words{in.space}, ", not in ",
                      Words{from}, in.space.parts() == from.parts() ? " (or belongs to another scan)" : "");
  require<SpaceError>(out.space.fits(to), name, ": the output is in ", Words{out.space}, ", not in ",
                      Words{to}, out.space.parts() == to.parts() ? " (or belongs to another scan)" : "");
  require<SpaceError>(stream.device() == from.device(), name, ": the stream is on ", stream.device(),
                      ", the vectors on ", from.device());
  for (int k = 0; k < from.shares(); ++k)
    require<SpaceError>(apart(in.share(k), out.share(k)), name,
                        ": input and output overlap in memory; give them separate arrays");
}

}  // namespace

void LinearOperator::apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
  check("apply", x, domain(), y, range(), stream);
  if (transposed_)
    node_->apply_adjoint(alpha, x, beta, y, stream);
  else
    node_->apply(alpha, x, beta, y, stream);
}

void LinearOperator::apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x,
                                   Stream& stream) const {
  adjoint(*this).apply(alpha, y, beta, x, stream);
}

void LinearOperator::apply(float alpha, ConstVectorView x, float beta, VectorView y, const Batch& batch,
                           Stream& stream) const {
  if (batch.count == 0) return;
  require<SpaceError>(stream.device().members() == 1, "apply: a batch on ", stream.device(),
                      "; give a team one vector at a time");
  if (batch.count == 1) return apply(alpha, x, beta, y, stream);
  require<SpaceError>(apart(x, y, batch),
                      "apply: input and output overlap in memory; give them separate arrays");
  check("apply", x, domain(), y, range(), stream);
  for (Index first = 0; first < batch.count; first += together()) {
    const Batch some{std::min(together(), batch.count - first), batch.step_in, batch.step_out};
    const ConstVectorView in = nth(x, first, batch.step_in);
    const VectorView out = nth(y, first, batch.step_out);
    if (some.count == 1)
      apply(alpha, in, beta, out, stream);
    else if (transposed_)
      node_->apply_adjoint(alpha, in, beta, out, some, stream);
    else
      node_->apply(alpha, in, beta, out, some, stream);
  }
}

void LinearOperator::apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x,
                                   const Batch& batch, Stream& stream) const {
  adjoint(*this).apply(alpha, y, beta, x, batch, stream);
}

}  // namespace tandem
