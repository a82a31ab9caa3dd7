#include "method_options.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../io/files/text.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../solvers/solver_kind.hpp"
#include "bounds_options.hpp"

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

/// The methods in a text A,B,C, in which each comes once.
std::vector<std::string> parse_compared(const std::string& text) {
  const std::vector<std::string> known = names_of_methods();
  std::vector<std::string> methods;
  for (const std::string& name : parts_of(in_lower_case(text), ',')) {
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("--compare: method '" + name + "' is not known" + did_you_mean(name, known) +
                       "; one of " + joined(known, ", "));
    if (std::ranges::find(methods, name) != methods.end())
      throw UsageError("--compare names " + name + " twice; each method once is needed");
    methods.push_back(name);
  }
  return methods;
}

void parse_model(ReconOptions& o, const std::string& text) {
  const auto [model, accuracy] = detailed(text, "accuracy");
  if (model != "automatic") o.recipe.model = model_named(model);
  if (!accuracy.empty()) o.recipe.execution.accuracy = number_in(accuracy).value();
  o.gives_accuracy = !accuracy.empty();
}

void add_choice_of_method(Table& c, ReconOptions& o) {
  c.heading("Method");
  add_choice(c, "--reconstruction-algorithm", On::result, o.recipe.method, names_of_methods(),
             "one of those below (default fbp, for a cone beam fdk)")
      .of_kind("NAME")
      .briefly("fbp, sirt, cgls, tv, ... (default fbp, for a cone beam fdk)")
      .default_text("");
  c.add_parsed(
       "--compare", On::run, [&o](const std::string& text) { o.compared = parse_compared(text); },
       "in the place of -o: make volumes by several methods, and of them one picture of the middle "
       "slices (--preview) and one table; an option holds for the methods that read it")
      .of_kind("A,B,C");
  const std::vector<std::string> models{"automatic", "pixel_driven",        "joseph",
                                        "fourier",   "separable_footprint", "hierarchical"};
  c.add_parsed(
       "--model", On::result, [&o](const std::string& text) { parse_model(o, text); },
       "how shadows are computed. Parallel beam: fourier goes through frequencies, in O(N^2 log N) "
       "operations a slice (default automatic: the faster one of pixel_driven and fourier). Cone and fan "
       "beam: hierarchical goes through groups of views, in O(N^3 log N) (default automatic: "
       "separable_footprint, or for fdk on a CPU the faster one of both). Behind it may stand the relative "
       "error of what is back-projected: fourier:accuracy=1e-3, 1e-4 or 1e-5 (default 1e-4); "
       "hierarchical:accuracy=1e-2, 3e-3 or 1e-3 (default 1e-2)")
      .check(with_detail(one_of(models), "accuracy", one_of({"1e-2", "3e-3", "1e-3", "1e-4", "1e-5"})))
      .of_kind(joined(models, "|"))
      .default_text(models.front());
}

void parse_initial(Recipe& r, const std::string& text) {
  const std::string word = in_lower_case(text);
  r.initial = word == "zero" ? Initial::zero : word == "fbp" ? Initial::fbp : Initial::file;
  if (r.initial == Initial::file) r.initial_file = text;
}

void add_initial(Table& c, Recipe& r) {
  c.add_parsed(
       "--initial", On::result, [&r](const std::string& text) { parse_initial(r, text); },
       "initial volume: zero, fbp, or a volume file (default " + words_of_initials() + ")")
      .of_kind("zero|fbp|FILE")
      .called("initial volume")
      .of_the_method();
}

void parse_padding(Recipe& r, const std::string& text) {
  const auto [rest, attenuation] = detailed(text, "attenuation");
  const auto [padding, bins] = detailed(rest, "bins");
  r.padding = padding_named(padding);
  if (padding == "none" && !bins.empty())
    throw UsageError("--padding " + text + ": zeros need no number of bins; give --padding none");
  if (padding == "circle" && !bins.empty())
    throw UsageError("--padding " + text +
                     ": a circle ends by itself, without a number of bins; give circle");
  if (padding != "circle" && !attenuation.empty())
    throw UsageError("--padding " + text + ": an attenuation goes with circle; give circle:attenuation=X");
  r.padding_bins = whole_in(bins);
  r.fbp_filter.attenuation = number_in(attenuation).value_or(0);
}

