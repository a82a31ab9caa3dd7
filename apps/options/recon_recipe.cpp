#include "recon_recipe.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "../../core/units.hpp"
#include "../../io/files/text.hpp"
#include "../../options/recipe.hpp"
#include "../../options/toml.hpp"
#include "../../pipeline/methods/method.hpp"
#include "bounds_options.hpp"

namespace tandem::apps {

std::map<std::string, std::string> left_out_of(const ReconOptions& o) {
  std::map<std::string, std::string> out;
  if (o.recipe.metal_if_it_fits && !o.recipe.mends_metal) out["metal"] = "";
  if (o.recipe.circles_if_they_fit && o.recipe.padding != Padding::circle) out["padding"] = "";
  if (o.recipe.direction_if_it_fits && !o.recipe.finds_tv_direction) out["tv-direction"] = "";
  if (o.recipe.support_if_it_fits && !o.recipe.support.any()) out["support"] = "";
  return out;
}

std::string text_of_hardening(const pipeline::StepValues& steps) {
  std::string text;
  for (const double c : pipeline::option::beam_hardening.of(steps).value_or(std::vector<double>{}))
    text += (text.empty() ? "" : ",") + io::shortest(c);
  if (const auto straight = pipeline::option::straight_from.of(steps))
    text += ":straight=" + io::shortest(*straight);
  return text;
}

std::string config_of(const ReconOptions& o, const pipeline::Job& job,
                      const std::optional<pipeline::ValueRange>& range) {
  const pipeline::Recipe& taken = job.options;
  std::map<std::string, std::string> found = left_out_of(o);
  found["reconstruction-algorithm"] = toml_of({std::string(job.method_name())});
  if (o.recipe.find_axis) found["rotation-axis"] = io::shortest(job.axis_in_file);
  if (o.recipe.follow && !o.recipe.padding) found["padding"] = toml_of({"cosine"});
  if (o.recipe.padding == Padding::circle)
    found["padding"] = toml_of({"circle:attenuation=" + io::shortest(o.recipe.fbp_filter.attenuation)});
  if (taken.finds_high_level)
    found["levels"] = toml_of({io::shortest(taken.levels->first) + ':' + io::shortest(taken.levels->second)});
  if (taken.support.disc) found["support"] = toml_of({text_of_disc(taken.support)});
  if (job.method->iterates()) {
    found["iterations"] = std::to_string(*taken.iterations);
    if (!o.given("--stop") && !taken.only_watches && taken.stop_by_ncp) found["stop"] = toml_of({"ncp"});
    if (!o.given("--stop") && !taken.only_watches && taken.stop_by_stagnation)
      found["stop"] = toml_of({"stagnation"});
    if (!o.given("--stop") && taken.stop_settled) found["stop"] = toml_of({"settled"});
    for (const auto& [name, number] : job.method->kind.numbers)
      if (job.method->reads(name) &&
          !std::ranges::count(taken.numbers, name, &std::pair<std::string_view, float>::first))
        found[std::string(name)] = io::shortest(number);
    if (!o.given("--initial"))
      found["initial"] = toml_of({taken.initial == pipeline::Initial::fbp ? "fbp" : "zero"});
  }
  if (const Option* row = o.command->find("--beam-hardening");
      row->is_given() && row->given.back() == "auto" && !taken.first.dense) {
    const std::string text = text_of_hardening(taken.steps);
    found["beam-hardening"] = text.empty() ? "" : toml_of({text});
  }
  if (o.scan.how.time) found["time"] = std::to_string(*o.scan.how.time);
  if (taken.subsets && applies(o, "--subsets")) found["subsets"] = std::to_string(*taken.subsets);
  if (taken.tv_direction)
    found["tv-direction"] =
        toml_of({io::shortest(in_degrees(*taken.tv_direction)) + ":ratio=" + io::shortest(taken.tv_ratio)});
  if (taken.tv_weight)
    found["tv-weight"] = toml_of(
        {io::shortest(*taken.tv_weight) + (taken.tv_huber ? ":huber=" + io::shortest(*taken.tv_huber) : "")});
  if (range) found["range"] = toml_of({io::shortest(range->min) + ':' + io::shortest(range->max)});
  return config_text(*o.command, found, [&](const std::string& option) { return applies(o, option); });
}

}  // namespace tandem::apps
