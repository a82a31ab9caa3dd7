#include <string>
#include <string_view>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "method.hpp"

namespace tandem::pipeline {

namespace {

void choose_subsets(Job& job) {
  if (!job.method->subsets) return;
  const Index views = views_of(job.scan);
  job.options.subsets = job.method->subsets(job.options, views);
  require<GeometryError>(*job.options.subsets >= 1 && *job.options.subsets <= views, spelled("subsets") + " ",
                         *job.options.subsets, ": the scan has ", views, " views; give a number from 1 to ",
                         views);
}

bool has_rule(const MethodOptions& o) {
  return o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp || o.stop_relative || o.stop_seconds ||
         o.stop_gap;
}

void choose_iterations(Job& job) {
  if (job.options.iterations) return;
  if (job.method->kind.updates > 0 && !has_rule(job.options)) job.options.stop_by_ncp = true;
  job.options.iterations = job.method->iterations_with(job.options.subsets.value_or(1));
}

/// Requires that the solver tells what its stopping rule needs.
void require_stop(const Job& job) {
  const MethodOptions& o = job.options;
  const auto require_told = [&](bool asked, std::string_view rule, bool Tells::*what) {
    if (!asked || job.method->kind.tells.*what) return;
    const auto name_if_told = [&](const Method& method) {
      return method.kind.tells.*what ? method.name : "";
    };
    throw GeometryError(spelled("stop") + " " + std::string(rule) + " goes with " +
                        joined(methods(), ", ", name_if_told) + ", not with " +
                        std::string(job.method->name));
  };
  require_told(o.stop_by_gcv, "gcv", &Tells::reach);
  require_told(o.stop_by_ncp, "ncp", &Tells::residual);
  require_told(o.stop_gap.has_value(), "gap", &Tells::gap);
  require<GeometryError>(!o.tikhonov_weight || !(o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp),
                         spelled("tikhonov-weight") + " keeps noise down by itself, and hides it from " +
                             spelled("stop") + " discrepancy, gcv or ncp; give one of the two");
}

/// Refuses options that need line integrals, if data stay transmissions.
void require_no_line_integrals(const Job& job) {
  if (!job.preprocessing.keeps_transmissions) return;
  const auto refuse = [&](bool asked, const std::string& what) {
    require<GeometryError>(!asked, what, ", and ", job.method->name, " takes transmissions");
  };
  refuse(job.options.initial == Initial::fbp, spelled("initial") + " fbp needs line integrals");
  refuse(job.options.stop_by_discrepancy, spelled("stop") + " discrepancy knows the noise of line integrals");
}

}  // namespace

void choose_solver_options(Job& job) {
  choose_subsets(job);
  choose_iterations(job);
  require_stop(job);
  require_no_line_integrals(job);
}

}  // namespace tandem::pipeline
