#pragma once

#include <functional>
#include <map>
#include <memory>
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
#include "bounds.hpp"
#include "levels.hpp"
#include "regulariser.hpp"
#include "solver.hpp"

namespace TANDEM_PUBLIC tandem {

/// What solvers of a type tell beside their solution, by the concepts that this room has.
struct Tells {
  bool state = false;                                              ///< `ListsItsState`, as check-points need
  bool reach = false, residual = false, gap = false, end = false;  ///< as stopping rules need
  bool objective = false;                                          ///< as curves need
};
template <IterativeSolver S>
constexpr Tells told_by{ListsItsState<S>, TellsItsReach<S>, ShowsItsResidual<S>,
                        TellsItsGap<S>,   TellsItsEnd<S>,   TellsItsObjective<S>};

/// A solver of any type, so that a table can make it.
class AnySolver {
 public:
  template <IterativeSolver S>
  explicit AnySolver(S made) {
    const auto owned = std::make_shared<S>(std::move(made));
    S* const solver = owned.get();
    owned_ = owned;
    step_ = [solver](const ActiveBlocks& active) { solver->step(active); };
    solution_ = [solver]() -> const Array& { return solver->solution(); };
    take_ = [solver] { return std::move(*solver).solution(); };
    residual_norms_ = [solver]() -> const std::vector<double>& { return solver->residual_norms(); };
    if constexpr (ShowsItsResidual<S>) residual_ = [solver] { return solver->residual(); };
    if constexpr (TellsItsReach<S>) {
      falls_ = [solver]() -> const std::vector<double>& { return solver->falls(); };
      traces_ = [solver] { return solver->traces(); };
    }
    if constexpr (ListsItsState<S>) state_ = [solver] { return solver->state(); };
    if constexpr (GrowsWithSteps<S>) make_room_ = [solver](int steps) { solver->make_room(steps); };
    if constexpr (TellsItsObjective<S>) objective_ = [solver] { return solver->objective(); };
    if constexpr (TellsItsGap<S>) gaps_ = [solver] { return solver->gaps(); };
    if constexpr (TellsItsEnd<S>) distances_ = [solver] { return solver->distances(); };
  }
  AnySolver(AnySolver&&) = default;

  void step(const ActiveBlocks& active) {
    step_(active);
    if (follower_) follower_->step(active);
  }
  const Array& solution() const& { return solution_(); }
  Array solution() && { return take_(); }
  const std::vector<double>& residual_norms() const { return residual_norms_(); }

  /// The residual; null if the solver does not show it.
  const Array* residual() const { return residual_ ? residual_() : nullptr; }
  bool tells_its_reach() const { return traces_ != nullptr; }
  const std::vector<double>& falls() const {  ///< empty if the solver does not tell its reach
    static const std::vector<double> none;
    return falls_ ? falls_() : none;
  }
  std::vector<double> traces() { return traces_(); }  ///< @pre the solver tells its reach
  std::optional<SolverState> state();                 ///< empty if the solver does not list it
  void make_room(int steps) {                         ///< makes room for the state after so many steps
    if (make_room_) make_room_(steps);
    if (follower_) follower_->make_room(steps);
  }
  /// Takes a follower along, see Sums. The follower was made right after this solver, from these signs.
  void lead(AnySolver follower, Array signs) {
    follower_ = std::make_unique<AnySolver>(std::move(follower));
    signs_.emplace(std::move(signs));
  }
  std::vector<double> degrees_of_freedom() const {  ///< @pre there is a follower
    return tandem::degrees_of_freedom(*signs_, *follower_->residual());
  }
  std::vector<double> gaps() { return gaps_(); }            ///< @pre the solver tells its gap
  std::vector<double> distances() { return distances_(); }  ///< @pre the solver tells its end
  /// The objective, one value per block; empty if the solver does not tell it.
  std::vector<double> objective() { return objective_ ? objective_() : std::vector<double>(); }

 private:
  std::shared_ptr<void> owned_;  // the solver that the functions call
  std::function<void(const ActiveBlocks&)> step_;
  std::function<const Array&()> solution_;
  std::function<Array()> take_;
  std::function<const std::vector<double>&()> residual_norms_, falls_;
  std::function<const Array*()> residual_;
  std::function<std::vector<double>()> traces_, objective_, gaps_, distances_;
  std::function<SolverState()> state_;
  std::function<void(int)> make_room_;
  std::unique_ptr<AnySolver> follower_;
  std::optional<Array> signs_;
};

inline std::optional<SolverState> AnySolver::state() {
  if (!state_) return {};
  std::optional<SolverState> all = state_();
  if (!follower_) return all;
  SolverState of_follower = follower_->state().value();
  for (StatePart& part : of_follower) {
    part.name.insert(0, "follower's ");
    all->push_back(std::move(part));
  }
  return all;
}

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
  SolverNumbers numbers = {};
  std::optional<Array> data_weights = {};  ///< for a kind that weighs data by itself; empty: all weigh 1
  std::optional<Array> blank = {};         ///< counts without an object
  std::optional<Regulariser> regulariser = {};
  std::vector<float> weights = {};  ///< weights of the regulariser: one, or one for each block
  std::optional<Levels> levels = {};
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
  /// Default of the most iterations of the program. A solver that tells its reach may stop earlier, by
  /// stagnation, if the user asks for neither iterations nor a rule.
  int iterations = 30;
  /// The same of the most updates of the volume, which the subsets share, in the place of `iterations`. Then
  /// ncp may stop earlier. 0: `iterations` counts.
  int updates = 0;
  Index (*subsets)(Index views) = nullptr;  ///< default of the number of subsets; null: it takes all views
  SolverCost cost = {};
  Tells tells = {};
  AnySolver (*make)(SolverInput input) = nullptr;

  bool reads(std::string_view option) const;
  /// Whether another solver can follow one of this kind, so that it tells degrees of freedom: with steps that
  /// are linear in data in the order of the scan.
  bool leads() const { return tells.reach && !takes_blank && !subsets; }
  /// A solver of this kind. Numbers that the input does not give are those of `numbers`.
  AnySolver solver(SolverInput input) const;
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

std::span<const SolverKind> solver_kinds();

/// The kind with this name: that of the program, or that of the class if the program does not have it.
/// @throws GeometryError for another name; it lists the known ones.
const SolverKind& solver_kind(std::string_view name);

}  // namespace tandem
