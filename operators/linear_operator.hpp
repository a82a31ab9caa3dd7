#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// What the author of an operator writes: any struct with these four functions. It needs no base class and no
/// registration.
///
/// apply:          y <- alpha A x  + beta y
/// apply_adjoint:  x <- alpha At y + beta x
template <class M>
concept LinearMap = requires(const M& map, float alpha, ConstVectorView in, float beta, VectorView out,
                             Stream& stream) {
  { map.domain() } -> std::convertible_to<Space>;
  { map.range() } -> std::convertible_to<Space>;
  map.apply(alpha, in, beta, out, stream);
  map.apply_adjoint(alpha, in, beta, out, stream);
};

/// Vectors of one space that lie one after another in memory.
struct Batch {
  Index count;
  Index step_in, step_out;  ///< elements from the beginning of one vector to that of the next
};

/// A map for which several vectors cost less together than one by one. It never gets more than `together()`
/// at once, which bounds its memory. The result has the same bits as one by one.
template <class M>
concept BatchMap = requires(const M& map, float alpha, ConstVectorView in, float beta, VectorView out,
                            const Batch& batch, Stream& stream) {
  { map.together() } -> std::convertible_to<Index>;
  map.apply(alpha, in, beta, out, batch, stream);
  map.apply_adjoint(alpha, in, beta, out, batch, stream);
};

/// A linear map A : X -> Y together with At : Y -> X. It is an immutable value: copies share the map, and
/// several threads may use it.
class LinearOperator {
 public:
  template <LinearMap M>
  requires(!std::same_as<std::remove_cvref_t<M>, LinearOperator>) LinearOperator(M map)
      : node_(std::make_shared<const Holder<M>>(std::move(map))) {}

  Space domain() const { return transposed_ ? node_->range() : node_->domain(); }
  Space range() const { return transposed_ ? node_->domain() : node_->range(); }

  /// y <- alpha A x + beta y, queued on `stream`. If beta = 0, y is never read. The operator and the vectors
  /// must live until the stream has done the work. Temporaries are made on `stream`. @throws SpaceError
  /// unless x is in domain(), y is in range(), they do not overlap, and `stream` is on their device
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const;
  /// x <- alpha At y + beta x; all else is as in `apply`.
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const;

  /// Apply to a batch, whose first vectors are x and y. The bits are those of `batch.count` calls. @throws
  /// also SpaceError on a team
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, const Batch& batch,
             Stream& stream) const;
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, const Batch& batch,
                     Stream& stream) const;
  /// The number of vectors of a batch that it takes at once; 1 if they cost as much together as one by one.
  Index together() const { return node_->together(); }

  /// The same map with its two directions exchanged. adjoint(adjoint(A)) is A.
  friend LinearOperator adjoint(LinearOperator A) {
    A.transposed_ = !A.transposed_;
    return A;
  }

 private:
  struct Node {
    virtual ~Node() = default;
    virtual Space domain() const = 0;
    virtual Space range() const = 0;
    virtual void apply(float, ConstVectorView, float, VectorView, Stream&) const = 0;
    virtual void apply_adjoint(float, ConstVectorView, float, VectorView, Stream&) const = 0;
    virtual Index together() const = 0;
    // the functions below are called only if together() is more than 1
    virtual void apply(float, ConstVectorView, float, VectorView, const Batch&, Stream&) const = 0;
    virtual void apply_adjoint(float, ConstVectorView, float, VectorView, const Batch&, Stream&) const = 0;
  };
  template <class M>
  struct Holder final : Node {
    explicit Holder(M m) : map(std::move(m)) {}
    Space domain() const override { return map.domain(); }
    Space range() const override { return map.range(); }
    void apply(float a, ConstVectorView x, float b, VectorView y, Stream& s) const override {
      map.apply(a, x, b, y, s);
    }
    void apply_adjoint(float a, ConstVectorView y, float b, VectorView x, Stream& s) const override {
      map.apply_adjoint(a, y, b, x, s);
    }
    Index together() const override {
      if constexpr (BatchMap<M>) return map.together();
      return 1;
    }
    void apply(float a, ConstVectorView x, float b, VectorView y, const Batch& n, Stream& s) const override {
      if constexpr (BatchMap<M>) map.apply(a, x, b, y, n, s);
    }
    void apply_adjoint(float a, ConstVectorView y, float b, VectorView x, const Batch& n,
                       Stream& s) const override {
      if constexpr (BatchMap<M>) map.apply_adjoint(a, y, b, x, n, s);
    }
    M map;
  };
  std::shared_ptr<const Node> node_;
  bool transposed_ = false;
};

LinearOperator adjoint(LinearOperator A);

}  // namespace tandem
