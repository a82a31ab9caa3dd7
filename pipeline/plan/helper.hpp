#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace tandem::pipeline {

/// The devices of a recipe in the order in which a plan has them. A CPU beside GPUs comes last, as a helper:
/// where slices are apart, it takes chunks when that makes the run shorter (core/desk.hpp). Elsewhere it is
/// left out: GPUs share a volume in tiles that are equal work, and would wait for it.
std::vector<Device> devices_for(const Scan& scan, std::vector<Device> devices);

/// The kernels that a job needs and no GPU has: "projector for a curved detector". Empty: GPUs have all.
std::string lacking_on_gpus(const Job& job, const Recipe& recipe);

/// Takes the CPU beside GPUs out of the plan, so that the plan is for the GPUs alone, and returns it. Empty
/// if there is no such CPU.
std::optional<Worker> without_helper(Plan& plan);

/// Gives a plan of GPUs its helper, after the chunks have been chosen. The helper gets the `threads` that are
/// left: reading and writing need one each, and so does each worker on a GPU. The helper is left out, with a
/// warning, if no thread is left, if there are too few slices for it to take any, or if its memory does not
/// fit.
void add_helper(Plan& plan, Worker helper, int threads, const std::function<bool()>& fits);

/// The sizes of chunks for the conveyor; empty if the plan has no helper.
std::vector<double> sizes_for_helper(const Plan& plan, const std::vector<Range>& chunks);

}  // namespace tandem::pipeline
