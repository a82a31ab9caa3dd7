#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "../operators/subsets.hpp"
#include "any_solver.hpp"
#include "bounds.hpp"
#include "cost.hpp"
#include "regulariser.hpp"
#include "stopping/cross_validation.hpp"

namespace TANDEM_PUBLIC tandem {

/// Numbers that a kind of solver takes, by their names.
using SolverNumbers = std::map<std::string_view, float>;

/// A number that the program takes as an option of this name, for all kinds that read it.
struct NumberOption {
  std::string_view name, help;
  double lowest, highest;
};

/// The equations A x = b and what else solvers are made of. Each takes what its kind says.
struct SolverInput {
  std::variant<LinearOperator, Subsets> A;  ///< subsets if the kind goes through subsets of the views
  Array b, x0;
  Sums sums = {};  ///< sums of a solver that leads or follows another one
  Bounds bounds = {};
  SolverNumbers numbers = {};              ///< all that the kind names
  std::optional<Array> data_weights = {};  ///< for a kind that weighs data by itself; empty: all weigh 1
  std::optional<Array> blank = {};         ///< counts without an object
  std::optional<Regulariser> regulariser = {};
  std::vector<float> weights = {};  ///< weights of the regulariser: one, or one for each block
};

/// What data weights w multiply. Least squares with rows times sqrt(w) are those of the sum of w (Ax - b)^2.
/// Steps that divide by sums of rows, as those of SIRT and MLEM, do the same with rows times w. A solver may
/// also take w by itself.
enum class DataWeights { by_roots, by_rows, by_itself };

/// The pair that a solver needs: a back-projection that is the transpose of the projection, one that is
/// nearly so, or any.
enum class NeededPair { matched, nearly_matched, any };

/// A kind of solver: a row of the table. Methods of the program, classes of Python and pages of docs are made
/// from it.
struct SolverKind {
  std::string_view name = {};        ///< in the program; empty: the program does not have it
  std::string_view class_name = {};  ///< in C++ and Python; empty: they have it under another name
  std::string_view help = {};        ///< a few words, for the program
  std::string_view docs = {};        ///< what the class does, for Python
  /// Options of the program that it reads and that not every solver reads.
  std::vector<std::string_view> options = {};
  SolverNumbers numbers = {};             ///< defaults of the numbers that it takes
  std::vector<NumberOption> brings = {};  ///< options of the program that it declares
  Bounds bounds = {};                     ///< default of its bounds, if it reads them
  DataWeights data_weights = DataWeights::by_roots;
  bool takes_blank = false;  ///< whether b are counts, and a blank scan goes with them
  NeededPair pair = NeededPair::matched;
  /// Whether no voxel and no datum may be negative. Then data below zero count as zero, and the Fourier model
  /// is refused, since its coefficients may be negative.
  bool only_positive = false;
  int iterations = 30;  ///< default of the program
  /// Default of the most updates of the volume, which the subsets share, in the place of `iterations`. If the
  /// user asks for neither iterations nor a rule, ncp may stop earlier, before the method fits noise. 0:
  /// `iterations` counts.
  int updates = 0;
  Index (*subsets)(Index views) = nullptr;  ///< default of the number of subsets; null: it takes all views
  SolverCost cost = {};
  Tells tells = {};
  AnySolver (*make)(SolverInput input) = nullptr;

  bool reads(std::string_view option) const;
};

/// A kind with all that its type says about itself.
template <IterativeSolver S>
SolverKind kind_of(SolverKind kind) {
  kind.cost = S::cost;
  kind.tells = told_by<S>;
  return kind;
}

/// A solver of A, b, x0 and `more`.
template <class S, class... More>
AnySolver made(SolverInput& input, More... more) {
  constexpr bool of_all_views = std::is_constructible_v<S, LinearOperator, Array, Array, More...>;
  using Operator = std::conditional_t<of_all_views, LinearOperator, Subsets>;
  return AnySolver(
      S(std::get<Operator>(std::move(input.A)), std::move(input.b), std::move(input.x0), std::move(more)...));
}

/// All kinds.
std::span<const SolverKind> solver_kinds();

}  // namespace tandem
