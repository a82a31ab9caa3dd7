#include "method_options.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../io/files/text.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../solvers/solver_kind.hpp"
#include "command_line.hpp"

namespace tandem::apps {

namespace {

using pipeline::Initial;
using pipeline::Method;
using pipeline::Recipe;

/// The default iterations of all methods in words: "sirt 30, os-sirt 10, ...".
std::string words_of_iterations() {
  return joined(pipeline::methods(), ", ", [](const Method& m) {
    if (!m.iterates()) return std::string();
    return std::string(m.name) + " " +
           (m.kind.updates > 0   ? std::to_string(m.kind.updates) + " updates or fewer, by ncp"
            : m.kind.tells.reach ? std::to_string(m.kind.iterations) + " or fewer"
                                 : std::to_string(m.kind.iterations));
  });
}

/// The default initial volumes in words: "zero; of tv fbp".
std::string words_of_initials() {
  return "zero; of " +
         joined(pipeline::methods(), " and ",
                [](const Method& m) { return m.iterates() && m.initial == Initial::fbp ? m.name : ""; }) +
         " fbp";
}

/// The default subsets in words: "os-sirt 10, ...".
std::string words_of_subsets() {
  constexpr Index many = 1'000'000;
  return joined(pipeline::methods(), ", ", [](const Method& m) {
    if (!m.reads("subsets")) return std::string();
    return std::string(m.name) + " " + std::to_string(m.subsets({}, many));
  });
}

void add_choice_of_method(CLI::App& c, ReconOptions& o) {
  heading(c, "Method");
  add_choice(c, "--reconstruction-algorithm", o.algorithm, names_of_methods(),
             "one of those below (default fbp, for a cone beam fdk)")
      ->type_name("NAME")
      ->option_text(of_volume);
  c.add_option("--compare", o.compare,
               "in the place of -o: make volumes by several methods, and of them one picture of the middle "
               "slices (--preview) and one table; an option holds for the methods that read it")
      ->type_name("A,B,C")
      ->option_text(of_run);
  const std::vector<std::string> models{"automatic", "pixel_driven",        "joseph",
                                        "fourier",   "separable_footprint", "hierarchical"};
  c.add_option(
       "--model", o.model,
       "how shadows are computed. Parallel beam: fourier goes through frequencies, in O(N^2 log N) "
       "operations a slice (default automatic: the faster one of pixel_driven and fourier). Cone and fan "
       "beam: hierarchical goes through groups of views, in O(N^3 log N) (default automatic: "
       "separable_footprint, or for fdk on a CPU the faster one of both). Behind it may stand the relative "
       "error of what is back-projected: fourier:accuracy=1e-3, 1e-4 or 1e-5 (default 1e-4); "
       "hierarchical:accuracy=1e-2, 3e-3 or 1e-3 (default 1e-2)")
      ->transform(with_detail(one_of(models), "accuracy", one_of({"1e-2", "3e-3", "1e-3", "1e-4", "1e-5"})))
      ->type_name(joined(models, "|"))
      ->option_text(of_volume);
}

void parse_padding(Recipe& r, const std::string& text) {
  const auto [padding, bins] = detailed(text, "bins");
  r.padding = padding_named(padding);
  if (padding == "none" && !bins.empty())
    throw UsageError("--padding " + text + ": zeros need no number of bins; give --padding none");
  r.padding_bins = whole_in(bins);
}

void add_filter(CLI::App& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  const std::vector<std::string_view> windows = window_names();
  add_choice(c, "--fbp-filter", o.filter, {windows.begin(), windows.end()},
             "default ramp; sharp: the ramp with all the noise of its band; none: no filtering at all")
      ->option_text(of_volume);
  c.add_option("--fbp-cutoff", r.filter.cutoff,
               "fraction of the Nyquist frequency, 0..1 (default 1; butterworth 0.5)")
      ->check(within(1e-6, 1))
      ->option_text(of_volume);
  c.add_option_function<std::string>(
       "--padding", [&r](const std::string& text) { parse_padding(r, text); },
       "how the filter continues rows beyond their ends, where the sample may go on: with the end value, "
       "with the end value times a cosine (default), or with zeros. edge:bins=N and cosine:bins=N say over "
       "how many bins (default: half of the detector's; of a half acquisition, of the whole one's)")
      ->transform(with_detail(one_of({"edge", "cosine", "none"}), "bins", count()))
      ->type_name("edge|cosine|none")
      ->option_text(of_volume);
}

CLI::Validator positive_or_auto() {
  return {[number = positive(1e9)](std::string& text) {
            return in_lower_case(text) == "auto" ? (text = "auto", std::string()) : number(text);
          },
          "", ""};
}

void parse_tv_weight(Recipe& r, const std::string& text) {
  const auto [weight, huber] = detailed(text, "huber");
  const auto number = [](const std::string& some) {
    const std::optional<double> value = number_in(some);
    return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
  };
  r.tv_weight = number(weight), r.tv_huber = number(huber);
}

void add_start_and_weights(CLI::App& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  c.add_option("--initial", o.initial,
               "initial volume: zero, fbp, or a volume file (default " + words_of_initials() + ")")
      ->type_name("zero|fbp|FILE")
      ->option_text(of_volume);
  c.add_option("--iterations", r.iterations,
               "at most this many steps (default: " + words_of_iterations() + "; fewer: by stagnation)")
      ->check(count(0, 1'000'000))
      ->option_text(of_volume);
  c.add_option_function<std::string>(
       "--tv-weight", [&r](const std::string& text) { parse_tv_weight(r, text); },
       "weight of total variation, beside data of mean weight 1; the larger, the smoother (default auto: "
       "found by cross-validation). huber: differences of neighbours "
       "below this attenuation count by their squares, which keeps slopes smooth (default: none)")
      ->transform(with_detail(positive_or_auto(), "huber", positive(1e9)))
      ->type_name("X|auto[:huber=D]")
      ->option_text(of_volume);
  c.add_option("--tikhonov-weight", r.tikhonov_weight,
               "W in 1/2 |Ax - y|^2 + 1/2 W |x|^2, in mm^2 (bins squared without a pitch)")
      ->check(positive(1e30))
      ->option_text(of_volume);
}

void add_steps_and_stops(CLI::App& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  for (const SolverKind& kind : solver_kinds())
    for (const NumberOption& one : kind.brings) {
      const std::string usual = io::shortest(kind.numbers.at(one.name));
      std::string others;
      for (const SolverKind& other : solver_kinds())
        if (other.reads(one.name) && other.numbers.at(one.name) != kind.numbers.at(one.name))
          others += ", of " + std::string(other.name) + " " + io::shortest(other.numbers.at(one.name));
      c.add_option_function<float>(
           "--" + std::string(one.name),
           [&r, name = one.name](float number) { r.numbers.emplace_back(name, number); },
           std::string(one.help) + ", default " + usual + others)
          ->default_str(usual)
          ->check(within(one.lowest, one.highest))
          ->option_text(of_volume);
    }
  c.add_option("--subsets", r.subsets,
               "how many subsets the views are dealt out to (default: " + words_of_subsets() + ")")
      ->check(count())
      ->option_text(of_volume);
  CLI::Option* nonnegative =
      c.add_flag("--nonnegative", r.nonnegative, "no voxel below zero")->option_text(of_volume);
  c.add_option_function<std::string>(
       "--bounds",
       [&r](const std::string& text) { std::tie(r.lowest, r.highest) = parse_ends("--bounds", text, true); },
       "no voxel below and none above these attenuations; one may be left out")
      ->type_name("LOW:HIGH")
      ->excludes(nonnegative)
      ->option_text(of_volume);
  c.add_option("--stop", o.stop,
               "rule that may stop before --iterations; gain: counts per photon (default 1)")
      ->type_name("stagnation|discrepancy[:gain=G]|gcv|ncp|relative=EPS|gap=EPS|time=S")
      ->option_text(of_volume);
}

/// Names of the methods that read an option which not every method reads.
std::string readers_of(const std::string& option) {
  if (!option.starts_with("--")) return {};
  return joined(pipeline::methods(), ", ",
                [&](const Method& method) { return method.reads(option.substr(2)) ? method.name : ""; });
}

/// A condition under which some options have a meaning.
struct Condition {
  std::vector<std::string_view> options;
  std::function<bool(const ReconOptions& o, const Method& method)> holds;
  std::string otherwise;  ///< what an error says after the name of the option; {} is the name of the method
};

const std::vector<Condition>& conditions() {
  static const std::vector<Condition> all{
      {{"--iterations", "--stop", "--initial", "--checkpoint", "--resample-frames"},
       [](const ReconOptions&, const Method& method) { return method.iterates(); },
       " goes with an iterative algorithm, not with {}"},
      {{"--checkpoint"},
       [](const ReconOptions&, const Method& method) { return method.kind.tells.state; },
       ": the solver of {} cannot go on from a check-point; leave it out, or give another algorithm"},
      {{"--checkpoint"},
       [](const ReconOptions& o, const Method&) { return !o.device.allow_unmatched; },
       " does not go with --allow-unmatched: the best volume, which is kept there, is in no check-point"},
      {{"--fbp-filter", "--fbp-cutoff", "--padding"},
       [](const ReconOptions& o, const Method& method) {
         return method.filters ||
                (method.iterates() && o.recipe.initial.value_or(method.initial) == Initial::fbp);
       },
       " goes with fbp, or with --initial fbp"},
      {{"--padding"},
       [](const ReconOptions& o, const Method&) { return o.recipe.filter.window != Window::none; },
       " does not go with --fbp-filter none, which needs nothing beyond rows"},
      {{"--model"},
       [](const ReconOptions& o, const Method&) {
         const double accuracy = o.recipe.execution.accuracy;
         return detailed(o.model, "accuracy").detail.empty() ||
                (o.recipe.model == Model::fourier && accuracy < 2e-3) ||
                (o.recipe.model == Model::hierarchical && accuracy > 5e-4);
       },
       ": an accuracy goes with fourier (1e-3, 1e-4 or 1e-5) and hierarchical (1e-2, 3e-3 or 1e-3)"},
      {{"--variant"},
       [](const ReconOptions& o, const Method&) { return o.recipe.model != Model::fourier; },
       " does not go with --model fourier, which has kernels of its own"}};
  return all;
}

/// The conditions of an option. One that some methods read has a meaning with these alone.
std::vector<Condition> conditions_of(const std::string& option) {
  std::vector<Condition> some;
  for (const Condition& one : conditions())
    if (std::ranges::find(one.options, option) != one.options.end()) some.push_back(one);
  if (const std::string readers = readers_of(option); !readers.empty())
    some.push_back({.options = {},
                    .holds = [name = option.substr(2)](const ReconOptions&,
                                                       const Method& method) { return method.reads(name); },
                    .otherwise = " goes with " + readers + ", not with {}"});
  return some;
}

/// The method, or the methods that are compared.
std::vector<const Method*> methods_of(const ReconOptions& o) {
  std::vector<const Method*> all;
  for (const std::string& name : o.compared.empty() ? std::vector{o.recipe.method} : o.compared)
    all.push_back(&pipeline::method_named(name));
  return all;
}

}  // namespace

void check_conditions(const ReconOptions& o) {
  for (const CLI::Option* option : o.command->get_options()) {
    if (option->count() == 0) continue;
    for (const Condition& condition : conditions_of(option->get_name())) {
      if (std::ranges::any_of(methods_of(o), [&](const auto* method) { return condition.holds(o, *method); }))
        continue;
      std::string fault = option->get_name() + condition.otherwise;
      if (const auto at = fault.find("{}"); at != std::string::npos) fault.replace(at, 2, o.recipe.method);
      throw UsageError(fault);
    }
  }
}

bool applies(const ReconOptions& o, const std::string& option) {
  const std::vector<Condition> conditions = conditions_of(option);
  return std::ranges::any_of(methods_of(o), [&](const Method* method) {
    return std::ranges::all_of(conditions, [&](const Condition& one) { return one.holds(o, *method); });
  });
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const Method& method : pipeline::methods())
    for (const std::string_view name : {method.name, method.name_for_cones})
      if (!name.empty()) names.emplace_back(name);
  return names;
}

std::string words_of_methods() {
  std::string text = "Methods:";
  for (const Method& method : pipeline::methods())
    text += "\n  " + std::string(method.name) + ": " + with_spelled(method.help);
  return text;
}

void add_method(CLI::App& c, ReconOptions& o) {
  add_choice_of_method(c, o);
  add_filter(c, o);
  add_start_and_weights(c, o);
  add_steps_and_stops(c, o);
  for (CLI::Option* option : c.get_options())
    if (const std::string readers = readers_of(option->get_name()); !readers.empty())
      option->description(readers + ": " + option->get_description());
}

}  // namespace tandem::apps
