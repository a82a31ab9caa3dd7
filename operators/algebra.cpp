#include "algebra.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

void require_equal(const char* name, const Space& a, const Space& b, const char* which) {
  require<SpaceError>(a.fits(b), name, ": the operators have different ", which, "s, of ", a.size(), " and ",
                      b.size(), " elements; their spaces must fit");
}

struct Product {
  LinearOperator A, B;
  Space domain() const { return B.domain(); }
  Space range() const { return A.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    Array between(B.range(), stream);
    B.apply(1, x, 0, between, stream);
    A.apply(alpha, between, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    Product{adjoint(B), adjoint(A)}.apply(alpha, y, beta, x, stream);
  }

  Index together() const { return std::max(A.together(), B.together()); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, const Batch& n, Stream& stream) const {
    const Index size = B.range().size();
    Array all(Space({n.count, 1, size}, Blocks::whole, stream.device()), stream);
    const VectorView between{all.data(), B.range()};
    B.apply(1, x, 0, between, {n.count, n.step_in, size}, stream);
    A.apply(alpha, between, beta, y, {n.count, size, n.step_out}, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, const Batch& n,
                     Stream& stream) const {
    Product{adjoint(B), adjoint(A)}.apply(alpha, y, beta, x, n, stream);
  }
};

// The operators below treat a vector and a batch in the same way: `how` is a stream, or a batch and a stream.

struct Scaled {
  float s;
  LinearOperator A;
  Space domain() const { return A.domain(); }
  Space range() const { return A.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, auto&... how) const {
    A.apply(s * alpha, x, beta, y, how...);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, auto&... how) const {
    A.apply_adjoint(s * alpha, y, beta, x, how...);
  }
  Index together() const { return A.together(); }
};

struct Sum {
  LinearOperator A, B;
  Space domain() const { return A.domain(); }
  Space range() const { return A.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, auto&... how) const {
    A.apply(alpha, x, beta, y, how...);
    B.apply(alpha, x, 1, y, how...);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, auto&... how) const {
    A.apply_adjoint(alpha, y, beta, x, how...);
    B.apply_adjoint(alpha, y, 1, x, how...);
  }
  Index together() const { return std::max(A.together(), B.together()); }
};

struct Stack {
  std::vector<LinearOperator> rows;
  Space sum;
  Space domain() const { return rows.front().domain(); }
  Space range() const { return sum; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, auto&... how) const {
    for (int i = 0; i < std::ssize(rows); ++i) rows[i].apply(alpha, x, beta, y.part(i), how...);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, auto&... how) const {
    for (int i = 0; i < std::ssize(rows); ++i)
      rows[i].apply_adjoint(alpha, y.part(i), i == 0 ? beta : 1, x, how...);
  }
  Index together() const { return std::ranges::max_element(rows, {}, &LinearOperator::together)->together(); }
};

struct Identity {
  Space space;
  Space domain() const { return space; }
  Space range() const { return space; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    axpby(alpha, x, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    axpby(alpha, y, beta, x, stream);
  }
};

struct Diagonal {
  std::shared_ptr<const Array> weights;
  Space domain() const { return weights->space(); }
  Space range() const { return weights->space(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    Array scaled = weights->clone(stream);
    multiply(x, scaled, stream);
    axpby(alpha, scaled, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    apply(alpha, y, beta, x, stream);
  }
};

struct UnmatchedPair {
  LinearOperator forward, backward;
  Space domain() const { return forward.domain(); }
  Space range() const { return forward.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, auto&... how) const {
    forward.apply(alpha, x, beta, y, how...);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, auto&... how) const {
    backward.apply(alpha, y, beta, x, how...);
  }
  Index together() const { return std::max(forward.together(), backward.together()); }
};

struct FromFunctions {
  Space from, to;
  Overwrite forward, backward;
  Space domain() const { return from; }
  Space range() const { return to; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    Array result(to, stream);
    forward(x, result, stream);
    axpby(alpha, result, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    FromFunctions{to, from, backward, forward}.apply(alpha, y, beta, x, stream);
  }
};

}  // namespace

LinearOperator operator*(LinearOperator A, LinearOperator B) {
  require<SpaceError>(A.domain().fits(B.range()), "operator*: the left operator takes ", A.domain().size(),
                      " elements, the right one gives ", B.range().size(),
                      " (or belongs to another scan); their spaces must fit");
  return Product{std::move(A), std::move(B)};
}

LinearOperator operator*(float s, LinearOperator A) { return Scaled{s, std::move(A)}; }

LinearOperator operator+(LinearOperator A, LinearOperator B) {
  require_equal("operator+", A.domain(), B.domain(), "domain");
  require_equal("operator+", A.range(), B.range(), "range");
  return Sum{std::move(A), std::move(B)};
}

LinearOperator operator-(LinearOperator A, LinearOperator B) { return std::move(A) + -1.0f * std::move(B); }

LinearOperator vstack(std::vector<LinearOperator> rows) {
  require<SpaceError>(!rows.empty(), "vstack: 0 operators; at least 1 is needed");
  std::vector<Space> ranges;
  for (const LinearOperator& row : rows) {
    require_equal("vstack", row.domain(), rows.front().domain(), "domain");
    ranges.push_back(row.range());
  }
  if (rows.size() == 1) return rows.front();
  Space sum = Space::direct_sum(std::move(ranges));
  return Stack{std::move(rows), std::move(sum)};
}

LinearOperator hstack(std::vector<LinearOperator> columns) {
  for (LinearOperator& column : columns) column = adjoint(column);
  return adjoint(vstack(std::move(columns)));
}

LinearOperator identity(Space space) { return Identity{std::move(space)}; }

LinearOperator diagonal(Array weights) { return Diagonal{std::make_shared<const Array>(std::move(weights))}; }

LinearOperator unmatched_pair(LinearOperator forward, LinearOperator backward) {
  require_equal("unmatched_pair", forward.range(), backward.domain(), "projection space");
  require_equal("unmatched_pair", forward.domain(), backward.range(), "volume space");
  return UnmatchedPair{std::move(forward), std::move(backward)};
}

LinearOperator make_operator(Space domain, Space range, Overwrite forward, Overwrite adjoint) {
  return FromFunctions{std::move(domain), std::move(range), std::move(forward), std::move(adjoint)};
}

Array operator*(const LinearOperator& A, const Array& x) {
  Stream& stream = default_stream(A.range().device());
  Array y(A.range(), stream);
  A.apply(1, x, 0, y, stream);
  stream.synchronize();
  return y;
}

}  // namespace tandem
