#include "look_options.hpp"

#include <algorithm>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../counts/steps/step.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../options/command_line.hpp"
#include "../options/recipe_text.hpp"
#include "../options/step_options.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// Options beside those that decide a voxel that a look takes over.
constexpr std::array taken_over{"threads", "memory", "device", "allow-external-files", "device-memory"};

/// The values of an option: none of a flag that is not set.
std::vector<std::string> values_of(const std::string& name, const json& value) {
  const auto refuse = [&name] {
    throw UsageError("option " + name + ": a text, a number, true or a list of these is needed");
  };
  const auto text = [&](const json& one) {
    if (one.is_string()) return one.get<std::string>();
    if (!one.is_number() && !one.is_boolean()) refuse();
    return one.dump();
  };
  std::vector<std::string> values;
  if (!value.is_array()) return {text(value)};
  for (const json& one : value) values.push_back(text(one));
  return values;
}

/// As a shell takes it.
std::string quoted_word(const std::string& word) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/=+-@%{}[]";
  if (!word.empty() && word.find_first_not_of(plain.substr(0, plain.size() - 4)) == std::string::npos)
    return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// Words of options behind a command.
std::string typed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    text += ' ' + word.substr(0, equals);
    if (equals != std::string::npos) text += ' ' + quoted_word(word.substr(equals + 1));
  }
  return text;
}

/// The step that brings an option; empty if none does.
std::string step_of(const std::string& name) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const pipeline::StepOption& one : step.options)
      if (one.name == name) return std::string(step.name);
  return "";
}

/// The options behind the value of an option, as the command line has them: ":size=21,snr=3".
std::string words_behind(const std::string& name, const json& asked) {
  std::string text;
  for (const auto& [other, value] : asked.items()) {
    const pipeline::StepOption* before = option_before(other);
    if (!before || before->bare_name() != name || value.is_null() || value == "") continue;
    text +=
        (text.empty() ? ":" : ",") + other.substr(other.find(':') + 1) + '=' + values_of(other, value).back();
  }
  return text;
}

/// Choices of an option: those of a step from its table, others between bars in its type.
json choices_of(const std::string& type, const pipeline::StepOption* of_step) {
  if (const auto* choice = of_step ? std::get_if<pipeline::OneOf>(&of_step->takes) : nullptr)
    return choice->words;
  if (type.find('|') != std::string::npos && in_lower_case(type) == type) return parts_of(type, '|');
  return nullptr;
}

/// The row of an option that stands behind the value of another. Ways to remove stripes show their own alone.
json row_behind(const pipeline::StepOption& before, const pipeline::StepOption& one,
                const CLI::Option& option) {
  const bool of_any = one.goes_with() == before.bare_name();
  return {{"name", one.name},
          {"group", option.get_group()},
          {"step", step_of(std::string(before.bare_name()))},
          {"stripes", of_any ? "" : one.goes_with()},
          {"help", with_spelled(one.help)},
          {"type", type_name_of(one)},
          {"choices", choices_of(type_name_of(one), &one)},
          {"default", ""}};
}

/// What a page knows of an option.
json row_of_option(const CLI::Option& option) {
  const std::string& name = option.get_lnames().front();
  return {{"name", name},
          {"group", option.get_group()},
          {"step", step_of(name)},
          {"stripes", ""},
          {"help", option.get_description()},
          {"type", is_flag(option) ? "flag" : option.get_type_name()},
          {"choices", choices_of(option.get_type_name(), step_option(name))},
          {"default", option.get_default_str()}};
}

}  // namespace

bool look_takes(const CLI::Option& option) {
  const std::string& name = option.get_lnames().front();
  for (const char* one : {"config", "help", "like", "quiet", "follow", "port"})
    if (name == one) return true;
  return decides_the_volume(option) || std::ranges::find(taken_over, name) != taken_over.end();
}

LookOptions::LookOptions(const ReconOptions& o)
    : quiet_(o.common.quiet), scan_(o.scan.path.empty() ? o.scans.front() : o.scan.path), scans_(o.scans) {
  if (scans_.empty()) scans_.push_back(scan_);
  for (const CLI::Option* option : o.command->get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (option->get_group() == "Scan" || name == "views") opening_.push_back(name);
    if (decides_the_volume(*option)) known_[name] = option->get_type_name();
    const pipeline::StepOption* of_step = step_option(name);
    if (of_step)
      for (const pipeline::StepOption& one : of_step->behind) known_.emplace(one.name, "");
    if (option->count() == 0) continue;
    const std::vector<std::string> values = option->reduced_results();
    if (std::ranges::find(taken_over, name) != taken_over.end()) {
      rest_.push_back("--" + name + (is_flag(*option) ? "" : "=" + values.back()));
    } else if (of_step && !of_step->behind.empty()) {
      for (const auto& [one, text] : taken_apart(*of_step, values.back())) start_[one] = text;
    } else if (known_.contains(name) && !(name == "rotation-axis" && o.axis_auto)) {
      start_[name] = is_flag(*option) ? json(true) : values.size() == 1 ? json(values[0]) : json(values);
    }
  }
  if (o.recipe.follow) following_ = {o.planned_views, o.patience};
  if (o.scan.how.time) start_["time"] = std::to_string(*o.scan.how.time);
}

/// Whether a page may give it: it names no file but one that the start names as well.
bool LookOptions::may_give(const std::string& name, const std::vector<std::string>& values) const {
  const auto known = known_.find(name);
  if (known == known_.end() ||
      (name == "rotation-axis" && values.size() == 1 && in_lower_case(values[0]) == "auto"))
    return false;
  return !names_a_file(name, known->second, values) ||
         (start_.contains(name) && values_of(name, start_[name]) == values);
}