void add_filter(Table& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  const std::vector<std::string_view> windows = window_names();
  const std::vector<std::string> words(windows.begin(), windows.end());
  c.add_parsed(
       "--fbp-filter", On::result,
       [&r](const std::string& text) { r.fbp_filter.window = window_named(text); },
       "default ramp; sharp: the ramp with all the noise of its band; none: no filtering at all")
      .check(one_of(words))
      .of_kind(joined(words, "|"))
      .called("filter")
      .briefly("the window of the filter (default ramp)")
      .default_text("ramp");
  c.add("--fbp-cutoff", On::result, r.fbp_filter.cutoff,
        "fraction of the Nyquist frequency, 0..1 (default 1; butterworth 0.5)")
      .called("filter cutoff")
      .check(within(1e-6, 1));
  c.add_parsed(
       "--padding", On::result, [&r](const std::string& text) { parse_padding(r, text); },
       "how the filter continues rows beyond their ends, where the sample may go on: with the end value, "
       "with the end value times a cosine, or with zeros. edge:bins=N and cosine:bins=N say over how many "
       "bins (default: half of the detector's; of a half acquisition, of the whole one's). circle: where a "
       "row does not come down to air, as a round body would go on, else as cosine; circle:attenuation=X "
       "says "
       "of which body, 1/mm (default: found in the scan). Default: circle if rows do not come down to air, "
       "else cosine")
      .check(with_detail(with_detail(one_of({"edge", "cosine", "circle", "none"}), "bins", count()),
                         "attenuation", positive(1e9)))
      .of_kind("edge|cosine|circle|none");
}

/// Numbers beside which data and voxels still count as floats.
Check of_regularisers() { return within(1e-30, 1e9); }

/// A number that passes a check, or the word auto.
Check or_auto(Check check) {
  return [number = std::move(check)](std::string& text) {
    return in_lower_case(text) == "auto" ? (text = "auto", std::string()) : number(text);
  };
}

void parse_tv_direction(Recipe& r, const std::string& text) {
  const auto [direction, ratio] = detailed(text, "ratio");
  r.finds_tv_direction = direction == "auto";
  if (!r.finds_tv_direction) r.tv_direction = in_radians(number_in(direction).value());
  if (!ratio.empty()) r.tv_ratio = number_in(ratio).value();
}

void parse_tv_weight(Recipe& r, const std::string& text) {
  const auto [weight, huber] = detailed(text, "huber");
  const auto number = [](const std::string& some) {
    const std::optional<double> value = number_in(some);
    return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
  };
  r.tv_weight = number(weight), r.tv_huber = number(huber);
}

void add_start_and_weights(Table& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  c.add("--iterations", On::result, r.iterations,
        "at most this many steps (default: " + words_of_iterations() + "; fewer: by stagnation)")
      .check(count(0, 1'000'000))
      .of_the_method();
  c.add_parsed(
       "--tv-weight", On::result, [&r](const std::string& text) { parse_tv_weight(r, text); },
       "weight of total variation, beside data of mean weight 1, in mm (pixels without a pitch); the larger, "
       "the smoother (default auto: found by cross-validation). huber: differences of neighbours below D, an "
       "attenuation in 1/mm (1/pixel), count by their squares, which keeps slopes smooth (default: none)")
      .check(with_detail(or_auto(of_regularisers()), "huber", of_regularisers()))
      .of_kind("X|auto[:huber=D]")
      .called("weight of total variation")
      .of_the_method();
  c.add_parsed(
       "--tv-direction", On::result, [&r](const std::string& text) { parse_tv_direction(r, text); },
       "where views lack a part of the turn: differences across this direction in slices, degrees from x "
       "towards y, weigh D times as much (default 2) as those along it, whose edges no view sees; auto: the "
       "middle direction of the rays (default: all weigh the same)")
      .check(with_detail(or_auto(within(-360, 360, "degrees")), "ratio", within(1, 1000)))
      .of_kind("auto|DEG[:ratio=D]")
      .of_the_method();
  c.add("--tikhonov-weight", On::result, r.tikhonov_weight,
        "W in 1/2 |Ax - y|^2 + 1/2 W |x|^2, in mm^2 (bins squared without a pitch)")
      .check(within(1e-30, 1e30));
}

void add_photons(Table& c, ReconOptions& o) {
  c.add("--photons", On::result, o.recipe.photons,
        "of a detector cell in air, if the data are line integrals (--minus-log false): tells the weights of "
        "data for tv, and the noise for --stop discrepancy (default: all data weigh the same)")
      .check(within(1, 1e12, "photons"))
      .of_kind("N")
      .called("photons in air");
}

/// The number of a stopping rule. @throws UsageError
double number_of_rule(std::string text, const Check& check, const std::string& given) {
  if (const std::string fault = check(text); !fault.empty())
    throw UsageError("--stop " + given + ": " + fault);
  return *number_in(text);
}

