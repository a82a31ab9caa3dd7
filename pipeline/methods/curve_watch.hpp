#pragma once

#include <vector>

#include "../../solvers/solver_kind.hpp"
#include "../watch/curves.hpp"
#include "../watch/live.hpp"
#include "work.hpp"

namespace tandem::pipeline {

/// Looks at a solver after its steps, for the curves of the report and for people who watch. All but the
/// objective looks at the middle slice alone, so that it costs little beside a step. If this slice lies on
/// several ranks, all of them look together, and the first one has the curves and shows the slice.
class CurveWatch {
 public:
  CurveWatch(Work& work, Range slices, CurveSums& sums, LiveView& live);
  void look(int iteration, AnySolver& solver);
  void finish(int iteration, AnySolver& solver);      ///< looks even if nothing is due
  int applications() const { return applications_; }  ///< applications of A for the curves alone

 private:
  void show(int iteration, AnySolver& solver);
  void take(AnySolver& solver, std::vector<float>& slice);
  std::vector<float> written(std::vector<float> slice) const;
  void compare(int iteration);
  void ask(int iteration, AnySolver& solver);

  Work& work_;
  Index local_, z_;  ///< number of the middle slice in the solver's volume, and in the written one
  CurveSums& sums_;
  LiveView& live_;
  bool shows_;  ///< whether somebody watches at the first rank
  std::vector<float> now_, before_;
  int applications_ = 0;
};

/// The curves of all chunks together.
Curves curves_of(const std::vector<Iterated>& chunks);

}  // namespace tandem::pipeline