std::vector<std::string> LookOptions::words_of(const json& asked) const {
  if (!asked.is_object()) throw UsageError("options: an object {NAME: VALUE} is needed");
  std::vector<std::string> words;
  for (const auto& [name, value] : asked.items()) {
    if (value.is_null() || value == false || value == "") continue;
    const std::vector<std::string> values = values_of(name, value);
    if (!may_give(name, values))
      throw UsageError("option " + name + " is not taken from a page; give it to tandem look, or to recon");
    if (const pipeline::StepOption* before = option_before(name)) {  // that option's word has it
      if (asked.value(before->bare_name(), json("")) == "")
        throw UsageError("option " + name + " goes with " + std::string(before->bare_name()));
    } else if (value == true) {
      words.push_back("--" + name);
    } else {
      for (const std::string& one : values)
        words.push_back("--" + name + "=" + one + words_behind(name, asked));
    }
  }
  return words;
}

std::vector<std::string> LookOptions::words(const json& asked, const std::vector<std::string>& more,
                                            const std::string& scan) const {
  std::vector<std::string> words{"tandem", "recon", scan.empty() ? scan_ : scan};
  for (const auto& some : {words_of(asked), rest_, more}) words.insert(words.end(), some.begin(), some.end());
  return words;
}

std::unique_ptr<ParsedRecon> LookOptions::parsed(const json& asked,
                                                 const std::vector<std::string>& more) const {
  auto made = std::make_unique<ParsedRecon>();
  made->program.require_subcommand(1);
  prepare(made->program);
  std::vector<std::string> all = words(asked, more);
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  if (!parse(made->program, static_cast<int>(arguments.size()), arguments.data()))
    throw UsageError("options: help is on the command line");
  ReconOptions& o = made->options;
  o.scan.path = scan_;
  o.common.quiet = quiet_;
  if (following_) o.planned_views = following_->planned_views, o.patience = following_->patience;
  finish_recipe(o);
  check_together(o);
  choose_devices(o);
  return made;
}

std::string LookOptions::command_line(const json& asked, const std::string& output) const {
  return "tandem recon " + quoted_word(scan_) + " -o " + quoted_word(output) + typed(words_of(asked)) +
         typed(rest_);
}

json LookOptions::of_frames(const json& asked) const {
  CLI::App command;
  ScanOptions unused;
  add_scan_options(command, unused);
  add_selection(command, unused);
  words_of(asked);  // refuses what no page may give
  json some = json::object();
  for (const auto& [name, value] : asked.items()) {
    const pipeline::StepOption* before = option_before(name);
    const std::string own(before ? before->bare_name() : std::string_view(name));
    if (command.get_option_no_throw("--" + own)) some[name] = value;
  }
  return some;
}

json LookOptions::calibration_commands(const json& frames, bool each_view, const json& asked) const {
  json rest = asked;
  for (const char* told : {"geometry", "angles", "arc", "sod", "sdd", "midplane-row", "curved-detector",
                           "rotation-direction", "rotation-axis", "row-axes", "detector-roll", "axis-tilt"})
    rest.erase(told);
  const std::string scan = quoted_word(scan_);
  return {"tandem calibrate " + scan + typed(words_of(frames)) + (each_view ? " --each-view" : "") +
              " -o views.npy",
          "tandem look " + scan + " --geometry views.npy" + typed(words_of(rest))};
}

std::string LookOptions::opening(const json& asked) const {
  json some = json::object();
  for (const std::string& name : opening_)
    if (asked.contains(name)) some[name] = asked[name];
  return text_of(some);
}

json LookOptions::by_solver(const json& options, const json& solver) const {
  if (solver.is_null()) return options;
  json all = solver;
  const auto its_own = parsed(solver);
  if (!options.is_object()) throw UsageError("options: an object {NAME: VALUE} is needed");
  for (const auto& [name, value] : options.items())
    if (!all.contains(name) && applies(its_own->options, "--" + name)) all[name] = value;
  return all;
}

json LookOptions::solvers() const {
  const ParsedRecon recon;
  json methods = json::array(), rows = json::array();
  std::vector<std::string> named{"iterations", "initial", "stop"};
  const std::vector<std::string> of_all = named;
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) {
      methods.push_back({{"name", method.name},
                         {"help", with_spelled(method.help) + "; all slices, of wider voxels"},
                         {"options", json::array()}});
      continue;
    }
    json names = of_all;
    for (const std::string_view option : method.kind.options) {
      const std::string name(option);
      names.push_back(name);
      if (std::ranges::find(named, name) == named.end()) named.push_back(name);
    }
    methods.push_back({{"name", method.name},
                       {"help", with_spelled(method.help)},
                       {"options", names},
                       {"iterations", method.kind.iterations},
                       {"initial", method.initial == pipeline::Initial::fbp ? "fbp" : "zero"}});
  }
  for (const std::string& name : named) {
    rows.push_back(row_of_option(*recon.command.get_option("--" + name)));
    if (name == "initial") rows.back()["choices"] = {"zero", "fbp"};
  }
  return {{"methods", methods}, {"options", rows}};
}

json LookOptions::schema() const {
  const ParsedRecon recon;
  json all = json::array();
  for (const CLI::Option* option : recon.command.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    const bool useless = name == "reconstruction-algorithm" || !applies(recon.options, "--" + name);
    if (!start_.contains(name) && (useless || !may_give(name, {}))) continue;
    all.push_back(row_of_option(*option));
    if (const pipeline::StepOption* of_step = step_option(name))
      for (const pipeline::StepOption& one : of_step->behind)
        all.push_back(row_behind(*of_step, one, *option));
  }
  return all;
}

}  // namespace tandem::apps