void parse_stop(Recipe& recipe, const std::string& given) {
  const std::string text = in_lower_case(given);
  const std::size_t sign = text.find('=') + 1;  // 0: there is none
  const std::string name = text.substr(0, sign), number = text.substr(sign);
  const auto [rule, gain] = detailed(text, "gain");
  const auto share = [&] { return number_of_rule(number, within(1e-30, 0.999), given); };  // 1 stops at once
  if (text == "discrepancy")
    recipe.stop_by_discrepancy = true;
  else if (rule == "discrepancy" && !gain.empty())
    recipe.stop_by_discrepancy = true,
    recipe.gain = number_of_rule(gain, within(1e-9, 1e9, "counts per photon"), given);
  else if (text == "gcv")
    recipe.stop_by_gcv = true;
  else if (text == "ncp")
    recipe.stop_by_ncp = true;
  else if (text == "stagnation")
    recipe.stop_by_stagnation = true;
  else if (text == "settled")
    recipe.stop_settled = pipeline::usual_distance;
  else if (name == "relative=")
    recipe.stop_relative = share();
  else if (name == "gap=")
    recipe.stop_gap = share();
  else if (name == "settled=")
    recipe.stop_settled = share();
  else if (name == "time=")
    recipe.stop_seconds = number_of_rule(number, within(1e-9, 1e9, "seconds"), given);
  else
    throw UsageError("--stop '" + given +
                     "' is not known; give stagnation, discrepancy, discrepancy:gain=G, gcv, ncp, "
                     "settled, settled=EPS, relative=EPS, gap=EPS or time=S");
}

