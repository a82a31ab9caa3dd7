#include "rank_gradient.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../gradient.hpp"
#include "../vector.hpp"
#include "rank_exchange.hpp"

namespace tandem {

namespace {

/// A line of each slice in its own memory. It may come from the neighbouring rank.
class Plane {
 public:
  Plane(const Space& strip, const Stream& stream)
      : values_(Space({strip.shape()[0], 1, strip.shape()[2]}, Blocks::whole, strip.device()), stream) {}
  void take(ConstVectorView strip, Index line, Stream& stream) {
    Image<const float> from = image(strip);
    from.data += line * from.s1, from.n1 = 1;
    copy(from, image(VectorView(values_)), stream);
  }
  void put(VectorView strip, Index line, Stream& stream) const {
    Image<float> to = image(strip);
    to.data += line * to.s1, to.n1 = 1;
    copy(image(ConstVectorView(values_)), to, stream);
  }
  VectorView view() { return values_; }
  std::span<float> span() { return std::span(values_.data(), values_.size()); }

 private:
  Array values_;
};

struct RankGradient {
  RankLink link;
  Space strip, field;
  std::optional<LinearOperator> own;  ///< within the strip; empty if the rank has none
  float scale;                        ///< factor of differences along y

  Space domain() const { return strip; }
  Space range() const { return field; }
  Index lines() const { return strip.shape()[1]; }
  bool has_before() const { return lines() > 0 && strip.first_of_portion() > 0; }
  bool has_after() const {
    return lines() > 0 && strip.first_of_portion() + lines() < strip.whole().shape()[1];
  }
  int along_y() const { return field.parts() - 2; }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    Plane first(strip, stream), next(strip, stream), last(strip, stream);
    RankExchange exchange(link, stream);  // collective, also for ranks without lines
    if (!own) return;
    if (has_before()) first.take(x, 0, stream);
    exchange.begin(sent(has_before(), first), link.ranks.rank() - 1, sent(has_after(), next),
                   link.ranks.rank() + 1);
    own->apply(alpha, local(x), beta, local(y), stream);
    exchange.end();
    if (!has_after()) return;
    last.take(x, lines() - 1, stream);
    axpby(-1, last.view(), 1, next.view(), stream);
    add(alpha * scale, next, y.part(along_y()), lines() - 1, stream);
  }

  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    Plane last(strip, stream), before(strip, stream);
    RankExchange exchange(link, stream);  // collective as above
    if (!own) return;
    if (has_after()) last.take(y.part(along_y()), lines() - 1, stream);
    exchange.begin(sent(has_after(), last), link.ranks.rank() + 1, sent(has_before(), before),
                   link.ranks.rank() - 1);
    own->apply_adjoint(alpha, local(y), beta, local(x), stream);
    exchange.end();
    if (has_after()) add(-alpha * scale, last, x, lines() - 1, stream);
    if (has_before()) add(alpha * scale, before, x, 0, stream);
  }

 private:
  static std::span<float> sent(bool is_there, Plane& plane) {
    return is_there ? plane.span() : std::span<float>();
  }
  /// Adds a multiple of a plane to a line of each slice of a strip.
  void add(float factor, Plane& plane, const VectorView& to, Index line, Stream& stream) const {
    Plane changed(strip, stream);
    changed.take(to, line, stream);
    axpby(factor, plane.view(), 1, changed.view(), stream);
    changed.put(to, line, stream);
  }
  /// The same values in the spaces of `own`.
  template <class View>
  View local(const View& v) const {
    return {v.data, v.space.parts() == 1 ? own->domain() : own->range()};
  }
};

}  // namespace

LinearOperator rank_gradient(const Comm& ranks, const Space& strip, std::array<float, 3> scales,
                             float shear) {
  const Space whole = strip.whole();
  const Shape n = strip.shape(), all = whole.shape();
  require<SpaceError>(n[0] == all[0], "gradient: of ", all[0], " slices, this rank has ", n[0],
                      "; it needs all slices of its strip");
  const int axes = gradient(whole, scales).range().parts();
  std::optional<LinearOperator> own;
  if (strip.size() > 0) own = gradient(Space(n, Blocks::whole, strip.device()), scales, shear);
  const Space field = Space::direct_sum(std::vector<Space>(axes, strip));
  return RankGradient{{ranks, n[0] * n[2]}, strip, field, std::move(own), scales[1]};
}

}  // namespace tandem
