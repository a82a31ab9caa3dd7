#include "chain.hpp"

#include <algorithm>

#include "../../core/names.hpp"
#include "../../core/parallel.hpp"

namespace tandem::pipeline {

namespace {

/// Adds the work of a step to the last group if that is of its kind, else to a new one.
template <class Work>
void append(std::vector<Group>& groups, std::size_t place, Work work) {
  if (groups.empty() || !std::holds_alternative<StepsOn<Work>>(groups.back()))
    groups.emplace_back(StepsOn<Work>{});
  std::get<StepsOn<Work>>(groups.back()).push_back({place, std::move(work)});
}

void append(Chain& chain, const Step& step, const Preprocessing& how) {
  const std::size_t place = chain.steps.size();
  chain.steps.push_back(&step);
  std::vector<Group>& groups = step.before_binning ? chain.before_binning : chain.after_binning;
  if (step.on_row)
    append(groups, place, step.on_row(how));
  else if (step.on_sinogram)
    append(groups, place, step.on_sinogram(how));
  else
    append(groups, place, step.on_projection(how));
}

}  // namespace

StepValues without(StepValues values, const StepOption& option) {
  values.erase(std::string(option.name));
  for (const StepOption& behind : option.behind) values.erase(std::string(behind.name));
  return values;
}

Chain chain_of(const Preprocessing& how) {
  Chain chain;
  std::vector<const Step*> waiting;
  const auto add_waiting = [&] {
    for (const Step* step : waiting) append(chain, *step, how);
    waiting.clear();
  };
  for (const Step& step : how.table()) {
    if (!step.asked_for(how)) continue;
    if (step.can_wait) {
      waiting.push_back(&step);
      continue;
    }
    if (!step.on_row && !step.before_binning) add_waiting();
    append(chain, step, how);
  }
  add_waiting();
  return chain;
}

std::string left_to_cpu(const Preprocessing& how) {
  return joined(how.table(), ", ", [&](const Step& step) {
    if (!step.asked_for(how) || step.gpu_can(how)) return std::string();
    std::string words(step.name);
    if (step.kind) words.append(" ").append(step.kind(how));
    return words;
  });
}

bool gpu_does_all(const Preprocessing& how) { return left_to_cpu(how).empty(); }

RowMargin margin_of(const Preprocessing& how) {
  RowMargin all;
  for (const Step& step : how.table())
    if (step.margin && step.asked_for(how)) all = all.then(step.margin(how));
  return all;
}

double gpu_bytes_of_steps(const Preprocessing& how, Shape shape) {
  double most = 0;
  for (const Step& step : how.table())
    if (step.gpu_bytes && step.asked_for(how)) most = std::max(most, step.gpu_bytes(how, shape));
  return most;
}

bool gpu_changes_counts(const Preprocessing& how) {
  return std::ranges::any_of(how.table(), [&](const Step& step) {
    return step.before_binning && step.on_gpu && step.asked_for(how);
  });
}

double bytes_of_steps(const Preprocessing& how, Shape shape, Shape frame) {
  double most = 0;
  for (const Step& step : how.table()) {
    if (!step.asked_for(how)) continue;
    if (step.bytes_a_thread) most = std::max(most, step.bytes_a_thread(how, shape));
    if (step.before_binning && step.on_projection)
      most = std::max(most, double{sizeof(float)} * (frame[1] * frame[2]));
  }
  return most * std::min<Index>(thread_count(), std::max(shape[0], shape[1]));
}

}  // namespace tandem::pipeline
