#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "step.hpp"

namespace tandem::pipeline {

/// A step that is asked for, and its place among them.
template <class Work>
struct Asked {
  std::size_t place;
  Work work;
};

/// Neighbouring steps that need the same at once: they make one pass over the data.
template <class Work>
using StepsOn = std::vector<Asked<Work>>;
using Group = std::variant<StepsOn<RowWork>, StepsOn<SinogramWork>, StepsOn<ProjectionWork>>;

/// All steps that are asked for, in the order in which they are done.
struct Chain {
  std::vector<const Step*> steps;
  std::vector<Group> before_binning, after_binning;
};

/// Values of options without this one, and without all that is said behind it.
StepValues without(StepValues values, const StepOption& option);

/// Steps of the table that can wait go behind those on rows that follow them. So without a step on sinograms
/// or projections, rows need no second pass.
Chain chain_of(const Preprocessing& how);

/// The steps asked for that a GPU does not do, in words. Then the CPU does all steps.
std::string left_to_cpu(const Preprocessing& how);
/// Whether a GPU does all steps that are asked for.
bool gpu_does_all(const Preprocessing& how);

/// The most bytes that steps hold on a GPU beside the data (view, row, bin), and whether they hold the counts
/// once more.
double gpu_bytes_of_steps(const Preprocessing& how, Shape shape);
bool gpu_changes_counts(const Preprocessing& how);

/// The rows that the steps together need beside those of a chunk.
RowMargin margin_of(const Preprocessing& how);

/// The most bytes that all threads together hold for the steps, beside the data (view, row, bin) themselves.
/// `frame`: a frame of the chunk, before binning.
double bytes_of_steps(const Preprocessing& how, Shape shape, Shape frame);

}  // namespace tandem::pipeline
