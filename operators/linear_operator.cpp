#include "linear_operator.hpp"

#include <functional>
#include <sstream>
#include <string>

#include "../core/error.hpp"

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

std::string words(const Space& space) {
  std::ostringstream text;
  write_extents(text, space);
  text << " on " << space.device().name();
  return text.str();
}

bool apart(const ConstVectorView& a, const ConstVectorView& b) {
  const std::less<const float*> before;
  return !before(a.data, b.data + b.space.size()) || !before(b.data, a.data + a.space.size());
}

void check(const char* name, ConstVectorView in, const Space& from, VectorView out, const Space& to,
           const Stream& stream) {
  require<SpaceError>(in.space.fits(from), name, ": the input is in ", words(in.space), ", not in ",
                      words(from), in.space.parts() == from.parts() ? " (or belongs to another scan)" : "");
  require<SpaceError>(out.space.fits(to), name, ": the output is in ", words(out.space), ", not in ",
                      words(to), out.space.parts() == to.parts() ? " (or belongs to another scan)" : "");
  require<SpaceError>(stream.device() == from.device(), name, ": the stream is on ", stream.device().name(),
                      ", the vectors on ", from.device().name());
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

}  // namespace tandem