void add_steps_and_stops(Table& c, ReconOptions& o) {
  Recipe& r = o.recipe;
  for (const SolverKind& kind : solver_kinds())
    for (const NumberOption& one : kind.brings) {
      const std::string usual = io::shortest(kind.numbers.at(one.name));
      std::string others;
      for (const SolverKind& other : solver_kinds())
        if (other.reads(one.name) && other.numbers.at(one.name) != kind.numbers.at(one.name))
          others += ", of " + std::string(other.name) + " " + io::shortest(other.numbers.at(one.name));
      c.add_parsed(
           "--" + std::string(one.name), On::result,
           [&r, name = one.name](const std::string& text) {
             r.numbers.emplace_back(name, static_cast<float>(number_in(text).value()));
           },
           std::string(one.help) + ", default " + usual + others)
          .of_kind("X")
          .default_text(usual)
          .check(within(one.lowest, one.highest))
          .of_the_method();
    }
  c.add("--subsets", On::result, r.subsets,
        "how many subsets the views are dealt out to (default: " + words_of_subsets() + ")")
      .check(count())
      .of_the_method();
  add_bounds(c, r);
  c.add_parsed(
       "--stop", On::result, [&r](const std::string& text) { parse_stop(r, text); },
       "rule that may stop before --iterations; EPS: a share below 1; gain: counts per photon (default 1)")
      .of_kind("stagnation|discrepancy[:gain=G]|gcv|ncp|settled[=EPS]|relative=EPS|gap=EPS|time=S")
      .called("stopping rule")
      .of_the_method();
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
  static const std::vector<std::string_view> files_of_a_volume{
      "--output", "--part-of",     "--checkpoint", "--resume", "--follow",  "--save-config", "--save-format",
      "--dtype",  "--compression", "--range",      "--serve",  "--dry-run", "--ome-zarr",    "--hu"};
  static const std::vector<Condition> all{
      {{"--reconstruction-algorithm"},
       [](const ReconOptions& o, const Method&) { return o.compared.empty(); },
       " and --compare do not go together: volumes are compared, and not kept"},
      {files_of_a_volume, [](const ReconOptions& o, const Method&) { return o.compared.empty(); },
       " and --compare do not go together: volumes are compared, and not kept"},
      {files_of_a_volume, [](const ReconOptions& o, const Method&) { return o.sweep.empty(); },
       " and --sweep do not go together: slices are judged, and not kept"},
      {{"--compression"},
       [](const ReconOptions& o, const Method&) {
         const io::VolumeKind* kind = io::volume_kind(o.output);
         return !kind || kind->packs || o.compression == "none";
       },
       " goes with HDF5; give -o a name ending in .h5"},
      {{"--dtype"},
       [](const ReconOptions& o, const Method&) {
         const io::VolumeKind* kind = io::volume_kind(o.output);
         return !kind || kind->stores(voxel_type_of(o));
       },
       " does not go with the format of -o; give another type, or a name ending in .h5"},
      {{"--ome-zarr"},
       [](const ReconOptions& o, const Method&) {
         const io::VolumeKind* kind = io::volume_kind(o.output);
         return !kind || kind->name == "zarr";
       },
       " goes with OME-Zarr; give -o a name ending in .zarr"},
      {{"--hu"},
       [](const ReconOptions& o, const Method&) {
         const io::VolumeKind* kind = io::volume_kind(o.output);
         return kind ? kind->in_hounsfield : o.dry_run;
       },
       " goes with DICOM, other formats hold attenuations; give -o a name ending in .dcm"},
      {{"--save-format"},
       [](const ReconOptions& o, const Method&) {
         const io::VolumeKind* kind = io::volume_kind(o.output);
         return !kind || kind == io::volume_kind_named(o.save_format);
       },
       " does not go with the name of -o"},
      {{"--range"},
       [](const ReconOptions& o, const Method&) { return !o.dtype.starts_with("float"); },
       " goes with --dtype uint16 or uint8"},
      {{"--region"},
       [](const ReconOptions& o, const Method&) { return !o.slices_are_range(); },
       " and --slices A:B do not go together"},
      {{"--score"},
       [](const ReconOptions& o, const Method&) { return !o.sweep.empty(); },
       " goes with --sweep NAME=A:B:STEP"},
      {{"--iterations", "--stop", "--initial", "--checkpoint", "--resample-frames"},
       [](const ReconOptions&, const Method& method) { return method.iterates(); },
       " goes with an iterative algorithm, such as --reconstruction-algorithm sirt, not with {}"},
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
      {{"--limited-angle"},
       [](const ReconOptions& o, const Method& method) {
         return method.reads("support") || !o.given("--reconstruction-algorithm");
       },
       " auto goes with tv, and with others that take --support, not with {}"},
      {{"--shell"},
       [](const ReconOptions& o, const Method&) { return o.recipe.support.any() || o.limited_angle_follows; },
       " is measured from the edge of a support; give --support disc or FILE"},
      {{"--shell"},
       [](const ReconOptions& o, const Method&) {
         return o.recipe.highest || o.recipe.levels || !o.recipe.highest_file.empty() ||
                o.limited_angle_follows;
       },
       " has the highest value of voxels; give --bounds LOW:HIGH, or --levels LOW:HIGH, without "
       "--nonnegative"},
      {{"--limited-angle"},
       [](const ReconOptions& o, const Method&) { return o.sweep.empty(); },
       " and --sweep do not go together: slices are judged by fbp"},
      {{"--metal"},
       [](const ReconOptions&, const Method& method) { return method.filters; },
       " goes with fbp and fdk; {} would trust line integrals that are made up"},
      {{"--photons"},
       [](const ReconOptions& o, const Method& method) {
         return method.weighs_data || o.recipe.stop_by_discrepancy;
       },
       " goes with tv, or with --stop discrepancy, not with {}"},
      {{"--photons"},
       [](const ReconOptions& o, const Method&) { return o.recipe.gain == 1; },
       " says how many photons line integrals have; give --stop discrepancy without a gain"},
      {{"--metal"},
       [](const ReconOptions& o, const Method&) { return o.sweep.empty(); },
       " and --sweep do not go together: slices are judged before metal is mended"},
      {{"--padding"},
       [](const ReconOptions& o, const Method&) { return o.recipe.fbp_filter.window != Window::none; },
       " does not go with --fbp-filter none, which needs nothing beyond rows"},
      {{"--model"},
       [](const ReconOptions& o, const Method&) {
         const double accuracy = o.recipe.execution.accuracy;
         return !o.gives_accuracy || (o.recipe.model == Model::fourier && accuracy < 2e-3) ||
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
  for (const Option& row : o.command->rows()) {
    if (!row.is_given()) continue;
    for (const Condition& condition : conditions_of(row.spelled())) {
      if (std::ranges::any_of(methods_of(o), [&](const auto* method) { return condition.holds(o, *method); }))
        continue;
      std::string fault = row.spelled() + condition.otherwise;
      if (const auto at = fault.find("{}"); at != std::string::npos) fault.replace(at, 2, o.recipe.method);
      throw UsageError(fault);
    }
  }
}

void take_if_open(Table& c, const ReconOptions& o, const char* name, const char* value) {
  Option& row = c.at(name);
  if (!c.settled_by(row) && applies(o, row.spelled())) c.take(row, {value});
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

void add_method(Table& c, ReconOptions& o) {
  add_choice_of_method(c, o);
  add_limited_angle(c, o);
  add_initial(c, o.recipe);
  add_filter(c, o);
  add_start_and_weights(c, o);
  add_steps_and_stops(c, o);
  add_photons(c, o);
  for (Option& row : c.rows())
    if (const std::string readers = readers_of(row.spelled()); !readers.empty())
      row.help = readers + ": " + row.help;
}

}  // namespace tandem::apps
