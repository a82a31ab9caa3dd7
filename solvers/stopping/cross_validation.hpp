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

/// Where a solver has the sums from that decide the lengths of its steps. A follower takes those of another
/// solver: it makes the same steps from other data, so that its residual is the same polynomial p(A At) of
/// these.
class Sums {
 public:
  Sums() = default;  ///< computes them
  /// The first one computes sums and passes them on, the second one takes these, in their order: make its
  /// solver, and each step, right after that of the first one.
  static std::pair<Sums, Sums> leader_and_follower();
  std::vector<double> dot(ConstVectorView a, ConstVectorView b, Stream& stream);
  std::vector<double> norm(ConstVectorView a, Stream& stream);

 private:
  std::vector<double> passed(std::vector<double> (*sums)(ConstVectorView, ConstVectorView, Stream&),
                             ConstVectorView a, ConstVectorView b, Stream& stream);

  std::shared_ptr<std::deque<std::vector<double>>> passed_;  // null: alone
  bool follows_ = false;
};

/// The degrees of freedom t = trace(1 - p(A At)) of each block, as far as one vector of signs tells, from
/// what a follower that started with the signs has left of them. Source: Hutchinson 1990.
std::vector<double> degrees_of_freedom(const Array& signs, const Array& left);

/// Stops a step after generalised cross-validation, |b - Ax|^2 / (data - factor t)^2, has been least, where
/// it grows for the first time. Ax then begins to fit noise, of any size. `freedom`: t of the present
/// solution, one a block, asked once an iteration. `data` has one number per block. A factor of 1 is that of
/// the definition; 1.4 keeps it from fitting noise. Sources: Golub, Heath, Wahba, Technometrics 21(2), 1979;
/// the factor: Kim, Gu, Journal of the Royal Statistical Society B 66(2), 2004.
StopRule cross_validation(std::function<std::vector<double>()> freedom, std::vector<Index> data,
                          double factor = 1);

}  // namespace tandem
