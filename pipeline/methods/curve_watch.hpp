#pragma once

#include <vector>

#include "../watch/curves.hpp"
#include "../watch/live.hpp"
#include "any_solver.hpp"
#include "work.hpp"

namespace tandem::pipeline {

/// Looks at a solver after its steps, for the curves of the report and for people who watch, if these are
/// wanted. All but the objective is of the middle slice, so that it costs little beside a step. If that lies
/// on several ranks, all of them look together, and the first one has the curves and shows the slice.
class CurveWatch {
 public:
  CurveWatch(Work& work, Range slices, CurveSums& sums, LiveView& live);
  void look(int iteration, AnySolver& solver);
  void finish(int iteration, AnySolver& solver);      ///< also looks if nothing is due
  int applications() const { return applications_; }  ///< of A, for the curves alone

 private:
  void show(int iteration, AnySolver& solver);
  void take(AnySolver& solver, std::vector<float>& slice);
  std::vector<float> written(std::vector<float> slice) const;
  void compare(int iteration);
  void ask(int iteration, AnySolver& solver);

  Work& work_;
  Index local_, z_;  ///< the middle slice that is written: of the solver, and of the volume
  CurveSums& sums_;
  LiveView& live_;
  bool shows_;  ///< whether the first rank has somebody who watches
  std::vector<float> now_, before_;
  int applications_ = 0;
};

/// The curves of all chunks together.
Curves curves_of(const std::vector<Iterated>& chunks);

}  // namespace tandem::pipeline
