#pragma once

// Laws that operators obey on every device, and how near the numbers of two of them are.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../operators/adjointness.hpp"
#include "../../operators/vector.hpp"
#include "operators.hpp"
#include "tolerances.hpp"

namespace tandem::test {

/// Both make the same numbers, each on its own device: relative L2.
inline void expect_alike(const LinearOperator& there, const LinearOperator& here, const std::string& what,
                         double bound = tolerance::devices, std::uint64_t seed = 2) {
  const Array x = random_array(there.domain(), seed), y = random_array(here.domain(), seed);
  EXPECT_LE(relative_error(there * x, here * y), bound) << what;
}

/// The same both ways.
inline void expect_pairs_alike(const LinearOperator& there, const LinearOperator& here,
                               const std::string& what, double forward = tolerance::devices,
                               double back = tolerance::devices) {
  expect_alike(there, here, what + ", forward", forward);
  expect_alike(adjoint(there), adjoint(here), what + ", back", back, 3);
}

inline void expect_match(const LinearOperator& A, const std::string& what,
                         double mismatch = tolerance::mismatch, double coupling = tolerance::coupling) {
  const Adjointness a = adjointness(A);
  EXPECT_LE(a.mismatch, mismatch) << what;
  EXPECT_NEAR(a.coupling, 1, coupling) << what;
}

/// Slice z of a volume, or row z of projections, as a vector of `space`, which has one alone.
inline Array one_of(const Array& all, Index z, const Space& space) {
  const Array here = on_device(all, Device::cpu());
  Array one(space.on(Device::cpu()));
  const Image<const float> from = image(ConstVectorView(here));
  const Image<float> to = image(VectorView(one));
  const bool row = space.blocks() == Blocks::rows;
  for (Index i = 0; i < to.n0; ++i)
    for (Index j = 0; j < to.n1; ++j) std::copy_n(&from(row ? i : z, row ? z : j, 0), to.n2, &to(i, j, 0));
  return on_device(one, space.device());
}

inline void expect_same_bits_in_every_run(const LinearOperator& A, const std::string& name) {
  const Array in = random_array(A.domain(), 4), out = A * in;
  for (int run = 0; run < 10; ++run) EXPECT_TRUE(same_bits(A * in, out)) << name;
}

/// These slices of `many` come out with the bits that `one` gives them alone; all of it with the same bits in
/// every run.
inline void expect_same_bits(const LinearOperator& many, const LinearOperator& one,
                             const std::vector<Index>& slices, const std::string& name) {
  expect_same_bits_in_every_run(many, name);
  const Array in = random_array(many.domain(), 4), out = many * in;
  for (const Index z : slices)
    EXPECT_TRUE(same_bits(one * one_of(in, z, one.domain()), one_of(out, z, one.range())))
        << name << ", slice " << z;
}

inline void expect_beta_zero_reads_nothing(const LinearOperator& A, const std::string& name) {
  Stream& stream = default_stream(A.domain().device());
  const Array x = random_array(A.domain(), 5), truth = A * x;
  Array y(A.range());
  fill(y, std::numeric_limits<float>::quiet_NaN(), stream);
  A.apply(1, x, 0, y, stream);
  EXPECT_TRUE(same_bits(y, truth)) << name;
  A.apply(2, x, -1, y, stream);  // 2 A x - A x
  EXPECT_LE(relative_error(y, truth), tolerance::devices) << name;
}

/// One of three slices, the middle one, holds a number that is not finite. The others keep their bits, and so
/// do all of its pixels that are finite: no pixel looks right and is wrong.
inline void expect_infinity_to_be_seen(const LinearOperator& three, const LinearOperator& one,
                                       const std::string& name) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Array q = random_array(three.domain(), 6), truth = three * q;
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    Array with = on_device(q, Device::cpu());
    const bool volume = with.space().blocks() == Blocks::slices;
    image(VectorView(with))(volume ? 1 : 20, volume ? 20 : 1, 30) = bad;
    const Array out = three * on_device(with, q.space().device());
    for (const Index z : {0, 2})
      EXPECT_TRUE(same_bits(one_of(out, z, one.range()), one_of(truth, z, one.range())))
          << name << ", slice " << z << " beside " << bad;
    const Array own = on_device(one_of(out, 1, one.range()), Device::cpu()),
                without = on_device(one_of(truth, 1, one.range()), Device::cpu());
    Index seen = 0, wrong = 0;
    for (Index i = 0; i < own.size(); ++i)
      if (!std::isfinite(own.data()[i]))
        ++seen;
      else if (own.data()[i] != without.data()[i])
        ++wrong;
    EXPECT_GT(seen, 0) << name << ", " << bad;
    EXPECT_EQ(wrong, 0) << name << ", " << bad;
  }
}

/// A number that is not finite is seen wherever `exact`, which lies on the CPU, has a coefficient for it.
inline void expect_infinity_where_it_counts(const LinearOperator& seen, const LinearOperator& exact,
                                            const std::string& name) {
  Array one(exact.domain()), x = random_array(exact.domain(), 2);
  const auto [n0, n1, n2] = x.space().shape();
  const Index middle = (n0 / 2 * n1 + n1 / 2) * n2 + n2 / 2;
  one.data()[middle] = 1, x.data()[middle] = std::numeric_limits<float>::infinity();
  const Array counts = exact * one, y = on_device(seen * on_device(x, seen.domain().device()), Device::cpu());
  Index met = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (counts.data()[i] < 1e-3f) continue;
    ++met;
    EXPECT_FALSE(std::isfinite(y.data()[i])) << name << ", at " << i;
  }
  EXPECT_GT(met, 10) << name;
}

}  // namespace tandem::test
