#include <string>
#include <string_view>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../beams/ray_gap.hpp"
#include "method.hpp"
#include "voxel_bounds.hpp"

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

/// Whether the solver goes through the stages of levels; others of a comparison do not.
bool has_stages(const Job& job) { return job.options.levels && job.method->reads("levels"); }

bool has_rule(const Recipe& o) {
  return o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp || o.stop_by_stagnation || o.stop_relative ||
         o.stop_seconds || o.stop_gap || o.stop_settled;
}

/// Chooses the rule of the method, if there is none. Iterations that were asked for are made all the same.
void choose_rule(Job& job) {
  Recipe& o = job.options;
  const SolverKind& kind = job.method->kind;
  if (has_rule(o) || o.tikhonov_weight) return;
  o.stop_by_ncp = kind.updates > 0;
  o.stop_by_stagnation = !o.stop_by_ncp && kind.tells.reach;
  o.only_watches = o.iterations && has_rule(o);
  if (kind.tells.end && !o.iterations && !has_stages(job)) o.stop_settled = usual_distance;
}

void choose_iterations(Job& job) {
  if (!job.options.iterations && has_stages(job)) job.options.iterations = Levels{}.steps();
  if (!job.options.iterations)
    job.options.iterations = job.method->iterations_with(job.options.subsets.value_or(1));
}

/// Requires that the solver tells what its stopping rule needs.
void require_stop(const Job& job) {
  const Recipe& o = job.options;
  const auto require_told = [&](bool asked, std::string_view rule, const auto& told) {
    if (!asked || told(job.method->kind)) return;
    const auto name_if_told = [&](const Method& method) { return told(method.kind) ? method.name : ""; };
    throw GeometryError(spelled("stop") + " " + std::string(rule) + " goes with " +
                        joined(methods(), ", ", name_if_told) + ", not with " +
                        std::string(job.method->name));
  };
  require_told(o.stop_by_gcv, "gcv", [](const SolverKind& kind) { return kind.leads(); });
  require_told(o.stop_by_stagnation, "stagnation", [](const SolverKind& kind) { return kind.tells.reach; });
  require_told(o.stop_by_ncp, "ncp", [](const SolverKind& kind) { return kind.tells.residual; });
  require_told(o.stop_gap.has_value(), "gap", [](const SolverKind& kind) { return kind.tells.gap; });
  require_told(o.stop_settled.has_value(), "settled", [](const SolverKind& kind) { return kind.tells.end; });
  require<GeometryError>(!has_stages(job) || *o.iterations >= Levels::stages + 2, spelled("iterations"), " ",
                         o.iterations.value_or(0), ": ", spelled("levels"), " needs ", Levels::stages + 2,
                         " or more, for its stages");
  require<GeometryError>(!has_stages(job) || !has_rule(o), spelled("stop"),
                         " ends steps before the stages of ", spelled("levels"),
                         " are over; leave it out, or give ", spelled("iterations"), " N in its place");
  require<GeometryError>(!o.tikhonov_weight || !(o.stop_by_discrepancy || o.stop_by_gcv || o.stop_by_ncp ||
                                                 o.stop_by_stagnation),
                         spelled("tikhonov-weight") + " keeps noise down by itself, and hides it from " +
                             spelled("stop") + " discrepancy, gcv, ncp or stagnation; give one of the two");
}

/// Refuses options that need line integrals, if the method takes transmissions.
void require_no_line_integrals(const Job& job) {
  if (!job.method->kind.takes_blank) return;
  const auto refuse = [&](bool asked, const std::string& what) {
    require<GeometryError>(!asked, what, ", and ", job.method->name, " takes transmissions");
  };
  refuse(job.preprocessing.keeps_transmissions && job.options.initial == Initial::fbp,
         spelled("initial") + " fbp needs line integrals");
  refuse(job.options.stop_by_discrepancy, spelled("stop") + " discrepancy knows the noise of line integrals");
}

/// Takes the middle direction of the views, where that is asked for.
void choose_direction(Job& job) {
  if (!job.options.finds_tv_direction || job.options.tv_direction) return;
  const RayGap gap = widest_ray_gap(job.scan);
  require<GeometryError>(gap.is_wide(), spelled("tv-direction"),
                         " auto: the views look from all around, with no gap of ", in_degrees(gap.least),
                         " degrees between equal steps; leave it out, or give degrees");
  job.options.tv_direction = gap.middle_of_arc;
}

/// Whether voxels have a highest value, as far as options tell; files may still have none.
bool has_highest(const Recipe& o) { return o.bounds().highest < no_bound || !o.highest_file.empty(); }

/// Requires that the shell has a value, and leaves a middle of a disc.
void require_support(const Job& job) {
  const Support& support = job.options.support;
  const double shell = support.shell.value_or(0);
  const char* unit = job.pitch_known ? " mm" : " pixels";
  require<GeometryError>(!support.shell || has_highest(job.options), spelled("shell"),
                         " has the highest value of ", spelled("bounds"), ", and ",
                         job.options.bounds().highest, " is no bound; give a number");
  if (!support.disc) return;
  const double radius = support.disc->radius;
  require<GeometryError>(radius > 0, spelled("support"), " disc: radius ", radius, unit,
                         "; a number above 0 is needed");
  require<GeometryError>(shell < radius, spelled("shell"), " ", shell, unit, ": the support has a radius of ",
                         radius, unit, "; give a thinner shell");
}

}  // namespace

void choose_solver_options(Job& job) {
  choose_subsets(job);
  choose_rule(job);
  choose_iterations(job);
  require_stop(job);
  require_no_line_integrals(job);
  require_support(job);
  choose_direction(job);
}

}  // namespace tandem::pipeline
