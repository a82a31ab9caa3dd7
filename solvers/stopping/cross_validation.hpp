#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/public.hpp"
#include "../run.hpp"

namespace TANDEM_PUBLIC tandem {

/// The source of the sums that decide the lengths of a solver's steps. A solver computes its own sums, or
/// follows: then it takes those of another solver. So a follower makes the same steps from other data, and
/// its residual is the same polynomial p(A At) of these data.
class Sums {
 public:
  Sums() = default;  ///< sums that are computed
  /// A pair: the first computes sums and passes them on, and the second takes them in the same order. So make
  /// the second solver, and each of its steps, right after the first one.
  static std::pair<Sums, Sums> leader_and_follower();
  std::vector<double> dot(ConstVectorView a, ConstVectorView b, Stream& stream);
  std::vector<double> norm(ConstVectorView a, Stream& stream);

 private:
  std::vector<double> passed(std::vector<double> (*sums)(ConstVectorView, ConstVectorView, Stream&),
                             ConstVectorView a, ConstVectorView b, Stream& stream);

  std::shared_ptr<std::deque<std::vector<double>>> passed_;  // null for a solver alone
  bool follows_ = false;
};

/// An estimate of the degrees of freedom t = trace(1 - p(A At)) of each block, from one vector of signs.
/// `left`: the residual of a follower that started with the signs. Source: Hutchinson 1990.
std::vector<double> degrees_of_freedom(const Array& signs, const Array& left);

/// Stops one step after the minimum of generalised cross-validation, |b - Ax|^2 / (data - factor t)^2, when
/// it grows for the first time. Then Ax begins to fit noise, of any size. `freedom`: t of the present
/// solution, one per block, asked once per iteration. `data` has one number per block. The definition has the
/// factor 1; a factor of 1.4 prevents a fit of noise better. Sources: Golub, Heath, Wahba, Technometrics
/// 21(2), 1979; the factor: Kim, Gu, Journal of the Royal Statistical Society B 66(2), 2004.
StopRule cross_validation(std::function<std::vector<double>()> freedom, std::vector<Index> data,
                          double factor = 1);

}  // namespace tandem
