#pragma once

#include <memory>

#include "../../io/volumes/volume_file.hpp"
#include "work.hpp"

namespace tandem::pipeline {

/// Sets x to zero where few views look, in blocks that fit the data better so. FBP has no picture there, and
/// it takes solvers many steps to get rid of what it has.
void clear_unseen(const LinearOperator& A, const Array& y, Array& x);

/// The initial volumes of the slices of one worker.
class Start {
 public:
  explicit Start(Work& work);
  /// `y`: line integrals of the problem, where the worker has its vectors.
  Array operator()(const Problem& problem, const Array& y, Range slices);

 private:
  Array fbp(const Problem& problem, const Array& y, Range slices);
  void read_written(Range slices, float* to);

  Work& work_;
  FilteredBackProjection fbp_;
  std::unique_ptr<io::VolumeReader> file_;
};

}  // namespace tandem::pipeline
